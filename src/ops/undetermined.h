// Vectors that a matrix does not determine. Eigenvectors of equal eigenvalues may be any basis of
// their space, and a small change of the matrix picks one of them: their derivative, a quotient by
// the gap between the values, is 0 / 0 or worse. What depends on the space alone may still have a
// derivative. The rules of eigh and svd take what is known of such a pair of vectors and give
//   0    if nothing tells the two apart: then turning them into each other changes nothing;
//   NaN  if something does: the answer would depend on which basis the kernel happened to return.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

// Pairs of values, as matrices over (i, j).
struct Gaps {
  Tensor inverse;  // 1 / gap, 0 where the gap is none
  Tensor none;     // bool: the gap is nothing but rounding
};
// Gaps are small beside `size` [..., 1, 1], at least one of them the values' own.
Gaps gaps_between(const Tensor& gap, const Tensor& size);
// The largest absolute value of each matrix or, if `vectors`, row, with axes of size 1 instead.
Tensor largest(const Tensor& x, bool vectors);

// 0 where `none` is false, or x nothing but rounding beside `size`; else NaN. Linear in x, as far
// as it has a derivative at all. Of pairs, the diagonal is left out.
Tensor undetermined(const Tensor& x, const Tensor& none, const Tensor& size, bool pairs = true);

// The same for cotangents: NaN for pairs without a gap that x, of their vectors, or d, of their
// values, tells apart. `values` are what d belongs to.
Tensor told_apart(const Tensor& x, const Tensor& d, const Tensor& none, const Tensor& values);

// Orthonormal columns beside those of matrices [..., m, n], m > n, to make m of them. A single one
// has all derivatives; several are determined up to turning in the space that they span, so what
// tells them apart has the gradient NaN, and in forward mode they are NaN wherever the matrix
// moves.
Tensor complement(const Tensor& a);

}  // namespace gradus
