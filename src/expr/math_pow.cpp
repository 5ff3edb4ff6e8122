// Powers and roots. x^y = e^(y log|x|); the logarithm is a pair of numbers with half as many bits
// again as one, because an error of it is multiplied by up to 100 (float32) or 700 (float64).
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

// e ln2 + log(1 + f) as a pair. With s = f / (2 + f): log(1 + f) = 2 s + (2/3) s^3 + s^5 R(s^2);
// the first two terms are carried as pairs.
Pair log_as_pair(LogParts parts) {
  const auto [e, f] = parts;
  const Expr d = f + 2, d_lo = f - (d - 2), inverse = 1 / d;
  const Expr s = f * inverse, s_lo = (fma(-s, d, f) - s * d_lo) * inverse;
  const Expr z = s * s, z_lo = fma(s, s, -z) + 2 * s * s_lo;
  const Expr cube = s * z, cube_lo = fma(s, z, -cube) + fma(s, z_lo, s_lo * z);
  const double two_thirds = pick(f, 0x1.555556p-1, 0x1.5555555555555p-1),
               two_thirds_rest = pick(f, -0x1.555556p-26, 0x1.5555555555555p-55);
  const Expr third = cube * two_thirds;
  const Expr third_lo =
      fma(cube, two_thirds, -third) + fma(cube, two_thirds_rest, cube_lo * two_thirds);
  const Expr rest =
      cube * z *
      poly(z, {4.0000153e-01, 2.854709e-01, 2.3419635e-01},
           {0.40000000000002256, 0.28571428570099644, 0.22222222519904342, 0.18181784369207557,
            0.1538675721707084, 0.13256820767670552, 0.13196297754498515});
  // ln2 in a part short enough for e times it to be exact, and the rest.
  const Pair large = fast_two_sum(e * pick(f, 0x1.62ep-1, 0x1.62e42fefa38p-1), 2 * s);
  const Pair sum = fast_two_sum(large.hi, third);
  const Expr lo =
      fma(e, pick(f, 0x1.0bfbe8p-15, 0x1.ef35793c7673p-45), fma(s_lo, 2, third_lo) + rest) +
      (large.lo + sum.lo);
  return fast_two_sum(sum.hi, lo);
}

// a^y for a >= 0, a != 1.
Expr power_of_magnitude(Expr a, Expr y) {
  const Pair log = log_as_pair(log_parts(a));
  const Expr hi = select(a == 0, -kInf, select(a < kInf, log.hi, a)), z = y * hi;
  const Expr lo = select(abs(z) < pick(y, 200, 800), fma(y, log.lo, fma(y, hi, -z)), 0);
  const ExpParts power = exp_parts(min(max(z, pick(y, -110, -750)), pick(y, 90, 711)), lo);
  return scale_by_power(power.m + 1, power.steps);
}

Expr pow_value(const Expr* in) {
  const Expr x = in[0], y = in[1], a = abs(x);
  Expr p = select(a == 1, 1, power_of_magnitude(a, y));
  const Expr whole = trunc(y) == y, half = 0.5 * y, odd = whole && trunc(half) != half;
  p = bit_xor(p, select(odd, bit_and(x, constant(x, -0.0)), 0));
  const Expr undefined = x < 0 && x > -kInf && !whole;
  return select(y == 0 || x == 1, 1, select(undefined, kNan, p));
}

// A third of the exponent by arithmetic on the bits, then Halley's and Newton's iterations, the
// last with an exact residual.
Expr cbrt_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  // Scaled so that no cube overflows and nothing is subnormal.
  const Expr tiny = parts.magnitude < pick(in[0], 0x1p-90, 0x1p-900);
  const auto scale = [&](double f32, double f64) {
    const double factor = pick(in[0], f32, f64);
    return select(tiny, constant(in[0], factor), 1 / factor);
  };
  const Expr a = parts.magnitude * scale(0x1p24, 0x1p54);
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
    const Expr cube = t * t * t;
    t = t * (fma(a, 2, cube) / fma(cube, 2, a));
  }
  const Pair square = square_exactly(t);
  t = t + (fma(-square.hi, t, a) - square.lo * t) / (3 * square.hi);
  t = t * scale(0x1p-8, 0x1p-18);
  const Expr magnitude = parts.magnitude;
  return parts.restore(select(magnitude > 0 && magnitude < kInf, t, magnitude));
}

// 1 where the logarithm has no real value, else 0: a function, since complex numbers have no order.
const Fn has_no_log_fn = {"has_no_log",
                          1,
                          [](const Expr* in) { return select(in[0] <= 0, 1, constant(in[0], 0)); },
                          {nullptr}};

}  // namespace

// x^0 is constant in x, also at 0. In y there is no derivative for x <= 0, which counts as 0.
const Fn pow_fn = {
    "pow",
    2,
    pow_value,
    {[](Expr g, const Expr* in, Expr) { return scaled(g, scaled(in[1], pow(in[0], in[1] - 1))); },
     [](Expr g, const Expr* in, Expr out) {
       const Expr flat = (call(has_no_log_fn, in[0]) != 0 && !is_nan(out)) || out == 0;
       return scaled(g, select(flat, 0, out * log(in[0])));
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
