// Every reduction is brought to [outer, n, inner], one group of adjacent axes at a time, the
// largest first. A long one runs in levels: pieces of kRowPiece elements (inner == 1) or
// kColumnPiece rows are folded into an array of partial results, which is reduced in the same way.
// So accuracy, parallel work and a fixed order come from the same cut.
#include "kernels/reduce.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/isa.h"
#include "kernels/ranges.h"
#include "kernels/reduce_loops.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kRowPiece = 2048, kMaxRow = 2 * kRowPiece;
constexpr std::int64_t kColumnPiece = 256;
constexpr std::int64_t kColumnBlock = 2048;  // columns whose results stay in the L1 cache
constexpr std::int64_t kNarrow = 32;  // below this inner extent rows are taken several at once

const ReduceLoops& loops() {
  static const ReduceLoops& picked =
      pick(baseline::reduce_loops, avx2::reduce_loops, avx512::reduce_loops);
  return picked;
}

constexpr DType compute_type(DType t) { return t == float16 || t == bfloat16 ? float32 : t; }

// One [outer, n, inner] step: what the loops read and what they write.
struct Step {
  ReduceLoops::Op op;
  DType type;

  std::int64_t in_size() const { return static_cast<std::int64_t>(size_of(type)); }
  std::int64_t out_size() const { return static_cast<std::int64_t>(size_of(compute_type(type))); }
  const char* in_at(const void* in, std::int64_t i) const {
    return static_cast<const char*>(in) + i * in_size();
  }
  char* out_at(void* out, std::int64_t i) const { return static_cast<char*>(out) + i * out_size(); }

  void rows(const void* in, std::int64_t count, std::int64_t n, void* out) const {
    loops().rows[op][static_cast<int>(type)](in, count, n, out);
  }
  void columns(const void* in, const ReduceLoops::Columns& shape, void* out) const {
    loops().columns[op][static_cast<int>(type)](in, shape, out);
  }
};

void reduce_rows(Step step, const void* in, std::int64_t outer, std::int64_t n, void* out) {
  if (n <= kMaxRow) {
    parallel_ranges(outer, grain_of(n * step.in_size()), [&](std::int64_t begin, std::int64_t end) {
      step.rows(step.in_at(in, begin * n), end - begin, n, step.out_at(out, begin));
    });
    return;
  }
  const std::int64_t pieces = (n + kRowPiece - 1) / kRowPiece;
  Scratch partial(static_cast<std::size_t>(outer * pieces * step.out_size()));
  parallel_ranges(outer * pieces, grain_of(kRowPiece * step.in_size()),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end;) {
                      const std::int64_t row = i / pieces, piece = i % pieces;
                      const void* from = step.in_at(in, row * n + piece * kRowPiece);
                      const std::int64_t whole = std::min(end - i, n / kRowPiece - piece);
                      if (whole > 0) {
                        step.rows(from, whole, kRowPiece, step.out_at(partial.data(), i));
                        i += whole;
                      } else {
                        step.rows(from, 1, n % kRowPiece, step.out_at(partial.data(), i));
                        ++i;
                      }
                    }
                  });
  reduce_rows({step.op, compute_type(step.type)}, partial.data(), outer, pieces, out);
}

void reduce_columns(Step step, const void* in, ReduceLoops::Columns shape, void* out) {
  const std::int64_t pieces = (shape.rows + kColumnPiece - 1) / kColumnPiece;
  const std::int64_t blocks = (shape.width + kColumnBlock - 1) / kColumnBlock;
  if (pieces == 1 && blocks == 1) {
    parallel_ranges(shape.outer, grain_of(shape.rows * shape.width * step.in_size()),
                    [&](std::int64_t begin, std::int64_t end) {
                      ReduceLoops::Columns part = shape;
                      part.outer = end - begin;
                      step.columns(step.in_at(in, begin * shape.outer_stride), part,
                                   step.out_at(out, begin * shape.out_stride));
                    });
    return;
  }
  // Tasks [outer, pieces, blocks]; with more than one piece they write [outer, pieces, width].
  const auto run = [&](void* to, std::int64_t to_stride) {
    const std::int64_t rows = std::min(shape.rows, kColumnPiece);
    const std::int64_t width = std::min(shape.width, kColumnBlock);
    parallel_ranges(
        shape.outer * pieces * blocks, grain_of(rows * width * step.in_size()),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t block = task % blocks, piece = task / blocks % pieces,
                               o = task / blocks / pieces;
            const std::int64_t row = piece * kColumnPiece, column = block * kColumnBlock;
            const ReduceLoops::Columns part = {1,
                                               0,
                                               std::min(shape.rows - row, kColumnPiece),
                                               shape.row_stride,
                                               std::min(shape.width - column, kColumnBlock),
                                               0};
            step.columns(step.in_at(in, o * shape.outer_stride + row * shape.row_stride + column),
                         part, step.out_at(to, o * to_stride + piece * shape.width + column));
          }
        });
  };
  if (pieces == 1) return run(out, shape.out_stride);
  Scratch partial(static_cast<std::size_t>(shape.outer * pieces * shape.width * step.out_size()));
  run(partial.data(), pieces * shape.width);
  reduce_columns(
      {step.op, compute_type(step.type)}, partial.data(),
      {shape.outer, pieces * shape.width, pieces, shape.width, shape.width, shape.out_stride}, out);
}

// [outer, n, inner] with inner too narrow for vectors: `together` rows are taken as one wide row.
void reduce_narrow(Step step, const void* in, std::int64_t outer, std::int64_t n,
                   std::int64_t inner, void* out) {
  const std::int64_t together = 2 * kNarrow / inner, wide = together * inner;
  const std::int64_t rest = n % together, parts = together + (rest > 0 ? 1 : 0);
  Scratch partial(static_cast<std::size_t>(outer * parts * inner * step.out_size()));
  reduce_columns(step, in, {outer, n * inner, n / together, wide, wide, parts * inner},
                 partial.data());
  if (rest)
    reduce_columns(step, step.in_at(in, (n - rest) * inner),
                   {outer, n * inner, rest, inner, inner, parts * inner},
                   step.out_at(partial.data(), wide));
  reduce_columns({step.op, compute_type(step.type)}, partial.data(),
                 {outer, parts * inner, parts, inner, inner, inner}, out);
}

void reduce_step(Step step, const void* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
                 void* out) {
  if (inner == 1)
    reduce_rows(step, in, outer, n, out);
  else if (inner < kNarrow && n >= 8 * kNarrow / inner)
    reduce_narrow(step, in, outer, n, inner, out);
  else
    reduce_columns(step, in, {outer, n * inner, n, inner, inner, inner}, out);
}

// The loops that compute `op` on t; complex sums double the inner extent instead.
Step step_of(Reduction op, DType t) {
  constexpr DType kUnsigned[] = {uint8, uint8, uint16, uint32, uint64};
  switch (op) {
    case Reduction::sum:
    case Reduction::mean:
      if (is_complex(t)) return {ReduceLoops::kSum, t == complex64 ? float32 : float64};
      return {ReduceLoops::kSum, t <= int64 ? kUnsigned[static_cast<int>(t)] : t};
    case Reduction::prod:
      return {ReduceLoops::kProd, t <= int64 ? kUnsigned[static_cast<int>(t)] : t};
    case Reduction::max:
      return {ReduceLoops::kMax, t};
    case Reduction::min:
      return {ReduceLoops::kMin, t};
    case Reduction::any:
      return {ReduceLoops::kMax, uint8};
    case Reduction::all:
      break;
  }
  return {ReduceLoops::kMin, uint8};
}

template <class T>
T identity(Reduction op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case Reduction::prod:
    case Reduction::all:
      return T(1);
    case Reduction::max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Reduction::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Reduction::mean:
      return Limits::has_quiet_NaN ? Limits::quiet_NaN() : T(0);
    default:
      return T(0);
  }
}

void fill_identity(Reduction op, DType t, std::int64_t n, void* out) {
  visit_dtype(t, [&]<class T>(T) {
    T* to = static_cast<T*>(out);
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
      std::fill_n(to, n, T(identity<float>(op)));
    } else if constexpr (is_complex(dtype_v<T>)) {
      std::fill_n(to, n, T(identity<typename T::value_type>(op)));
    } else {
      std::fill_n(to, n, identity<T>(op));
    }
  });
}

// out = in (/ count), rounding from the type the reduction was computed in.
void finish(DType t, double count, const void* in, std::int64_t n, void* out) {
  visit_dtype(t, [&]<class T>(T) {
    T* to = static_cast<T*>(out);
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
      const float* from = static_cast<const float*>(in);
      for (std::int64_t i = 0; i < n; ++i) to[i] = T(from[i] / static_cast<float>(count));
    } else {
      const T* from = static_cast<const T*>(in);
      if constexpr (is_complex(dtype_v<T>)) {
        const auto c = static_cast<typename T::value_type>(count);
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] / c;
      } else if constexpr (is_floating(dtype_v<T>)) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] / static_cast<T>(count);
      } else if constexpr (is_integer(dtype_v<T>)) {
        using Wide = std::conditional_t<is_unsigned(dtype_v<T>), std::uint64_t, std::int64_t>;
        const auto c = static_cast<Wide>(count);
        for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(static_cast<Wide>(from[i]) / c);
      }
    }
  });
}

}  // namespace

bool reduces(Reduction op, DType t) {
  if (op == Reduction::any || op == Reduction::all) return is_bool(t);
  if (is_bool(t)) return false;
  return !is_complex(t) || (op != Reduction::max && op != Reduction::min);
}

void reduce(Reduction op, DType t, const void* in, const std::int64_t* shape, int rank,
            std::uint64_t axes, void* out) {
  // Groups of adjacent axes of the same kind, without axes of extent 1.
  constexpr int kMaxGroups = 64;
  std::int64_t extent[kMaxGroups];
  bool reduced[kMaxGroups];
  int groups = 0;
  std::int64_t kept = 1, count = 1;
  for (int i = 0; i < rank; ++i) {
    const bool is_reduced = (axes >> i & 1) != 0;
    (is_reduced ? count : kept) *= shape[i];
    if (shape[i] == 1) continue;
    if (groups && reduced[groups - 1] == is_reduced) {
      extent[groups - 1] *= shape[i];
    } else {
      extent[groups] = shape[i];
      reduced[groups++] = is_reduced;
    }
  }
  if (kept == 0) return;
  if (count == 0) return fill_identity(op, t, kept, out);
  if (count == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(kept) * size_of(t));
    return;
  }

  Step step = step_of(op, t);
  const std::int64_t unit = is_complex(t) && !is_complex(step.type) ? 2 : 1;
  const bool needs_finish = op == Reduction::mean || compute_type(t) != t;
  const auto bytes = [&](std::int64_t n) {
    return static_cast<std::size_t>(n * unit * step.out_size());
  };

  // Two buffers take turns; the last step writes `out` if its type is right already.
  std::int64_t largest = 1;
  int steps = 0;
  for (int g = 0; g < groups; ++g) {
    if (!reduced[g]) continue;
    largest = std::max(largest, extent[g]);
    ++steps;
  }
  const std::size_t turn_bytes = steps > 1 ? bytes(kept * count / largest) : 0;
  Scratch turns(2 * turn_bytes);
  Scratch result(needs_finish ? bytes(kept) : 0);
  const void* from = in;
  for (int s = 0; s < steps; ++s) {
    int best = -1;
    for (int g = 0; g < groups; ++g)
      if (reduced[g] && extent[g] > 1 && (best < 0 || extent[g] > extent[best])) best = g;
    std::int64_t outer = 1, inner = unit;
    for (int g = 0; g < best; ++g) outer *= extent[g];
    for (int g = best + 1; g < groups; ++g) inner *= extent[g];
    void* to = s + 1 < steps  ? turns.as<char>() + (s % 2 ? turn_bytes : 0)
               : needs_finish ? result.data()
                              : out;
    reduce_step(step, from, outer, extent[best], inner, to);
    extent[best] = 1;
    step.type = compute_type(step.type);
    from = to;
  }
  if (needs_finish)
    finish(t, op == Reduction::mean ? static_cast<double>(count) : 1.0, from, kept, out);
}

void reduce_axis(Reduction op, DType t, const void* in, std::int64_t outer, std::int64_t n,
                 std::int64_t inner, void* out) {
  const std::int64_t shape[] = {outer, n, inner};
  reduce(op, t, in, shape, 3, 0b010, out);
}

void arg_reduce(ArgReduction op, DType t, const void* in, std::int64_t outer, std::int64_t n,
                std::int64_t inner, std::int64_t* out) {
  static const ArgReduceLoops& picked =
      pick(baseline::arg_reduce_loops, avx2::arg_reduce_loops, avx512::arg_reduce_loops);
  const int type = static_cast<int>(is_bool(t) ? uint8 : t), which = static_cast<int>(op);
  const char* from = static_cast<const char*>(in);
  const auto size = static_cast<std::int64_t>(size_of(t));
  if (inner == 1) {
    parallel_ranges(outer, grain_of(n * size), [&](std::int64_t begin, std::int64_t end) {
      picked.rows[which][type](from + begin * n * size, end - begin, n, out + begin);
    });
    return;
  }
  const std::int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
  if (blocks == 1) {
    parallel_ranges(outer, grain_of(n * inner * size), [&](std::int64_t begin, std::int64_t end) {
      picked.columns[which][type](from + begin * n * inner * size, end - begin, n, inner, 0, inner,
                                  out + begin * inner);
    });
    return;
  }
  parallel_ranges(
      outer * blocks, grain_of(n * kColumnBlock * size), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t o = i / blocks, column = i % blocks * kColumnBlock;
          picked.columns[which][type](from + o * n * inner * size, 1, n, inner, column,
                                      std::min(inner, column + kColumnBlock), out + o * inner);
        }
      });
}

}  // namespace gradus::kernels
