// Scalar functions that few programs need; the usual ones are in math.h.
#pragma once
#include "expr/fn.h"

namespace gradus::expr {

// The inverse of the normal distribution function.
extern const Fn ndtri_fn;
Expr ndtri(Expr p);

// Modified Bessel functions of the first kind, and these times e^-|x|.
extern const Fn bessel_i0_fn, bessel_i0e_fn, bessel_i1_fn, bessel_i1e_fn;
Expr bessel_i0(Expr x);
Expr bessel_i0e(Expr x);
Expr bessel_i1(Expr x);
Expr bessel_i1e(Expr x);

}  // namespace gradus::expr
