#include "expr/math_parts.h"

#include <cmath>

namespace gradus::expr {

Expr poly(Expr x, Coefficients c) {
  const double* k = c.end();
  Expr sum = constant(x, *--k);
  while (k != c.begin()) sum = fma(sum, x, *--k);
  return sum;
}

Pair two_sum(Expr a, Expr b) {
  const Expr hi = a + b, b_part = hi - a;
  return {hi, (a - (hi - b_part)) + (b - b_part)};
}

Pair fast_two_sum(Expr a, Expr b) {
  const Expr hi = a + b;
  return {hi, b - (hi - a)};
}

Pair two_product(Expr a, Expr b) {
  const Expr hi = a * b;
  return {hi, fma(a, b, -hi)};
}

SignMagnitude split_sign(Expr x) {
  const Expr sign = bit_and(x, constant(x, -0.0));
  return {sign, bit_xor(x, sign)};
}

ExpParts exp_parts(Expr x, Expr lo) {
  // Adding 1.5 * 2^mantissa rounds to an integer, which is then found in the low bits of the sum.
  // ln2 is split with its high part below ln2, so that x = -0 stays -0.
  const double shift = pick(x, 0x1.8p23, 0x1.8p52);
  const Expr sum = fma(x, 0x1.71547652b82fep0, constant(x, shift));
  const Expr n = sum - shift;
  Expr r = fma(n, pick(x, -0x1.62e42ep-1, -0x1.62e42fefa39efp-1), x);
  r = fma(n, pick(x, -0x1.efa39ep-25, -0x1.abc9e3b39803fp-56), r);
  if (lo.valid()) r = r + lo;
  const Expr q =
      poly(r, {4.9999994e-01, 1.6666482e-01, 4.1667674e-02, 8.372241e-03, 1.3866103e-03},
           {0.5000000000000011, 0.16666666666666272, 0.04166666666652373, 0.008333333333592046,
            0.00138888889457742, 0.00019841269281962678, 2.480149051595385e-05,
            2.7557797421231255e-06, 2.763127551139928e-07, 2.4930369040829116e-08});
  return {fma(r * r, q, r), n, raw_bits(sum)};
}

Expr scale_by_power(Expr p, Expr steps) {
  // Two factors, because 2^n itself may overflow or be subnormal; factors, not bits added to those
  // of p, because p may be a NaN.
  const int shift = mantissa_bits(p);
  const Expr half = shl(shr(steps, 1), shift), rest = shl(steps, shift) - half;
  const Expr one = raw_bits(constant(p, 1));
  return p * from_bits(half + one) * from_bits(rest + one);
}

Expr power_of_two(Expr like, Expr steps, int offset) {
  return from_bits(shl(steps, mantissa_bits(like)) +
                   raw_bits(constant(like, std::ldexp(1.0, offset))));
}

Expr exp_of_nonpositive(Expr x, Expr lo) {
  // At the clamped argument n is one below the exponents of normal numbers: its power is then 0.
  const ExpParts parts = exp_parts(max(x, pick(x, -88, -709)), lo);
  return (parts.m + 1) * power_of_two(x, parts.steps);
}

LogParts log_parts(Expr x) {
  const double tiny = pick(x, 0x1p-126, 0x1p-1022), scale = pick(x, 0x1p24, 0x1p54);
  const Expr subnormal = x < tiny;
  const Expr bits = raw_bits(select(subnormal, x * scale, x));
  // The exponent counts from sqrt(1/2), and from a base that keeps the shifted number positive.
  const int width = mantissa_bits(x);
  const auto integer = [&](std::uint64_t value) { return constant_bits(x, bits.type(), value); };
  const std::uint64_t below = is_double(x) ? 0x6a09e667f3bcdull : 0x3504f3u;
  const std::uint64_t half = (is_double(x) ? 0x3feull : 0x7eull) << width;
  const Expr above = bits - integer(below), biased = shr(above, width);
  const Expr f =
      from_bits(bit_and(above, integer((1ull << width) - 1)) + integer(half + below)) - 1;
  // An integer below 2^mantissa becomes a float by setting the exponent bits above it.
  const double lift = pick(x, 0x1p23, 0x1p52);
  const Expr e = from_bits(bit_or(biased, raw_bits(constant(x, lift)))) -
                 select(subnormal, constant(x, lift + pick(x, 0x7e + 24, 0x3fe + 54)),
                        constant(x, lift + pick(x, 0x7e, 0x3fe)));
  return {e, f};
}

namespace {

// log(1 + f) - (f - f^2 / 2)
Expr log1p_tail(Expr f, Expr square) {
  if (is_double(f)) {
    // With s = f / (2 + f): log(1 + f) = 2 s + s R = f - f^2 / 2 + s (f^2 / 2 + R).
    const Expr s = f / (f + 2), z = s * s;
    const Expr r = z * poly(z, {0.6666666666666734, 0.39999999999416647, 0.28571428742028104,
                                0.2222219860488599, 0.18183562869844097, 0.15314084118804466,
                                0.14795642966695524});
    return s * fma(square, 0.5, r);
  }
  return (f * square) * poly(f, {3.333333e-01, -2.5000823e-01, 2.0001262e-01, -1.6623324e-01,
                                 1.4200844e-01, -1.3159668e-01, 1.2768814e-01, -7.64566e-02});
}

}  // namespace

Expr log1p_reduced(Expr f) {
  const Expr square = f * f;
  return f + fma(square, -0.5, log1p_tail(f, square));
}

Expr log_from_parts(LogParts parts) {
  const auto [e, f] = parts;
  const Expr square = f * f;
  Expr y = fma(e, pick(f, 0x1.efa39ep-25, 0x1.abc9e3b39803fp-56), log1p_tail(f, square));
  y = f + fma(square, -0.5, y);
  return fma(e, pick(f, 0x1.62e42ep-1, 0x1.62e42fefa39efp-1), y);
}

Expr finish_log(Expr x, Expr y) {
  y = select(x < kInf, y, x);
  return select(x <= 0, select(x == 0, constant(x, -kInf), constant(x, kNan)), y);
}

}  // namespace gradus::expr
