// The scalar functions of Gradus on float32 and float64: each is written once, as an Fn, and every
// back end and every derivative comes from that.
//
// A function f is used in other definitions as f(x); the record behind it is f_fn. Accuracy in
// units in the last place, operation counts and how each one works:
// docs/design/004-math-functions.md. What happens at kinks, poles and infinities: conventions.h.
#pragma once
#include <span>

#include "expr/fn.h"

namespace gradus::expr {

// Exponentials and logarithms (math_exp.cpp, math_log.cpp).
extern const Fn exp_fn, exp2_fn, expm1_fn, log_fn, log1p_fn, log2_fn, log10_fn;
Expr exp(Expr x);
Expr exp2(Expr x);
Expr expm1(Expr x);
Expr log(Expr x);
Expr log1p(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);

// Hyperbolic functions. sech_squared is the derivative of tanh.
extern const Fn sinh_fn, cosh_fn, tanh_fn, sech_squared_fn, asinh_fn, acosh_fn, atanh_fn;
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr sech_squared(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);

// The logistic function and its relatives. sigmoid_slope is its derivative.
extern const Fn sigmoid_fn, sigmoid_slope_fn, softplus_fn, log_sigmoid_fn, logaddexp_fn;
Expr sigmoid(Expr x);
Expr sigmoid_slope(Expr x);
Expr softplus(Expr x);
Expr log_sigmoid(Expr x);
Expr logaddexp(Expr x, Expr y);

// Circular functions (math_trig.cpp). hypot(x, y) is sqrt(x^2 + y^2), safe at any scale.
extern const Fn sin_fn, cos_fn, tan_fn, asin_fn, acos_fn, atan_fn, atan2_fn, hypot_fn;
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);
Expr hypot(Expr x, Expr y);

// The error function and the normal distribution (math_erf.cpp). gaussian is e^(-x^2); ndtr and
// normal_pdf are the distribution function and the density of the standard normal distribution.
extern const Fn erf_fn, erfc_fn, erfinv_fn, ndtr_fn, normal_pdf_fn, gaussian_fn;
Expr erf(Expr x);
Expr erfc(Expr x);
Expr erfinv(Expr x);
Expr ndtr(Expr x);
Expr normal_pdf(Expr x);
Expr gaussian(Expr x);

// Powers and roots (math_pow.cpp). pow has all special cases of IEEE 754.
extern const Fn pow_fn, square_fn, sqrt_fn, rsqrt_fn, cbrt_fn, reciprocal_fn;
Expr pow(Expr x, Expr y);
Expr square(Expr x);
Expr rsqrt(Expr x);
Expr cbrt(Expr x);
Expr reciprocal(Expr x);

// log|Gamma(x)| and its derivatives (math_gamma.cpp). zeta(s, q) is Hurwitz's, for s > 1, and for
// q < 0 if s is whole (math_zeta.cpp); polygamma(n, x) is the n-th derivative of digamma.
extern const Fn lgamma_fn, digamma_fn, trigamma_fn, zeta_fn, polygamma_fn;
Expr lgamma(Expr x);
Expr digamma(Expr x);
Expr trigamma(Expr x);
Expr zeta(Expr s, Expr q);
Expr polygamma(Expr n, Expr x);

// Activations (math_activation.cpp).
extern const Fn relu_fn, relu6_fn, leaky_relu_fn, elu_fn, selu_fn, gelu_fn, gelu_tanh_fn, silu_fn,
    mish_fn, softsign_fn, hard_sigmoid_fn;
Expr relu(Expr x);
Expr relu6(Expr x);
Expr leaky_relu(Expr x, Expr alpha);
Expr elu(Expr x);
Expr selu(Expr x);
Expr gelu(Expr x);
Expr gelu_tanh(Expr x);
Expr silu(Expr x);
Expr mish(Expr x);
Expr softsign(Expr x);
Expr hard_sigmoid(Expr x);

// Arithmetic with conventions (math_arith.cpp).
extern const Fn abs_fn, sign_fn, floor_fn, ceil_fn, round_fn, trunc_fn, maximum_fn, minimum_fn,
    clip_fn, squared_difference_fn, floormod_fn, truncatemod_fn, floordiv_fn, truncatediv_fn,
    xlogy_fn, xlog1py_fn, xdivy_fn, reciprocal_no_nan_fn, div_no_nan_fn, mul_no_nan_fn;
Expr sign(Expr x);
Expr maximum(Expr x, Expr y);
Expr minimum(Expr x, Expr y);
Expr clip_by_value(Expr x, Expr low, Expr high);
Expr squared_difference(Expr x, Expr y);
Expr floormod(Expr x, Expr y);
Expr truncatemod(Expr x, Expr y);
Expr floordiv(Expr x, Expr y);
Expr truncatediv(Expr x, Expr y);
Expr xlogy(Expr x, Expr y);
Expr xlog1py(Expr x, Expr y);
Expr xdivy(Expr x, Expr y);
Expr reciprocal_no_nan(Expr x);
Expr div_no_nan(Expr x, Expr y);
Expr mul_no_nan(Expr x, Expr y);

// All of the above.
std::span<const Fn* const> math_functions();

}  // namespace gradus::expr
