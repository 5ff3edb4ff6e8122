// The loops of reduce.h, one table per instruction set. Results are in the type the elements are
// computed in (float32 for float16 and bfloat16). Signed sums and products use the unsigned loops,
// complex sums the real ones, any and all those of uint8; entries that are not needed are null.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"
#include "kernels/reduce.h"

namespace gradus::kernels {

struct ReduceLoops {
  enum Op { kSum, kProd, kMax, kMin, kOps };
  // out[r] = in[r * n] op ... op in[r * n + n - 1]
  using Rows = void (*)(const void* in, std::int64_t rows, std::int64_t n, void* out);
  // out[o * out_stride + i] = op over r < rows of in[o * outer_stride + r * row_stride + i]
  struct Columns {
    std::int64_t outer, outer_stride, rows, row_stride, width, out_stride;
  };
  using ColumnsLoop = void (*)(const void* in, const Columns& shape, void* out);

  Rows rows[kOps][kDTypeCount] = {};
  ColumnsLoop columns[kOps][kDTypeCount] = {};
};

struct ArgReduceLoops {
  // [outer, n, 1] and [outer, n, inner]; the second takes columns [begin, end) of every slice.
  using Rows = void (*)(const void* in, std::int64_t rows, std::int64_t n, std::int64_t* out);
  using Columns = void (*)(const void* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
                           std::int64_t begin, std::int64_t end, std::int64_t* out);

  Rows rows[2][kDTypeCount] = {};
  Columns columns[2][kDTypeCount] = {};
};

namespace baseline {
extern const ReduceLoops reduce_loops;
extern const ArgReduceLoops arg_reduce_loops;
}  // namespace baseline
namespace avx2 {
extern const ReduceLoops reduce_loops;
extern const ArgReduceLoops arg_reduce_loops;
}  // namespace avx2
namespace avx512 {
extern const ReduceLoops reduce_loops;
extern const ArgReduceLoops arg_reduce_loops;
}  // namespace avx512

}  // namespace gradus::kernels
