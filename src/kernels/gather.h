// Reading rows by index. Indices are int32 or int64 and must be in range: the ops ask
// first_out_of_range (or flatten_coordinates) before they call a kernel.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// The position of the first index that is not in [0, limit), or -1.
std::int64_t first_out_of_range(DType index_type, const void* indices, std::int64_t count,
                                std::int64_t limit);

// Coordinates [count, depth] into the first `depth` axes of `shape`, as row numbers of the array
// seen as [rows, rest]. Returns the position of the first one outside, or -1.
std::int64_t flatten_coordinates(DType index_type, const void* coordinates, std::int64_t count,
                                 int depth, const std::int64_t* shape, std::int64_t* rows);

// out[b, o, k, i] = in[b, o, indices[b, k], i] for in [batch, outer, n, inner], indices [batch, m].
struct GatherShape {
  std::int64_t batch, outer, n, inner, m;
};
void gather(std::size_t item_size, const void* in, DType index_type, const void* indices,
            const GatherShape& shape, void* out);

}  // namespace gradus::kernels
