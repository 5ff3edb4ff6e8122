// matmul(a, b), matmul(a, c), ... of one a and narrow matrices in one go (kernels/gemm_siblings.h).
// Facts of matmul's record (graph/product.h).
#pragma once
#include "graph/op.h"

namespace gradus {

// Of a, b, c, ...
bool matmuls_gain_together(const Call& c);
Tensors sibling_matmuls(const void* attrs, std::span<const Tensor> in);

}  // namespace gradus
