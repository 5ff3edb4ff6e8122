#include "kernels/movement.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "kernels/ranges.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

std::int64_t count_of(Extents shape, int rank) {
  std::int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= shape[i];
  return n;
}

// Bytes from one index of each axis to the next.
struct Steps {
  std::int64_t of[kMaxAxes];
  Steps(std::size_t item_size, Extents shape, int rank) {
    std::int64_t step = signed_size(item_size);
    for (int i = rank - 1; i >= 0; --i) {
      of[i] = step;
      step *= shape[i];
    }
  }
};

void fill_zero(std::size_t item_size, std::int64_t count, void* out) {
  constexpr char kZero[16] = {};
  fill(item_size, kZero, count, out);
}

// A walk over the elements of a slice: steps and start, in bytes, inside the sliced array.
struct SliceWalk {
  std::int64_t start = 0;
  std::int64_t step[kMaxAxes];
  SliceWalk(std::size_t item_size, Extents shape, int rank, const Slice& slice) {
    const Steps steps(item_size, shape, rank);
    for (int i = 0; i < rank; ++i) {
      start += slice.begin[i] * steps.of[i];
      step[i] = slice.step[i] * steps.of[i];
    }
  }
};

struct PaddedShape {
  std::int64_t extent[kMaxAxes] = {}, ones[kMaxAxes] = {};
  PaddedShape(Extents shape, int rank, Extents before, Extents after) {
    for (int i = 0; i < rank; ++i) {
      extent[i] = before[i] + shape[i] + after[i];
      ones[i] = 1;
    }
  }
};

// Where the border of one axis of a padded array gets its elements from.
struct MirroredAxis {
  std::int64_t before, extent, edge;  // edge: 1 skips the element at the edge

  // The element mirrored by place p of the border in front, and of the border behind.
  std::int64_t front(std::int64_t p) const { return 2 * before - 1 + edge - p; }
  std::int64_t back(std::int64_t p) const { return before + extent - 1 - edge - p; }
};

}  // namespace

void transpose(std::size_t item_size, const void* in, Extents shape, int rank,
               const int* permutation, void* out) {
  const Steps from(item_size, shape, rank);
  CopyAxis axes[kMaxAxes];
  std::int64_t step = signed_size(item_size);
  for (int i = rank - 1; i >= 0; --i) {
    const int axis = permutation[i];
    axes[i] = {shape[axis], from.of[axis], step};
    step *= shape[axis];
  }
  strided_copy(item_size, in, out, axes, rank);
}

void broadcast_to(std::size_t item_size, const void* in, Extents in_shape, int in_rank, void* out,
                  Extents out_shape, int out_rank) {
  const Steps from(item_size, in_shape, in_rank), to(item_size, out_shape, out_rank);
  CopyAxis axes[kMaxAxes];
  for (int i = 0; i < out_rank; ++i) {
    const int axis = i - (out_rank - in_rank);
    const bool repeated = axis < 0 || in_shape[axis] == 1;
    axes[i] = {out_shape[i], repeated ? 0 : from.of[axis], to.of[i]};
  }
  strided_copy(item_size, in, out, axes, out_rank);
}

void concat(std::size_t item_size, const void* const* ins, Extents extents, int count,
            std::int64_t outer, std::int64_t inner, void* out) {
  std::int64_t total = 0, done = 0;
  for (int i = 0; i < count; ++i) total += extents[i];
  const std::int64_t item = signed_size(item_size), row = inner * item;
  for (int i = 0; i < count; ++i) {
    const CopyAxis axes[] = {{outer, extents[i] * row, total * row},
                             {extents[i] * inner, item, item}};
    strided_copy(item_size, ins[i], static_cast<char*>(out) + done * row, axes, 2);
    done += extents[i];
  }
}

void split(std::size_t item_size, const void* in, Extents extents, int count, std::int64_t outer,
           std::int64_t inner, void* const* outs) {
  std::int64_t total = 0, done = 0;
  for (int i = 0; i < count; ++i) total += extents[i];
  const std::int64_t item = signed_size(item_size), row = inner * item;
  for (int i = 0; i < count; ++i) {
    const CopyAxis axes[] = {{outer, total * row, extents[i] * row},
                             {extents[i] * inner, item, item}};
    if (outs[i])
      strided_copy(item_size, static_cast<const char*>(in) + done * row, outs[i], axes, 2);
    done += extents[i];
  }
}

void read_slice(std::size_t item_size, const void* in, Extents shape, int rank, const Slice& slice,
                void* out) {
  const SliceWalk from(item_size, shape, rank, slice);
  const Steps to(item_size, slice.extent, rank);
  CopyAxis axes[kMaxAxes];
  for (int i = 0; i < rank; ++i) axes[i] = {slice.extent[i], from.step[i], to.of[i]};
  strided_copy(item_size, static_cast<const char*>(in) + from.start, out, axes, rank);
}

void write_slice(std::size_t item_size, const void* in, const Slice& slice, int rank, void* out,
                 Extents shape) {
  const SliceWalk to(item_size, shape, rank, slice);
  const Steps from(item_size, slice.extent, rank);
  CopyAxis axes[kMaxAxes];
  for (int i = 0; i < rank; ++i) axes[i] = {slice.extent[i], from.of[i], to.step[i]};
  strided_copy(item_size, in, static_cast<char*>(out) + to.start, axes, rank);
}

void scatter_slice(std::size_t item_size, const void* in, const Slice& slice, int rank, void* out,
                   Extents shape) {
  if (count_of(slice.extent, rank) < count_of(shape, rank))
    fill_zero(item_size, count_of(shape, rank), out);
  write_slice(item_size, in, slice, rank, out, shape);
}

void pad(std::size_t item_size, const void* in, Extents shape, int rank, Extents before,
         Extents after, const void* value, void* out) {
  const PaddedShape shape_out(shape, rank, before, after);
  const Extents padded = shape_out.extent, ones = shape_out.ones;
  fill(item_size, value, count_of(padded, rank), out);
  write_slice(item_size, in, {before, ones, shape}, rank, out, padded);
}

void mirror_pad(Mirror mirror, std::size_t item_size, const void* in, Extents shape, int rank,
                Extents before, Extents after, void* out) {
  const PaddedShape shape_out(shape, rank, before, after);
  const Extents padded = shape_out.extent, ones = shape_out.ones;
  if (count_of(padded, rank) == 0) return;
  write_slice(item_size, in, {before, ones, shape}, rank, out, padded);
  // One axis after the other, from the last: its borders are copied from what is there already,
  // over the full width of the later axes and the inside of the earlier ones.
  const Steps steps(item_size, padded, rank);
  char* base = static_cast<char*>(out);
  for (int axis = rank - 1; axis >= 0; --axis) {
    const MirroredAxis border = {before[axis], shape[axis], mirror == Mirror::reflect ? 1 : 0};
    CopyAxis axes[kMaxAxes];
    std::int64_t origin = 0;
    for (int i = 0; i < rank; ++i) {
      const bool inside = i < axis;
      axes[i] = {inside ? shape[i] : padded[i], steps.of[i], steps.of[i]};
      if (inside) origin += before[i] * steps.of[i];
    }
    axes[axis].in_step = -steps.of[axis];
    axes[axis].extent = before[axis];
    if (before[axis] > 0)
      strided_copy(item_size, base + origin + border.front(0) * steps.of[axis], base + origin, axes,
                   rank);
    axes[axis].extent = after[axis];
    if (after[axis] > 0)
      strided_copy(item_size, base + origin + border.back(0) * steps.of[axis],
                   base + origin + (before[axis] + shape[axis]) * steps.of[axis], axes, rank);
  }
}

void mirror_pad_transpose(Mirror mirror, DType t, const void* in, Extents shape, int rank,
                          Extents before, Extents after, void* out) {
  const PaddedShape shape_out(shape, rank, before, after);
  const Extents padded = shape_out.extent, ones = shape_out.ones;
  const std::size_t item_size = size_of(t),
                    bytes = item_size * static_cast<std::size_t>(count_of(padded, rank));
  if (bytes == 0) return;
  Scratch folded(bytes);
  std::memcpy(folded.data(), in, bytes);
  visit_dtype(t, [&]<class T>(T) {
    if constexpr (is_differentiable(dtype_v<T>)) {
      for (int axis = 0; axis < rank; ++axis) {
        const MirroredAxis border = {before[axis], shape[axis], mirror == Mirror::reflect ? 1 : 0};
        const std::int64_t outer = count_of(padded, axis);
        const std::int64_t inner = count_of(padded + axis + 1, rank - axis - 1);
        for (std::int64_t o = 0; o < outer; ++o) {
          T* slab = folded.as<T>() + o * padded[axis] * inner;
          const auto add = [&](std::int64_t from, std::int64_t to) {
            for (std::int64_t i = 0; i < inner; ++i)
              slab[to * inner + i] = T(slab[to * inner + i] + slab[from * inner + i]);
          };
          for (std::int64_t p = 0; p < before[axis]; ++p) add(p, border.front(p));
          for (std::int64_t p = 0; p < after[axis]; ++p)
            add(before[axis] + shape[axis] + p, border.back(p));
        }
      }
    }
  });
  read_slice(item_size, folded.data(), padded, rank, {before, ones, shape}, out);
}

void tile(std::size_t item_size, const void* in, Extents shape, int rank, Extents multiples,
          void* out) {
  const Steps from(item_size, shape, rank);
  CopyAxis axes[2 * kMaxAxes];
  std::int64_t step = signed_size(item_size);
  int n = 0;
  for (int i = rank - 1; i >= 0; --i) {
    axes[n++] = {shape[i], from.of[i], step};
    step *= shape[i];
    if (multiples[i] != 1) axes[n++] = {multiples[i], 0, step};
    step *= multiples[i];
  }
  strided_copy(item_size, in, out, axes, n);
}

void reverse(std::size_t item_size, const void* in, Extents shape, int rank, std::uint64_t axes,
             void* out) {
  const Steps steps(item_size, shape, rank);
  CopyAxis walk[kMaxAxes];
  std::int64_t start = 0;
  for (int i = 0; i < rank; ++i) {
    const bool backwards = (axes >> i & 1) != 0;
    walk[i] = {shape[i], backwards ? -steps.of[i] : steps.of[i], steps.of[i]};
    if (backwards) start += (shape[i] - 1) * steps.of[i];
  }
  strided_copy(item_size, static_cast<const char*>(in) + start, out, walk, rank);
}

void roll(std::size_t item_size, const void* in, Extents shape, int rank, Extents shifts,
          void* out) {
  if (count_of(shape, rank) == 0) return;
  const Steps steps(item_size, shape, rank);
  int turned[kMaxAxes], turns = 0;  // the axes that move; each is cut into two pieces
  std::int64_t shift[kMaxAxes];
  for (int i = 0; i < rank; ++i) {
    shift[i] = (shifts[i] % shape[i] + shape[i]) % shape[i];
    if (shift[i]) turned[turns++] = i;
  }
  for (std::uint64_t pieces = 0; pieces < std::uint64_t{1} << turns; ++pieces) {
    CopyAxis axes[kMaxAxes];
    for (int i = 0; i < rank; ++i) axes[i] = {shape[i], steps.of[i], steps.of[i]};
    std::int64_t from = 0, to = 0;
    for (int k = 0; k < turns; ++k) {
      const int i = turned[k];
      if (pieces >> k & 1) {  // the end comes to the front
        axes[i].extent = shift[i];
        from += (shape[i] - shift[i]) * steps.of[i];
      } else {
        axes[i].extent = shape[i] - shift[i];
        to += shift[i] * steps.of[i];
      }
    }
    strided_copy(item_size, static_cast<const char*>(in) + from, static_cast<char*>(out) + to, axes,
                 rank);
  }
}

void band_part(std::size_t item_size, const void* in, std::int64_t batch, std::int64_t rows,
               std::int64_t columns, std::int64_t lower, std::int64_t upper, void* out) {
  const std::int64_t item = signed_size(item_size), row_bytes = columns * item;
  parallel_ranges(batch * rows, grain_of(row_bytes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i % rows;
      const std::int64_t first = lower < 0 ? 0 : std::clamp<std::int64_t>(row - lower, 0, columns);
      const std::int64_t last =
          upper < 0 ? columns : std::clamp<std::int64_t>(row + upper + 1, first, columns);
      const char* from = static_cast<const char*>(in) + i * row_bytes;
      char* to = static_cast<char*>(out) + i * row_bytes;
      std::memset(to, 0, static_cast<std::size_t>(first * item));
      std::memcpy(to + first * item, from + first * item,
                  static_cast<std::size_t>((last - first) * item));
      std::memset(to + last * item, 0, static_cast<std::size_t>((columns - last) * item));
    }
  });
}

void one_hot(DType index_type, const void* indices, std::int64_t outer, std::int64_t depth,
             std::int64_t inner, std::size_t item_size, const void* on, const void* off,
             void* out) {
  fill(item_size, off, outer * depth * inner, out);
  const auto place = [&](const auto* index) {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t d = index[o * inner + i];
        if (d < 0 || d >= depth) continue;
        std::memcpy(
            static_cast<char*>(out) + ((o * depth + d) * inner + i) * signed_size(item_size), on,
            item_size);
      }
  };
  if (index_type == int32)
    place(static_cast<const std::int32_t*>(indices));
  else
    place(static_cast<const std::int64_t*>(indices));
}

void iota(DType t, const void* start, const void* step, std::int64_t count, void* out) {
  visit_dtype(t, [&]<class T>(T) {
    const T first = *static_cast<const T*>(start), by = *static_cast<const T*>(step);
    parallel_ranges(count, grain_of(sizeof(T)), [&](std::int64_t begin, std::int64_t end) {
      T* to = static_cast<T*>(out);
      for (std::int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>) {
          to[i] = static_cast<T>(static_cast<std::uint64_t>(first) +
                                 static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(by));
        } else if constexpr (is_complex(dtype_v<T>)) {
          to[i] = first + static_cast<typename T::value_type>(i) * by;
        } else if constexpr (sizeof(T) == 2) {
          // Rounded after each step, as TensorFlow's numbers are.
          const T steps = T(static_cast<float>(T(static_cast<float>(i))) * static_cast<float>(by));
          to[i] = T(static_cast<float>(first) + static_cast<float>(steps));
        } else {
          to[i] = first + static_cast<T>(i) * by;
        }
      }
    });
  });
}

}  // namespace gradus::kernels
