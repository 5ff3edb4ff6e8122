// Writing rows by index: scatter_nd, tensor_scatter_*, unsorted segments, one row after the other
// where they repeat. The result does not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

enum class ScatterOp : std::uint8_t { update, add, subtract, multiply, maximum, minimum };

// bool only updates; complex has no maximum and minimum.
bool scatters(ScatterOp op, DType t);

// out[indices[k], :] op= updates[k, :] for out [rows, width], updates [count, width]. Negative
// indices are skipped; others are below `rows`. Repeated rows: the last update stays; sums are
// accurate (row_groups.h) and rounded once; NaN wins in maximum and minimum.
struct ScatterShape {
  std::int64_t count, width, rows;
};
void scatter(ScatterOp op, DType t, DType index_type, const void* indices, const void* updates,
             const ScatterShape& shape, void* out);

// The same into an array that starts without values: rows that get none are filled with `empty`,
// which must be zero for sums.
void scatter_into_empty(ScatterOp op, DType t, DType index_type, const void* indices,
                        const void* updates, const ScatterShape& shape, const void* empty,
                        void* out);

}  // namespace gradus::kernels
