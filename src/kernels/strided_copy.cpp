// The axes are put in the order of the output, joined where both sides allow it, and the innermost
// one or two become a tight loop: a run of bytes, a repeated item, a transposed tile, or single
// items. The remaining axes are counted off like an odometer, in pieces for several threads.
#include "kernels/strided_copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/ranges.h"

namespace gradus::kernels {
namespace {

struct alignas(16) Item16 {
  std::uint64_t low, high;
};

template <class F>
void with_item(std::size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(Item16{});
  }
}

template <class T>
T read(const char* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <class T>
void write(char* p, T x) {
  std::memcpy(p, &x, sizeof x);
}

// The first and the last bytes of a run as two items that may overlap.
template <class T>
void copy_ends(const char* in, char* out, std::int64_t bytes) {
  const std::int64_t last = bytes - static_cast<std::int64_t>(sizeof(T));
  const T a = read<T>(in), b = read<T>(in + last);
  write(out, a);
  write(out + last, b);
}

// memcpy without the call, for the runs of a few items that make up most slices of small rows.
inline void copy_run(const char* in, char* out, std::int64_t bytes) {
  if (bytes > 32) {
    std::memcpy(out, in, static_cast<std::size_t>(bytes));
  } else if (bytes >= 16) {
    copy_ends<Item16>(in, out, bytes);
  } else if (bytes >= 8) {
    copy_ends<std::uint64_t>(in, out, bytes);
  } else if (bytes >= 4) {
    copy_ends<std::uint32_t>(in, out, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; ++i) out[i] = in[i];
  }
}

// Outputs above this do not fit the caches: writing around them saves the read of every line.
constexpr std::int64_t kStreamBytes = std::int64_t{32} << 20;

void stream_run(const char* in, char* out, std::int64_t bytes) {
  const std::int64_t head =
      std::min<std::int64_t>(bytes, -reinterpret_cast<std::uintptr_t>(out) & 15);
  std::memcpy(out, in, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    const auto* from = reinterpret_cast<const __m128i*>(in + i);
    auto* to = reinterpret_cast<__m128i*>(out + i);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1),
                  c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  std::memcpy(out + i, in + i, static_cast<std::size_t>(bytes - i));
}

// The pattern repeats every 16 bytes.
void stream_fill(__m128i pattern, char* out, std::int64_t bytes) {
  char twice[32];
  std::memcpy(twice, &pattern, 16);
  std::memcpy(twice + 16, &pattern, 16);
  const std::int64_t head =
      std::min<std::int64_t>(bytes, -reinterpret_cast<std::uintptr_t>(out) & 15);
  std::memcpy(out, twice, static_cast<std::size_t>(head));
  pattern = _mm_loadu_si128(reinterpret_cast<const __m128i*>(twice + head));
  std::int64_t i = head;
  for (; i + 16 <= bytes; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), pattern);
  std::memcpy(out + i, &pattern, static_cast<std::size_t>(bytes - i));
}

template <class T>
void fill_run(const char* item, char* out, std::int64_t n, bool stream) {
  const T x = read<T>(item);
  if (stream) {
    T four[16 / sizeof(T)];
    std::fill(std::begin(four), std::end(four), x);
    return stream_fill(read<__m128i>(reinterpret_cast<const char*>(four)), out,
                       n * static_cast<std::int64_t>(sizeof(T)));
  }
  for (std::int64_t i = 0; i < n; ++i) write(out + i * static_cast<std::int64_t>(sizeof(T)), x);
}

// Eight vectors of eight items, transposed by three perfect shuffles.
template <class T>
void transpose_small_items(const char* in, std::int64_t in_step, char* out, std::int64_t out_step) {
  typedef T V __attribute__((vector_size(8 * sizeof(T))));
  V a[8], b[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) a[i] = read<V>(in + i * in_step);
#pragma GCC unroll 3
  for (int round = 0; round < 3; ++round) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) a[i] = b[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) write(out + i * out_step, a[i]);
}

// 4 x 4 words.
void transpose_words(const char* in, std::int64_t in_step, char* out, std::int64_t out_step) {
  typedef std::uint32_t V __attribute__((vector_size(16)));
  const V r0 = read<V>(in), r1 = read<V>(in + in_step), r2 = read<V>(in + 2 * in_step),
          r3 = read<V>(in + 3 * in_step);
  const V a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5),
          b = __builtin_shufflevector(r2, r3, 0, 4, 1, 5),
          c = __builtin_shufflevector(r0, r1, 2, 6, 3, 7),
          d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  write(out, __builtin_shufflevector(a, b, 0, 1, 4, 5));
  write(out + out_step, __builtin_shufflevector(a, b, 2, 3, 6, 7));
  write(out + 2 * out_step, __builtin_shufflevector(c, d, 0, 1, 4, 5));
  write(out + 3 * out_step, __builtin_shufflevector(c, d, 2, 3, 6, 7));
}

// 2 x 2 double words.
void transpose_pairs(const char* in, std::int64_t in_step, char* out, std::int64_t out_step) {
  typedef std::uint64_t V __attribute__((vector_size(16)));
  const V r0 = read<V>(in), r1 = read<V>(in + in_step);
  write(out, __builtin_shufflevector(r0, r1, 0, 2));
  write(out + out_step, __builtin_shufflevector(r0, r1, 1, 3));
}

// 8 x 8 items: rows of the input become columns of the output.
template <class T>
void transpose_8x8(const char* in, std::int64_t in_step, char* out, std::int64_t out_step) {
  if constexpr (sizeof(T) < 4) {
    transpose_small_items<T>(in, in_step, out, out_step);
  } else if constexpr (sizeof(T) == 4) {
#pragma GCC unroll 2
    for (int b = 0; b < 8; b += 4)
#pragma GCC unroll 2
      for (int a = 0; a < 8; a += 4)
        transpose_words(in + a * in_step + 4 * b, in_step, out + b * out_step + 4 * a, out_step);
  } else if constexpr (sizeof(T) == 8) {
#pragma GCC unroll 4
    for (int b = 0; b < 8; b += 2)
#pragma GCC unroll 4
      for (int a = 0; a < 8; a += 2)
        transpose_pairs(in + a * in_step + 8 * b, in_step, out + b * out_step + 8 * a, out_step);
  } else {
    for (int b = 0; b < 8; ++b)
      for (int a = 0; a < 8; ++a)
        write(out + b * out_step + 16 * a, read<T>(in + a * in_step + 16 * b));
  }
}

// out[b][a] = in[a][b] for a < rows, b < columns; rows of `in` and of `out` are contiguous.
template <class T>
void transpose_block(const char* in, std::int64_t in_step, std::int64_t rows, std::int64_t columns,
                     char* out, std::int64_t out_step) {
  constexpr std::int64_t kSize = sizeof(T);
  std::int64_t a = 0;
  for (; a + 8 <= rows; a += 8) {
    std::int64_t b = 0;
    for (; b + 8 <= columns; b += 8)
      transpose_8x8<T>(in + a * in_step + b * kSize, in_step, out + b * out_step + a * kSize,
                       out_step);
    for (; b < columns; ++b)
      for (std::int64_t i = a; i < a + 8; ++i)
        write(out + b * out_step + i * kSize, read<T>(in + i * in_step + b * kSize));
  }
  for (; a < rows; ++a)
    for (std::int64_t b = 0; b < columns; ++b)
      write(out + b * out_step + a * kSize, read<T>(in + a * in_step + b * kSize));
}

// The same block by block; where the rows of the output would all fall into the same few cache
// sets, through a tile that stays in the L1 cache.
template <class T>
void transpose(const char* in, std::int64_t in_step, std::int64_t rows, std::int64_t columns,
               char* out, std::int64_t out_step, bool stream) {
  constexpr std::int64_t kSize = sizeof(T), kColumns = 64, kPitch = 256 + 16;
  const bool through_tile = out_step % 2048 == 0 && columns >= 16;
  const std::int64_t height = (through_tile ? 256 : 128) / kSize;
  // A line that is written around the caches only in part costs more than it saves.
  stream = stream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  alignas(64) char tile[kColumns * kPitch];
  for (std::int64_t a = 0; a < rows; a += height) {
    const std::int64_t h = std::min(height, rows - a);
    for (std::int64_t b = 0; b < columns; b += kColumns) {
      const std::int64_t w = std::min(kColumns, columns - b);
      const char* from = in + a * in_step + b * kSize;
      char* to = out + b * out_step + a * kSize;
      if (!through_tile) {
        transpose_block<T>(from, in_step, h, w, to, out_step);
        continue;
      }
      transpose_block<T>(from, in_step, h, w, tile, kPitch);
      for (std::int64_t i = 0; i < w; ++i) {
        if (stream)
          stream_run(tile + i * kPitch, to + i * out_step, h * kSize);
        else
          std::memcpy(to + i * out_step, tile + i * kPitch, static_cast<std::size_t>(h * kSize));
      }
    }
  }
}

enum class Inner { run, repeat, transpose, items };

struct Plan {
  std::int64_t item;
  CopyAxis axes[kMaxAxes];  // outermost first
  int rank = 0;
  Inner inner = Inner::items;
  bool stream = false;
};

// Drops, orders and joins axes.
Plan simplify(std::size_t item_size, const CopyAxis* axes, int rank) {
  Plan plan;
  plan.item = static_cast<std::int64_t>(item_size);
  CopyAxis kept[kMaxAxes];
  int n = 0;
  for (int i = 0; i < rank; ++i)
    if (axes[i].extent != 1) kept[n++] = axes[i];
  std::stable_sort(kept, kept + n, [](const CopyAxis& a, const CopyAxis& b) {
    return std::abs(a.out_step) > std::abs(b.out_step);
  });
  for (int i = 0; i < n; ++i) {
    CopyAxis* last = plan.rank ? &plan.axes[plan.rank - 1] : nullptr;
    if (last && last->in_step == kept[i].in_step * kept[i].extent &&
        last->out_step == kept[i].out_step * kept[i].extent)
      *last = {last->extent * kept[i].extent, kept[i].in_step, kept[i].out_step};
    else
      plan.axes[plan.rank++] = kept[i];
  }
  // A short contiguous run of 2, 4, 8 or 16 bytes is an item of its own.
  if (plan.rank > 1) {
    const CopyAxis& last = plan.axes[plan.rank - 1];
    const std::int64_t bytes = last.extent * plan.item;
    if (last.in_step == plan.item && last.out_step == plan.item && bytes <= 16 &&
        (bytes & (bytes - 1)) == 0) {
      plan.item = bytes;
      --plan.rank;
    }
  }
  return plan;
}

// Brings the axes of the tight loop to the end and says which loop it is.
void choose_inner(Plan& plan) {
  const std::int64_t item = plan.item;
  if (plan.rank == 0) plan.axes[plan.rank++] = {1, item, item};
  const CopyAxis last = plan.axes[plan.rank - 1];
  if (last.out_step != item) return;
  if (last.in_step == item) {
    plan.inner = Inner::run;
  } else if (last.in_step == 0) {
    plan.inner = Inner::repeat;
  } else {
    for (int i = plan.rank - 2; i >= 0; --i) {
      if (plan.axes[i].in_step != item || plan.axes[i].extent < 4 || last.extent < 4) continue;
      std::rotate(plan.axes + i, plan.axes + i + 1, plan.axes + plan.rank - 1);
      plan.inner = Inner::transpose;
      return;
    }
  }
}

// One run of the tight loop, over two axes.
void copy_inner(const Plan& plan, const CopyAxis& second, const CopyAxis& first, const char* in,
                char* out) {
  if (plan.inner == Inner::run) {
    const std::int64_t bytes = first.extent * plan.item;
    for (std::int64_t i = 0; i < second.extent; ++i) {
      const char* from = in + i * second.in_step;
      char* to = out + i * second.out_step;
      if (plan.stream && bytes >= 1024)
        stream_run(from, to, bytes);
      else
        copy_run(from, to, bytes);
    }
    return;
  }
  with_item(static_cast<std::size_t>(plan.item), [&]<class T>(T) {
    if (plan.inner == Inner::repeat) {
      const bool stream = plan.stream && first.extent * plan.item >= 1024;
      for (std::int64_t i = 0; i < second.extent; ++i)
        fill_run<T>(in + i * second.in_step, out + i * second.out_step, first.extent, stream);
    } else if (plan.inner == Inner::transpose) {
      transpose<T>(in, first.in_step, first.extent, second.extent, out, second.out_step,
                   plan.stream);
    } else {
      for (std::int64_t i = 0; i < second.extent; ++i) {
        const char* from = in + i * second.in_step;
        char* to = out + i * second.out_step;
        for (std::int64_t j = 0; j < first.extent; ++j)
          write(to + j * first.out_step, read<T>(from + j * first.in_step));
      }
    }
  });
}

}  // namespace

void strided_copy(std::size_t item_size, const void* in, void* out, const CopyAxis* axes,
                  int rank) {
  std::int64_t total = static_cast<std::int64_t>(item_size);
  for (int i = 0; i < rank; ++i) total *= axes[i].extent;
  if (total == 0) return;
  Plan plan = simplify(item_size, axes, rank);
  choose_inner(plan);
  plan.stream = total >= kStreamBytes;
  if (plan.rank == 1) {  // the tight loop always has two axes
    plan.axes[1] = plan.axes[0];
    plan.axes[0] = {1, 0, 0};
    plan.rank = 2;
  }

  // Pieces: every combination of the outer axes, times blocks of the second axis, or of the first
  // if a single run is long.
  const CopyAxis second = plan.axes[plan.rank - 2], first = plan.axes[plan.rank - 1];
  const bool tiled = plan.inner == Inner::transpose;
  const std::int64_t first_block =
      std::min(first.extent, tiled ? std::int64_t{256} : grain_of(plan.item));
  const std::int64_t second_block =
      std::min(second.extent, round_up(grain_of(plan.item * first_block), 64));
  const std::int64_t first_blocks = (first.extent + first_block - 1) / first_block;
  const std::int64_t second_blocks = (second.extent + second_block - 1) / second_block;
  std::int64_t outer = 1;
  for (int i = 0; i < plan.rank - 2; ++i) outer *= plan.axes[i].extent;
  const std::int64_t piece_bytes = plan.item * first_block * second_block;

  parallel_ranges(
      outer * second_blocks * first_blocks, grain_of(piece_bytes),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
          const std::int64_t i = piece % first_blocks * first_block;
          const std::int64_t j = piece / first_blocks % second_blocks * second_block;
          std::int64_t rest = piece / first_blocks / second_blocks;
          const char* from = static_cast<const char*>(in) + i * first.in_step + j * second.in_step;
          char* to = static_cast<char*>(out) + i * first.out_step + j * second.out_step;
          for (int axis = plan.rank - 3; axis >= 0; --axis) {
            const std::int64_t at = rest % plan.axes[axis].extent;
            rest /= plan.axes[axis].extent;
            from += at * plan.axes[axis].in_step;
            to += at * plan.axes[axis].out_step;
          }
          copy_inner(
              plan, {std::min(second_block, second.extent - j), second.in_step, second.out_step},
              {std::min(first_block, first.extent - i), first.in_step, first.out_step}, from, to);
        }
      });
}

void fill(std::size_t item_size, const void* item, std::int64_t count, void* out) {
  const CopyAxis axis = {count, 0, static_cast<std::int64_t>(item_size)};
  strided_copy(item_size, item, out, &axis, 1);
}

}  // namespace gradus::kernels
