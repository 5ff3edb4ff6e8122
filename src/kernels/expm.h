// The exponential of matrices.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// out = e^in for `batch` row-major float32 or float64 matrices [n, n]; computes in float64. A
// matrix with an element that is not finite gives NaN throughout.
void expm(DType t, const void* in, std::int64_t batch, std::int64_t n, void* out);

}  // namespace gradus::kernels
