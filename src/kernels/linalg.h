// Factorisations and solves for batches of row-major float32 or float64 matrices: blocked, so that
// most of the work is matrix products (gemm.h).
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// in = out * transpose(out) with a lower triangular `out` [batch, n, n]; only the lower triangle of
// `in` is read, and the upper one of `out` is zero. A matrix that is not positive definite gives
// NaN throughout. Returns the first such matrix, or -1.
std::int64_t cholesky(DType t, const void* in, std::int64_t batch, std::int64_t n, void* out);

// Solves op(a) x = b for x [batch, n, m], op being the transpose if asked for. The other triangle
// of `a` is not read, nor is the diagonal if `unit`. A zero on the diagonal divides as IEEE says.
struct Triangle {
  bool lower = true, transpose = false, unit = false;
};
void triangular_solve(DType t, Triangle triangle, const void* a, const void* b, std::int64_t batch,
                      std::int64_t n, std::int64_t m, void* x);

// Rows permutation[0], permutation[1], ... of `in` are L U, with a unit lower L and an upper U that
// share `factors` [batch, n, n]; permutation [batch, n]. Pivots are the largest in their column.
// Returns the first singular matrix (a pivot that is exactly zero or NaN), or -1.
std::int64_t lu(DType t, const void* in, std::int64_t batch, std::int64_t n, void* factors,
                std::int32_t* permutation);

// Solves op(in) x = b with the factors of `in`.
void lu_solve(DType t, const void* factors, const std::int32_t* permutation, bool transpose,
              const void* b, std::int64_t batch, std::int64_t n, std::int64_t m, void* x);

}  // namespace gradus::kernels
