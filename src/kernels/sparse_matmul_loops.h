// The loops of sparse_matmul.h, one table per instruction set. Signed integers use the unsigned
// loops.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// A list of scaled rows: values[e] * dense[columns[e], :].
struct ScaledRows {
  const void *values, *dense;
  const std::int64_t* columns;
  std::int64_t count, width;
  std::int64_t listed;  // how many columns may be read, to ask for rows early
};

// Groups of such rows with few columns: group g, the elements starts[g] to starts[g + 1] of the
// list, is the row rows[g] of `out`.
struct NarrowGroups {
  const void *values, *dense;
  const std::int64_t *columns, *starts, *rows;
  std::int64_t count, width;
  void* out;
};

struct SparseLoops {
  // The sums of all groups; float32 and float64 with up to kNarrow columns.
  static constexpr std::int64_t kNarrow = 4;
  using SumNarrow = void (*)(const NarrowGroups& groups);
  SumNarrow sum_narrow[kDTypeCount] = {};
  // out[:] = their sum, in the type that sums are computed in.
  using SumScaled = void (*)(const ScaledRows& rows, void* out);
  SumScaled sum_scaled[kDTypeCount] = {};
  // out[e] = a[rows[e], :] times b[columns[e], :], in the type that sums are computed in.
  struct Pairs {
    const void *a, *b;
    const std::int64_t *rows, *columns;
    std::int64_t count, width;
  };
  using Dots = void (*)(const Pairs& pairs, void* out);
  Dots dots[kDTypeCount] = {};
};

namespace baseline {
extern const SparseLoops sparse_loops;
}
namespace avx2 {
extern const SparseLoops sparse_loops;
}
namespace avx512 {
extern const SparseLoops sparse_loops;
}

}  // namespace gradus::kernels
