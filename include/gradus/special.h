// Special functions of mathematics beyond those of elementwise.h. Names are those of tf.math; all
// of them broadcast.
#pragma once
#include "gradus/in.h"

namespace gradus {

// The a-th derivative of digamma, for whole a >= 0. No gradient in a.
Tensor polygamma(In a, In x);
// Hurwitz: the sum of (q + k)^-x over k >= 0, for x > 1 and q > 0; for q < 0 if x is whole.
Tensor zeta(In x, In q);

// The inverse of the normal distribution function, and of erfc.
Tensor ndtri(In p);
Tensor erfcinv(In x);

// Modified Bessel functions of the first kind, and these times e^-|x|.
Tensor bessel_i0(In x);
Tensor bessel_i0e(In x);
Tensor bessel_i1(In x);
Tensor bessel_i1e(In x);

// The integral of t^(a-1) e^-t from 0 to x (igamma) or from x on (igammac), divided by Gamma(a).
Tensor igamma(In a, In x);
Tensor igammac(In a, In x);
// The integral of t^(a-1) (1-t)^(b-1) from 0 to x, divided by that from 0 to 1: the distribution
// function of the beta distribution.
Tensor betainc(In a, In b, In x);

}  // namespace gradus
