// The loops of gather.h and row_groups.h, one table per instruction set.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

struct RowsLoops {
  // out[i] = the sum over k of values[positions[k] * width + i], in the type sums are computed in.
  // Signed integers use the unsigned loops, complex numbers the real ones.
  using SumListed = void (*)(const void* values, const std::uint32_t* positions, std::int64_t count,
                             std::int64_t width, void* out);
  SumListed sum_listed[kDTypeCount] = {};

  // out[i] = (out[i] if `onto`) +- sum[i], rounded from the type of a sum.
  using AddRow = void (*)(const void* sum, std::int64_t width, bool onto, bool subtract, void* out);
  AddRow add_row[kDTypeCount] = {};

  // Whether all indices are in [0, limit); int32 and int64.
  using InRange = bool (*)(const void* indices, std::int64_t count, std::int64_t limit);
  InRange in_range32 = nullptr, in_range64 = nullptr;
};

namespace baseline {
extern const RowsLoops rows_loops;
}
namespace avx2 {
extern const RowsLoops rows_loops;
}
namespace avx512 {
extern const RowsLoops rows_loops;
}

}  // namespace gradus::kernels
