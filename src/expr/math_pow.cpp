// Powers and roots. x^y = 2^(y log2|x|): for float32 all of it in float64; for float64 the
// logarithm is a pair of numbers with about 68 bits, because an error of it is multiplied by up to
// 1000.
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

// 2^(y (e + log2(1 + f))) in float64 arithmetic; overflow and underflow happen in the final
// rounding.
Expr power_in_double(LogParts parts, Expr y) {
  const Expr f = convert(parts.f, Type::f64), e = convert(parts.e, Type::f64);
  const Expr log2 =
      fma(f,
          poly(f, {1.442695040868713, -0.721347520869094, 0.4808983613942602, -0.360673674785043,
                   0.2885372935416842, -0.2404531675392503, 0.20617535819635405,
                   -0.18030055987563615, 0.1587697945630182, -0.14315688103258983,
                   0.1447488106694965, -0.14283769419963166, 0.0773680691452018}),
          e);
  const Expr z = min(max(convert(y, Type::f64) * log2, -160), 160);
  constexpr double shift = 0x1.8p52;
  const Expr sum = z + shift;
  const Expr p = poly(z - (sum - shift), {1.0000000005721428, 0.6931472063392534, 0.240226467979036,
                                          0.05550327467871638, 0.009618494819323661,
                                          0.0013400459996456594, 0.00015345329292058604});
  return convert(scale_by_normal_power(p, raw_bits(sum)), Type::f32);
}

// e ln2 + log(1 + f) as a pair. With s = f / (2 + f): log(1 + f) = 2 s + (2/3) s^3 + s^5 R(s^2);
// the first two terms are carried as pairs.
Pair log_as_pair(LogParts parts) {
  const auto [e, f] = parts;
  const Expr d = f + 2, d_lo = f - (d - 2), inverse = 1 / d;
  const Expr s = f * inverse, s_lo = (fma(-s, d, f) - s * d_lo) * inverse;
  const Expr z = s * s, z_lo = fma(s, s, -z) + 2 * s * s_lo;
  const Expr cube = s * z, cube_lo = fma(s, z, -cube) + fma(s, z_lo, s_lo * z);
  constexpr double kTwoThirds = 0x1.5555555555555p-1, kTwoThirdsRest = 0x1.5555555555555p-55;
  const Expr third = cube * kTwoThirds;
  const Expr third_lo =
      fma(cube, kTwoThirds, -third) + fma(cube, kTwoThirdsRest, cube_lo * kTwoThirds);
  const Expr rest =
      cube * z *
      poly(z, {0.40000000000002256, 0.28571428570099644, 0.22222222519904342, 0.18181784369207557,
               0.1538675721707084, 0.13256820767670552, 0.13196297754498515});
  // ln2 in a part short enough for e times it to be exact, and the rest.
  const Pair large = two_sum(e * 0x1.62e42fefa38p-1, 2 * s);
  const Pair sum = two_sum(large.hi, third);
  const Expr lo = fma(e, 0x1.ef35793c7673p-45, fma(s_lo, 2, third_lo) + rest) + (large.lo + sum.lo);
  return fast_two_sum(sum.hi, lo);
}

Expr power_from_pair(LogParts parts, Expr y) {
  const Pair log = log_as_pair(parts);
  const Expr hi = select(is_finite(parts.e), log.hi, parts.e), z = y * hi;
  const Expr lo = select(abs(z) < 800, fma(y, log.lo, fma(y, hi, -z)), 0);
  const ExpParts power = exp_parts(min(max(z, -750), 710), lo);
  return scale_by_power(power.m + 1, power.steps);
}

Expr pow_value(const Expr* in) {
  const Expr x = in[0], y = in[1], a = abs(x), regular = a > 0 && a < kInf;
  LogParts parts = log_parts(select(regular, a, 1));
  parts.e = select(regular, parts.e, select(a == 0, -kInf, a));
  Expr p = is_double(x) ? power_from_pair(parts, y) : power_in_double(parts, y);
  p = select(a == 1, 1, p);

  const Expr whole = trunc(y) == y, half = 0.5 * y, odd = whole && trunc(half) != half;
  p = bit_xor(p, select(odd, bit_and(x, constant(x, -0.0)), 0));
  const Expr undefined = is_nan(x) || is_nan(y) || (x < 0 && x > -kInf && !whole);
  return select(y == 0 || x == 1, 1, select(undefined, kNan, p));
}

// A third of the exponent by arithmetic on the bits, then Halley's and Newton's iterations, the
// last with an exact residual.
Expr cbrt_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr tiny = parts.magnitude < pick(in[0], 0x1p-100, 0x1p-1000);
  const Expr a = parts.magnitude * select(tiny, constant(in[0], pick(in[0], 0x1p24, 0x1p54)), 1);
  Expr t;
  if (is_double(a)) {
    constexpr double lift = 0x1p52;
    const Expr high = from_bits(bit_or(shr(raw_bits(a), 32), raw_bits(constant(a, lift)))) - lift;
    t = from_bits(shl(raw_bits(fma(high, 1.0 / 3, constant(a, lift + 715094163))), 32));
  } else {
    const Expr third = convert(raw_bits(a), Type::f32) * (1.0 / 3) + 709958130;
    t = from_bits(convert(third, Type::i32));
  }
  for (int i = 0; i < (is_double(a) ? 2 : 1); ++i) {
    const Expr cube = t * t * t, half = 0.5 * a;  // scaled by 1/4 so that nothing overflows
    t = t * (fma(cube, 0.25, half) / fma(half, 0.5, 0.5 * cube));
  }
  const Pair square = square_exactly(t);
  t = t + (fma(-square.hi, t, a) - square.lo * t) / (3 * square.hi);
  t = t * select(tiny, constant(a, pick(a, 0x1p-8, 0x1p-18)), 1);
  const Expr magnitude = parts.magnitude;
  return parts.restore(select(magnitude > 0 && magnitude < kInf, t, magnitude));
}

}  // namespace

const Fn pow_fn = {"pow",
                   2,
                   pow_value,
                   {[](Expr g, const Expr* in, Expr) {
                      return scaled(g, select(in[1] == 0, 0, in[1] * pow(in[0], in[1] - 1)));
                    },
                    [](Expr g, const Expr* in, Expr out) {
                      return scaled(g, select(in[0] <= 0 || out == 0, 0, out * log(in[0])));
                    }}};
const Fn square_fn = {"square",
                      1,
                      [](const Expr* in) { return in[0] * in[0]; },
                      {[](Expr g, const Expr* in, Expr) { return scaled(g, 2 * in[0]); }}};
const Fn sqrt_fn = {"sqrt",
                    1,
                    [](const Expr* in) { return sqrt(in[0]); },
                    {[](Expr g, const Expr*, Expr y) { return ratio(0.5 * g, y); }}};
const Fn rsqrt_fn = {"rsqrt",
                     1,
                     [](const Expr* in) { return 1 / sqrt(in[0]); },
                     {[](Expr g, const Expr*, Expr y) { return scaled(g, -0.5 * (y * y * y)); }}};
const Fn cbrt_fn = {
    "cbrt", 1, cbrt_value, {[](Expr g, const Expr*, Expr y) { return ratio(g, 3 * (y * y)); }}};
const Fn reciprocal_fn = {"reciprocal",
                          1,
                          [](const Expr* in) { return 1 / in[0]; },
                          {[](Expr g, const Expr*, Expr y) { return -scaled(g, y * y); }}};

Expr pow(Expr x, Expr y) { return call(pow_fn, x, y); }
Expr square(Expr x) { return call(square_fn, x); }
Expr rsqrt(Expr x) { return call(rsqrt_fn, x); }
Expr cbrt(Expr x) { return call(cbrt_fn, x); }
Expr reciprocal(Expr x) { return call(reciprocal_fn, x); }

}  // namespace gradus::expr
