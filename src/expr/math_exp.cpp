// exp and what is made of it. e^x = 2^n * e^r with |r| <= ln2 / 2 and a polynomial for e^r - 1.
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

Expr exp_value(const Expr* in) {
  const ExpParts parts = exp_parts(min(max(in[0], pick(in[0], -104, -746)), pick(in[0], 90, 711)));
  return scale_by_power(parts.m + 1, parts.steps);
}

// 2^x: the integer part is exact, so only the fraction goes through e^r.
Expr exp2_value(const Expr* in) {
  const Expr x = min(max(in[0], pick(in[0], -151, -1076)), pick(in[0], 129, 1025));
  const double shift = pick(x, 0x1.8p23, 0x1.8p52);
  const Expr sum = x + shift, fraction = x - (sum - shift);

  const Expr lo = fraction * pick(x, -0x1.05c610p-29, 0x1.abc9e3b39803fp-56);
  const Expr r = fma(fraction, 0x1.62e42fefa39efp-1, lo);
  const Expr q =
      poly(r, {4.9999994e-01, 1.6666482e-01, 4.1667674e-02, 8.372241e-03, 1.3866103e-03},
           {0.5000000000000011, 0.16666666666666272, 0.04166666666652373, 0.008333333333592046,
            0.00138888889457742, 0.00019841269281962678, 2.480149051595385e-05,
            2.7557797421231255e-06, 2.763127551139928e-07, 2.4930369040829116e-08});
  return scale_by_power(fma(r * r, q, r) + 1, raw_bits(sum));
}

// 2^n (1 + m) - 1, with 2^(n-1) because 2^n may overflow where the result does not.
Expr expm1_value(const Expr* in) {
  const ExpParts parts = exp_parts(min(max(in[0], pick(in[0], -18, -38)), pick(in[0], 89, 709.9)));
  const Expr scale = power_of_two(in[0], parts.steps, -1);
  const Expr y = 2 * fma(parts.m, scale, scale - 0.5);
  return keep_zero(in[0], y);
}

// e^|x| / 2, with the whole range of sinh and cosh.
Expr half_exp(Expr a) {
  const ExpParts parts = exp_parts(min(a, pick(a, 89.5, 710.6)));
  return (parts.m + 1) * power_of_two(a, parts.steps, -2) * 2;
}

Expr sinh_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude, z = a * a;
  const Expr small = fma(a * z,
                         poly(z, {1.6666667e-01, 8.3333105e-03, 1.9842896e-04, 2.7822132e-06},
                              {0.16666666666666669, 0.008333333333332912, 0.00019841269841593408,
                               2.7557319106758273e-06, 2.505213099834349e-08,
                               1.6056659208405692e-10, 7.776598535407744e-13}),
                         a);
  const Expr half = half_exp(a);
  return parts.restore(select(a < 1, small, half - 0.25 / half));
}

Expr cosh_value(const Expr* in) {
  const Expr half = half_exp(abs(in[0]));
  return half + 0.25 / half;
}

// e / (1 + e) with e = e^(-2|x|): of tanh and of its derivative, which share it in a fused loop.
Expr tanh_quotient(Expr magnitude) {
  const Expr e = exp_of_nonpositive(-2 * magnitude);
  return e / (e + 1);
}

// x - x^3 / 3 + ... near 0, and 1 - 2 q further out.
Expr tanh_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude, z = a * a;
  const Expr small =
      fma(a * z,
          poly(z, {-3.333328e-01, 1.3331406e-01, -5.3736515e-02, 2.0628167e-02, -5.692297e-03},
               {-0.33333333333332854, 0.13333333333261924, -0.053968253931188426,
                0.02186948757427144, -0.008863220978764706, 0.0035919889817592246,
                -0.0014549578944390053, 0.0005863133257123922, -0.00022855771948676463,
                7.71369878984808e-05, -1.606895985037041e-05}),
          a);
  const Expr large = fma(tanh_quotient(a), -2, constant(a, 1));
  return parts.restore(select(a < 0.625, small, large));
}

Expr sech_squared_value(const Expr* in) {
  const Expr q = tanh_quotient(split_sign(in[0]).magnitude);
  return 4 * fma(-q, q, q);
}

Expr sigmoid_value(const Expr* in) {
  const Expr e = exp_of_nonpositive(-abs(in[0]));
  return select(in[0] < 0, e, 1) / (e + 1);
}

Expr sigmoid_slope_value(const Expr* in) {
  const Expr e = exp_of_nonpositive(-abs(in[0])), q = e / (e + 1);
  return fma(-q, q, q);
}

// log(1 + e) for 0 <= e <= 1.
Expr log1p_of_fraction(Expr e) {
  if (!is_double(e))
    return e *
           poly(e, {1.e+00, -4.999993e-01, 3.3330464e-01, -2.4958019e-01, 1.9692102e-01,
                    -1.534488e-01, 1.0661128e-01, -5.745723e-02, 2.0086242e-02, -3.2904686e-03});
  const Expr s = e / (e + 2), z = s * s, half_square = e * e * 0.5;
  const Expr r =
      z * poly(z, {0.6666666666666631, 0.40000000000156216, 0.2857142854795721, 0.22222223964333396,
                   0.18181744090196353, 0.15386556793090092, 0.13301010726311555,
                   0.12105817376417104, 0.08341187364683013, 0.17016700260426504});
  return e - (half_square - s * (half_square + r));
}

Expr softplus_value(const Expr* in) {
  return max(in[0], 0) + log1p_of_fraction(exp_of_nonpositive(-abs(in[0])));
}

Expr log_sigmoid_value(const Expr* in) {
  return -(max(-in[0], 0) + log1p_of_fraction(exp_of_nonpositive(-abs(in[0]))));
}

Expr logaddexp_value(const Expr* in) {
  // Equal arguments may be infinite, where their difference is not a number.
  const Expr distance = select(in[0] == in[1], 0, abs(in[0] - in[1]));
  return max(in[0], in[1]) + log1p_of_fraction(exp_of_nonpositive(-distance));
}

}  // namespace

const Fn exp_fn = {"exp", 1, exp_value, {[](Expr g, const Expr*, Expr y) { return scaled(g, y); }}};
const Fn exp2_fn = {"exp2", 1, exp2_value, {[](Expr g, const Expr*, Expr y) {
                      return scaled(g, y * 0x1.62e42fefa39efp-1);
                    }}};
const Fn expm1_fn = {
    "expm1", 1, expm1_value, {[](Expr g, const Expr* in, Expr) { return scaled(g, exp(in[0])); }}};
const Fn sinh_fn = {
    "sinh", 1, sinh_value, {[](Expr g, const Expr* in, Expr) { return scaled(g, cosh(in[0])); }}};
const Fn cosh_fn = {
    "cosh", 1, cosh_value, {[](Expr g, const Expr* in, Expr) { return scaled(g, sinh(in[0])); }}};
const Fn tanh_fn = {"tanh", 1, tanh_value, {[](Expr g, const Expr* in, Expr) {
                      return scaled(g, sech_squared(in[0]));
                    }}};
const Fn sech_squared_fn = {
    "sech_squared", 1, sech_squared_value, {[](Expr g, const Expr* in, Expr y) {
      return scaled(g, -2 * tanh(in[0]) * y);
    }}};
const Fn sigmoid_fn = {"sigmoid", 1, sigmoid_value, {[](Expr g, const Expr* in, Expr) {
                         return scaled(g, sigmoid_slope(in[0]));
                       }}};
const Fn sigmoid_slope_fn = {
    "sigmoid_slope", 1, sigmoid_slope_value, {[](Expr g, const Expr* in, Expr y) {
      return scaled(g, -tanh(0.5 * in[0]) * y);
    }}};
const Fn softplus_fn = {"softplus", 1, softplus_value, {[](Expr g, const Expr* in, Expr) {
                          return scaled(g, sigmoid(in[0]));
                        }}};
const Fn log_sigmoid_fn = {"log_sigmoid", 1, log_sigmoid_value, {[](Expr g, const Expr* in, Expr) {
                             return scaled(g, sigmoid(-in[0]));
                           }}};
// Only equal infinities have no difference: at x = y the derivative still has one of its own.
static Expr difference_of(Expr x, Expr y) { return select(x == y && is_inf(x), 0, x - y); }
const Fn logaddexp_fn = {
    "logaddexp",
    2,
    logaddexp_value,
    {[](Expr g, const Expr* in, Expr) { return scaled(g, sigmoid(difference_of(in[0], in[1]))); },
     [](Expr g, const Expr* in, Expr) { return scaled(g, sigmoid(difference_of(in[1], in[0]))); }}};

Expr exp(Expr x) { return call(exp_fn, x); }
Expr exp2(Expr x) { return call(exp2_fn, x); }
Expr expm1(Expr x) { return call(expm1_fn, x); }
Expr sinh(Expr x) { return call(sinh_fn, x); }
Expr cosh(Expr x) { return call(cosh_fn, x); }
Expr tanh(Expr x) { return call(tanh_fn, x); }
Expr sech_squared(Expr x) { return call(sech_squared_fn, x); }
Expr sigmoid(Expr x) { return call(sigmoid_fn, x); }
Expr sigmoid_slope(Expr x) { return call(sigmoid_slope_fn, x); }
Expr softplus(Expr x) { return call(softplus_fn, x); }
Expr log_sigmoid(Expr x) { return call(log_sigmoid_fn, x); }
Expr logaddexp(Expr x, Expr y) { return call(logaddexp_fn, x, y); }

}  // namespace gradus::expr
