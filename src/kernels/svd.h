// Singular values, for batches of row-major float32 or float64 matrices. Computes in float64; a
// matrix with an element that is not finite gives NaN throughout.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// in [batch, m, n] = u diag(s) v^T, k = min(m, n): s [batch, k] in descending order, the columns of
// u [batch, m, k] and v [batch, n, k] of length 1 and orthogonal, also where s is zero; the largest
// component of each column of u is positive. By one-sided Jacobi rotations.
void svd(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n, void* s,
         void* u, void* v);

}  // namespace gradus::kernels
