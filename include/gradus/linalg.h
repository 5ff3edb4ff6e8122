// Matrices: products, diagonals, factorisations and solves, all over the last two axes; leading
// axes are batches. Names are those of tf.linalg.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "gradus/in.h"

namespace gradus {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};
Tensor matmul(In a, In b, MatmulOptions options = {});

// Sums of products as numpy.einsum writes them: einsum("ij,jk->ik", {a, b}) is a matrix product.
// Repeated labels in one operand take a diagonal, "..." stands for axes that broadcast, and without
// "->" the result has the labels that occur once, in alphabetical order.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs);

// Products summed over the last `axes` axes of a and the first of b, or over given axes of each.
Tensor tensordot(In a, In b, int axes);
Tensor tensordot(In a, In b, const Shape& axes_of_a, const Shape& axes_of_b);

// The norm of all elements, or over given axes: ord is 1, 2 (euclidean), any p > 0 or infinity.
Tensor norm(In tensor, double ord = 2);
Tensor norm(In tensor, double ord, const Shape& axis, bool keepdims = false);

// The vector product along a last axis of size 3.
Tensor cross(In a, In b);

namespace linalg {

// Diagonal k is above the main one, below it if negative. A size of -1 is as small as possible.
Tensor diag(In diagonal, std::int64_t k = 0, Size num_rows = -1, Size num_cols = -1);
Tensor diag_part(In input, std::int64_t k = 0);
Tensor set_diag(In input, In diagonal, std::int64_t k = 0);
// Zeros more than num_lower below or num_upper above the diagonal; negative keeps all.
Tensor band_part(In input, std::int64_t num_lower, std::int64_t num_upper);
Tensor tensor_diag(In diagonal);  // of all axes: shape s gives shape s + s
Tensor tensor_diag_part(In input);
Tensor trace(In x);
Tensor matrix_transpose(In a);
Tensor adjoint(In matrix);  // transposed and conjugated

// The lower triangular L with L L^T = input. Only the lower triangle is read, as part of a
// symmetric matrix: the gradient is symmetric. NaN if a matrix is not positive definite.
Tensor cholesky(In input);
Tensor cholesky_solve(In chol, In rhs);  // A x = rhs, given the Cholesky factor of A
Tensor triangular_solve(In matrix, In rhs, bool lower = true, bool adjoint = false);
// By LU with partial pivoting; throws if a matrix is singular.
Tensor solve(In matrix, In rhs, bool adjoint = false);
Tensor inv(In input);
Tensor det(In input);      // its gradient are the cofactors, of singular matrices too
Tensor logdet(In matrix);  // of positive definite matrices
std::pair<Tensor, Tensor> slogdet(In input);  // sign and log(|det|)

// Symmetric matrices, of which the lower triangle is read: eigenvalues in ascending order, and
// eigenvectors as columns of length 1 with a positive largest component. Gradients treat the matrix
// as symmetric. Equal values do not determine their vectors: where a derivative would need that, it
// is NaN, and where it does not, it is right (docs/design/036).
struct Eigh {
  Tensor e, v;
};
Eigh eigh(In tensor);
Tensor eigvalsh(In tensor);
// q r = input with orthonormal columns and an upper triangle. Derivatives are NaN from the first
// column on that depends on those before it. With full_matrices q is square; more than one column
// that completes it is determined but for turning in the space of these: what depends on that has
// the gradient NaN, and in forward mode they are NaN.
struct Qr {
  Tensor q, r;
};
Qr qr(In input, bool full_matrices = false);
// u diag(s) v^T = tensor: singular values in descending order, orthonormal columns with a positive
// largest component in u. With full_matrices u and v are square; what completes them is as
// for qr. Equal or zero singular values are as equal eigenvalues are for eigh.
struct Svd {
  Tensor s, u, v;
};
Svd svd(In tensor, bool full_matrices = false);
// The pseudo-inverse; singular values up to rcond times the largest count as zero (of no rcond: ten
// times the larger size times the dtype's epsilon). Derivatives are those along matrices of the
// same rank: along others it jumps.
Tensor pinv(In a);
Tensor pinv(In a, In rcond);
// The exponential of square matrices: the sum of their powers, each over its factorial.
Tensor expm(In input);

}  // namespace linalg
}  // namespace gradus
