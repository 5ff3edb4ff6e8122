// Small dense matrices over the oracle's numbers: the textbook algorithms. Decisions (pivots,
// orders, signs) look at the base alone, so that infinitesimals just follow.
#pragma once
#include "oracle/array.h"

namespace oracle {

template <class S>
Array<S> matrix(Size rows, Size columns) {
  return Array<S>({rows, columns});
}
template <class S>
S& entry(Array<S>& a, Size i, Size k) {
  return a[i * a.dims[1] + k];
}
template <class S>
const S& entry(const Array<S>& a, Size i, Size k) {
  return a[i * a.dims[1] + k];
}

template <class S>
Array<S> transposed(const Array<S>& a) {
  auto out = matrix<S>(a.dims[1], a.dims[0]);
  for (Size i = 0; i < a.dims[0]; ++i)
    for (Size k = 0; k < a.dims[1]; ++k) entry(out, k, i) = entry(a, i, k);
  return out;
}
template <class S>
Array<S> product(const Array<S>& a, const Array<S>& b) {
  auto out = matrix<S>(a.dims[0], b.dims[1]);
  for (Size i = 0; i < a.dims[0]; ++i)
    for (Size k = 0; k < b.dims[1]; ++k)
      for (Size j = 0; j < a.dims[1]; ++j) entry(out, i, k) += entry(a, i, j) * entry(b, j, k);
  return out;
}
template <class S>
Array<S> identity(Size n) {
  auto out = matrix<S>(n, n);
  for (Size i = 0; i < n; ++i) entry(out, i, i) = S(1);
  return out;
}

// a x = b by elimination with pivots, and the determinant of a.
struct Solved {
  Reals x;
  Nil det;
};
Solved solve(Reals a, Reals b);
Reals cholesky(const Reals& a);
Reals expm(const Reals& a);

struct Eigen {
  Reals values, vectors;  // ascending; columns, their largest element positive
};
Eigen eigh(Reals a);  // symmetric

// Columns orthonormal, and an upper triangle whose diagonal has the signs of Householder's method.
struct Qr {
  Reals q, r;
};
Qr qr(const Reals& a);
struct Svd {
  Reals s, u, v;  // descending; the largest element of each column of u is positive
};
Svd svd(const Reals& a);

}  // namespace oracle
