// Products of float16 or bfloat16 matrices: converted, multiplied and accumulated in float32, and
// rounded once at the end.
#pragma once
#include "kernels/gemm.h"

namespace gradus::kernels {

void gemm_half(const GemmArgs& args, Isa isa);

}  // namespace gradus::kernels
