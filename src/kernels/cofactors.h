// Derivatives of the determinant, which is a polynomial: they exist for every matrix.
#pragma once
#include <cstdint>
#include <span>

#include "gradus/dtype.h"

namespace gradus::kernels {

// For each of `batch` row-major float32 or float64 matrices a [n, n] and matrices h_1 ... h_m: the
// matrix G with sum(G * y) = the derivative of det in a along h_1, ..., h_m and y. Without h these
// are the cofactors of a. Computes in float64; right for singular matrices of any rank.
void cofactors(DType t, const void* a, std::span<const void* const> h, std::int64_t batch,
               std::int64_t n, void* out);

}  // namespace gradus::kernels
