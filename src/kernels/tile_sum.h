// Adding up partial results that threads left side by side.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// to[i] = sum over j < count, in order, of from[j * size + i], (+ to[i]). float32 or float64.
void sum_arrays(DType dtype, const void* from, std::int64_t count, std::int64_t size, void* to,
                bool accumulate);

}  // namespace gradus::kernels
