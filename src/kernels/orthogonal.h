// Factorisations with orthogonal matrices, for batches of row-major float32 or float64 matrices.
// They compute in float64. A matrix with an element that is not finite gives NaN throughout.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// Symmetric matrices [batch, n, n], of which the lower triangle is read: values [batch, n] in
// ascending order, and in the columns of vectors [batch, n, n] what belongs to them, of length 1,
// with the largest component positive. By Jacobi's rotations.
void eigh(DType t, const void* in, std::int64_t batch, std::int64_t n, void* values, void* vectors);

// in [batch, m, n] = q [batch, m, k] r [batch, k, n]: orthonormal columns times an upper triangle,
// by Householder's reflections; k is min(m, n) or m. A column that is a triangle's already is left
// as it is, as LAPACK does, which decides about signs.
void qr(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
        void* q, void* r);

// in [batch, m, n] with m > n: the columns [batch, m, m - n] by which qr with k = m completes q.
void complement(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n,
                void* out);

}  // namespace gradus::kernels
