#include "expr/math.h"

namespace gradus::expr {

std::span<const Fn* const> math_functions() {
  static const Fn* const all[] = {
      // exponentials and logarithms
      &exp_fn, &exp2_fn, &expm1_fn, &log_fn, &log1p_fn, &log2_fn, &log10_fn,
      // hyperbolic
      &sinh_fn, &cosh_fn, &tanh_fn, &sech_squared_fn, &asinh_fn, &acosh_fn, &atanh_fn,
      // logistic
      &sigmoid_fn, &sigmoid_slope_fn, &softplus_fn, &log_sigmoid_fn, &logaddexp_fn,
      // circular
      &sin_fn, &cos_fn, &tan_fn, &asin_fn, &acos_fn, &atan_fn, &atan2_fn, &hypot_fn,
      // error function
      &erf_fn, &erfc_fn, &erfinv_fn, &ndtr_fn, &normal_pdf_fn, &gaussian_fn,
      // powers and roots
      &pow_fn, &square_fn, &sqrt_fn, &rsqrt_fn, &cbrt_fn, &reciprocal_fn,
      // gamma function
      &lgamma_fn, &digamma_fn, &trigamma_fn, &zeta_fn, &polygamma_fn,
      // activations
      &relu_fn, &relu6_fn, &leaky_relu_fn, &elu_fn, &selu_fn, &gelu_fn, &gelu_tanh_fn, &silu_fn,
      &mish_fn, &softsign_fn, &hard_sigmoid_fn,
      // arithmetic
      &abs_fn, &sign_fn, &floor_fn, &ceil_fn, &round_fn, &trunc_fn, &maximum_fn, &minimum_fn,
      &clip_fn, &squared_difference_fn, &floormod_fn, &truncatemod_fn, &floordiv_fn,
      &truncatediv_fn, &xlogy_fn, &xlog1py_fn, &xdivy_fn, &reciprocal_no_nan_fn, &div_no_nan_fn,
      &mul_no_nan_fn};
  return all;
}

}  // namespace gradus::expr
