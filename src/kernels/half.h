// Conversion of float16 and bfloat16 arrays from and to float32, in which they are computed.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// dtype is float16 or bfloat16. Rounds to nearest even; a NaN stays a NaN.
void widen(DType dtype, float* to, const void* from, std::int64_t count);
void narrow(DType dtype, void* to, const float* from, std::int64_t count);
void narrow_in_parallel(DType dtype, void* to, const float* from, std::int64_t count);

}  // namespace gradus::kernels
