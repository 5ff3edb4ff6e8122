// log and what is made of it. x = 2^e (1 + f) with |f| <= 0.42 and a polynomial (float32) or a
// series in f / (2 + f) (float64) for log(1 + f).
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

Expr log_value(const Expr* in) { return finish_log(in[0], log_from_parts(log_parts(in[0]))); }

// e + log(1 + f) / ln2: exact for powers of two.
Expr log2_value(const Expr* in) {
  const auto [e, f] = log_parts(in[0]);
  const Expr y = log1p_reduced(f);
  return finish_log(in[0], fma(y, 0x1.71547652b82fep0, e));
}

Expr log10_value(const Expr* in) {
  const auto [e, f] = log_parts(in[0]);
  const Expr y = log1p_reduced(f);
  const Expr low =
      fma(e, pick(f, 0x1.09f7a0p-26, -0x1.9dc1da994fd21p-59), y * 0x1.bcb7b1526e50ep-2);
  return finish_log(in[0], fma(e, pick(f, 0x1.344134p-2, 0x1.34413509f79ffp-2), low));
}

// The exponent comes from the rounded 1 + x, but f = (1 + x) 2^-e - 1 is formed from x itself.
// 2^-e may be subnormal, so it is used as 4 * 2^(-e-2) on x / 4.
Expr log1p_value(const Expr* in) {
  const Expr x = in[0], bits = raw_bits(x + 1);
  const int width = mantissa_bits(x);
  const auto integer = [&](std::uint64_t value) {
    return constant_bits(x, bits.type(), value << width);
  };
  const std::uint64_t bias = is_double(x) ? 0x3ff : 0x7f;
  const Expr below = constant_bits(x, bits.type(), is_double(x) ? 0x6a09e667f3bcdull : 0x3504f3u);
  const Expr biased = shr(bits - below, width);
  const Expr scale = from_bits(integer(2 * bias + 1) - shl(biased, width));  // 2^(2 - e)
  const Expr f = fma(x * 0.25, scale, fma(scale, 0.25, constant(x, -1)));
  const double lift = pick(x, 0x1p23, 0x1p52);
  const Expr e = from_bits(bit_or(biased, raw_bits(constant(x, lift)))) -
                 (lift + static_cast<double>(bias - 1));
  Expr y = log_from_parts({e, f});
  y = select(x < kInf, y, x);
  y = select(abs(x) < pick(x, 0x1p-40, 0x1p-80), x, y);
  return select(x <= -1, select(x == -1, constant(x, -kInf), constant(x, kNan)), y);
}

// log(a + sqrt(a^2 + 1)) for a >= 0.53; far out, where a^2 would overflow, log(a) + ln2.
Expr asinh_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude, z = a * a;
  const Expr small =
      fma(a * z,
          poly(z, {-1.6666628e-01, 7.497995e-02, -4.429837e-02, 2.7731707e-02, -1.2481915e-02},
               {-0.16666666666666471, 0.07499999999951956, -0.04464285710155721,
                0.030381942659934182, -0.02237211375796684, 0.017352027738118482,
                -0.013956803818348549, 0.011491264914959094, -0.009443599525749665,
                0.007226906069301345, -0.0043868218572085775, 0.0014800381385539495}),
          a);
  const Expr far = a > pick(a, 1e9, 1e18);
  auto log_of = log_parts(select(far, a, a + sqrt(z + 1)));
  log_of.e = log_of.e + select(far, constant(a, 1), constant(a, 0));
  const Expr large = select(a < kInf, log_from_parts(log_of), a);
  return parts.restore(select(a < 0.53, small, large));
}

// With t = x - 1: log(1 + t + sqrt(t^2 + 2 t)).
Expr acosh_value(const Expr* in) {
  const Expr x = in[0], t = x - 1;
  const Expr far = x > pick(x, 1e9, 1e18);
  const Expr y = log1p(select(far, x, t + sqrt(fma(t, t, 2 * t))));
  return select(x < 1, constant(x, kNan), select(far, y + 0x1.62e42fefa39efp-1, y));
}

Expr atanh_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude;
  return parts.restore(0.5 * log1p(2 * a / (1 - a)));
}

// What the derivatives of the inverse hyperbolic functions divide by. They are functions, so that
// complex numbers can have forms that do not cancel near i and -i, and so that further derivatives
// are made of x, not of a difference of roots or factors that are equal at 0.
const Fn one_minus_square_fn = {
    "one_minus_square",
    1,
    [](const Expr* in) { return (1 - in[0]) * (1 + in[0]); },
    {[](Expr g, const Expr* in, Expr) { return -scaled(g, 2 * in[0]); }}};
const Fn root_of_square_plus_one_fn = {
    "root_of_square_plus_one",
    1,
    [](const Expr* in) { return hypot(in[0], constant(in[0], 1)); },
    {[](Expr g, const Expr* in, Expr y) { return scaled(g, in[0] / y); }}};
const Fn root_of_square_minus_one_fn = {
    "root_of_square_minus_one",
    1,
    [](const Expr* in) { return sqrt(in[0] - 1) * sqrt(in[0] + 1); },
    {[](Expr g, const Expr* in, Expr y) { return scaled(g, in[0] / y); }}};

}  // namespace

const Fn log_fn = {
    "log", 1, log_value, {[](Expr g, const Expr* in, Expr) { return ratio(g, in[0]); }}};
const Fn log2_fn = {"log2", 1, log2_value, {[](Expr g, const Expr* in, Expr) {
                      return ratio(g * 0x1.71547652b82fep0, in[0]);
                    }}};
const Fn log10_fn = {"log10", 1, log10_value, {[](Expr g, const Expr* in, Expr) {
                       return ratio(g * 0x1.bcb7b1526e50ep-2, in[0]);
                     }}};
const Fn log1p_fn = {
    "log1p", 1, log1p_value, {[](Expr g, const Expr* in, Expr) { return ratio(g, in[0] + 1); }}};
const Fn asinh_fn = {"asinh", 1, asinh_value, {[](Expr g, const Expr* in, Expr) {
                       return ratio(g, call(root_of_square_plus_one_fn, in[0]));
                     }}};
const Fn acosh_fn = {"acosh", 1, acosh_value, {[](Expr g, const Expr* in, Expr) {
                       return ratio(g, call(root_of_square_minus_one_fn, in[0]));
                     }}};
const Fn atanh_fn = {"atanh", 1, atanh_value, {[](Expr g, const Expr* in, Expr) {
                       return ratio(g, call(one_minus_square_fn, in[0]));
                     }}};

Expr log(Expr x) { return call(log_fn, x); }
Expr log2(Expr x) { return call(log2_fn, x); }
Expr log10(Expr x) { return call(log10_fn, x); }
Expr log1p(Expr x) { return call(log1p_fn, x); }
Expr asinh(Expr x) { return call(asinh_fn, x); }
Expr acosh(Expr x) { return call(acosh_fn, x); }
Expr atanh(Expr x) { return call(atanh_fn, x); }

}  // namespace gradus::expr
