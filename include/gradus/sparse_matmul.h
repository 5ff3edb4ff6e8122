// Products with sparse matrices. A matrix is given by its elements: `values` [n] at `coordinates`
// [n, 2], pairs of a row and a column in any order. Elements at one place add up.
#pragma once
#include "gradus/in.h"

namespace gradus {

struct SparseMatmulOptions {
  bool transpose = false;  // the sparse matrix: coordinates are pairs of a column and a row
};
// The sparse matrix, which has so many rows (after being transposed), times `dense` [..., k, n].
Tensor sparse_matmul(In values, In coordinates, In dense, Size rows,
                     SparseMatmulOptions options = {});

// For each pair (i, j) of coordinates the product of row i of `a` [..., m, n] and row j of `b`
// [..., k, n], added over the leading axes: elements of a times the transpose of b.
Tensor sampled_matmul(In a, In b, In coordinates);

}  // namespace gradus
