// Circular functions. Angles are reduced to an eighth of a turn by subtracting a multiple n of pi /
// 2, which is held in three pieces; products with a piece are exact inside an fma. Where n has too
// many bits for that (beyond 1.6e6 in float32, 3.5e13 in float64) an assistant takes over.
#include "expr/assist.h"
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

// x = r + (pi / 2) n with |r| <= 1.09 pi / 4; the low bits of `quarters` are those of n.
struct QuarterTurns {
  Expr r, quarters;
};

// Positive pieces, rounded down, so that an angle of -0 stays -0.
struct HalfPi {
  double piece[3];
};
HalfPi half_pi_pieces(Expr x) {
  return is_double(x)
             ? HalfPi{{0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e08p-107}}
             : HalfPi{{0x1.921fb4p+0, 0x1.4442dp-24, 0x1.846988p-48}};
}
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

double largest_angle(Expr x) { return pick(x, 0x1.9p20, 0x1p45); }

QuarterTurns reduce_angle(Expr x) {
  const auto [piece] = half_pi_pieces(x);
  const double round_to_one = pick(x, 0x1.8p23, 0x1.8p52);
  const Expr sum = fma(x, kTwoOverPi, constant(x, round_to_one)), n = sum - round_to_one;
  Expr r = x;
  for (const double part : piece) r = fma(n, -part, r);
  return {r, raw_bits(sum)};
}

// The sign bit, set where the given bit of an integer is.
Expr sign_from_bit(Expr integer, int bit) {
  const int width = integer.type() == Type::i64 ? 64 : 32;
  const Expr moved = shl(integer, width - 1 - bit);
  return bit_and(from_bits(moved),
                 from_bits(constant_bits(integer, integer.type(), 1ull << (width - 1))));
}
Expr is_odd(Expr integer) { return shl(integer, integer.type() == Type::i64 ? 63 : 31) < 0; }

// sin(a + shift pi / 2) for a >= 0.
Expr sin_of_positive(Expr a, int shift) {
  const QuarterTurns angle = reduce_angle(a);
  const Expr r = angle.r, z = r * r;
  const Expr sine =
      fma(r * z,
          poly(z, {-1.6666646e-01, 8.331672e-03, -1.9453558e-04},
               {-0.16666666666666627, 0.008333333333321067, -0.0001984126982869619,
                2.7557313297747283e-06, -2.5050695329848185e-08, 1.589310409104176e-10}),
          r);
  Expr cosine;
  if (is_double(a)) {
    const Expr most = fma(z, -0.5, 1);
    cosine = most +
             fma(z * z,
                 poly(z, {0.04166666666666658, -0.001388888888887097, 2.4801587287528005e-05,
                          -2.755731379159448e-07, 2.087564749604752e-09, -1.1355744406096332e-11}),
                 fma(z, -0.5, 1 - most));
  } else {
    cosine = fma(z, poly(z, {-0.5, 4.166663e-02, -1.3886638e-03, 2.4361145e-05}), 1);
  }
  const Expr quarters = angle.quarters + shift;
  const Expr y = bit_xor(select(is_odd(quarters), cosine, sine), sign_from_bit(quarters, 1));
  return assist(shift == 0 ? Assistant::sin : Assistant::cos,
                select(a <= largest_angle(a), y, kNan), a);
}

Expr sin_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  return bit_xor(sin_of_positive(parts.magnitude, 0), parts.sign);
}
Expr cos_value(const Expr* in) { return sin_of_positive(abs(in[0]), 1); }

// tan(r), or -1 / tan(r) in odd quarters.
Expr tan_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const QuarterTurns angle = reduce_angle(parts.magnitude);
  const Expr r = angle.r, z = r * r;
  const Expr t = fma(r * z,
                     poly(z,
                          {3.33334e-01, 1.333104e-01, 5.423262e-02, 2.044496e-02, 1.2873016e-02,
                           -2.335285e-03, 5.4998687e-03},
                          {0.333333333333334, 0.13333333333322758, 0.0539682539743021,
                           0.021869488361173126, 0.008863238537063702, 0.0035920944881080055,
                           0.001456090792391646, 0.000588639596656835, 0.0002445507271944781,
                           8.151841409929554e-05, 7.092924933762277e-05, -3.0312950088177982e-05,
                           5.253384592803859e-05, -2.620045619651728e-05, 1.0226804509571346e-05}),
                     r);
  const Expr y = select(is_odd(angle.quarters), -1 / t, t);
  const Expr near = select(parts.magnitude <= largest_angle(t), y, kNan);
  return bit_xor(assist(Assistant::tan, near, parts.magnitude), parts.sign);
}

// asin(s) = s + s z P(z), z = s^2, for |x| <= 0.545; from s = sqrt((1 - |x|) / 2) <= 1/2 beyond.
struct Arcsine {
  Expr outer, inner;  // a mask: |x| > 0.545; asin of s >= 0
};
Arcsine arcsine_parts(Expr a) {
  const Expr outer = a > 0.545;
  const Expr z = select(outer, fma(a, -0.5, 0.5), a * a);
  const Expr s = select(outer, sqrt(z), a);
  const Expr p = poly(
      z, {1.666664e-01, 7.501627e-02, 4.4310994e-02, 3.3443384e-02, 8.577774e-03, 4.5293592e-02},
      {0.16666666666668406, 0.07499999999553902, 0.04464285754233105, 0.0303819264607611,
       0.022372635338180888, 0.017344690880803836, 0.014056801129814797, 0.010829714767726943,
       0.013702456134035102, -0.006412768640893288, 0.044307384299389935, -0.05040134731297701,
       0.04956222835430266});
  return {outer, fma(s * z, p, s)};
}

// pi / 2 and pi as a rounded part and the rest.
double half_pi(Expr x) { return pick(x, 0x1.921fb6p0, 0x1.921fb54442d18p0); }
double half_pi_rest(Expr x) { return pick(x, -0x1.777a5cp-25, 0x1.1a62633145c07p-54); }

Expr asin_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const auto [outer, inner] = arcsine_parts(parts.magnitude);
  const Expr far = half_pi(inner) - fma(inner, 2, -half_pi_rest(inner));
  return parts.restore(select(outer, far, inner));
}

Expr acos_value(const Expr* in) {
  const Expr x = in[0];
  const auto [outer, inner] = arcsine_parts(abs(x));
  const Expr signed_inner = copy_sign(inner, x);
  const Expr near = half_pi(x) - (signed_inner - half_pi_rest(x));
  const Expr far = 2 * select(x < 0, half_pi(x) - (inner - half_pi_rest(x)), inner);
  return select(outer, far, near);
}

// atan(t) for 0 <= t <= 1.
Expr atan_of_fraction(Expr t) {
  const Expr z = t * t;
  return fma(t * z,
             poly(z,
                  {-3.33333e-01, 1.999853e-01, -1.4264014e-01, 1.0950861e-01, -8.399209e-02,
                   5.787891e-02, -3.1093616e-02, 1.0866343e-02, -1.7821675e-03},
                  {-0.33333333333333287,   0.19999999999990617,    -0.1428571428504474,
                   0.1111111108665338,     -0.09090908550496497,   0.0769229974636494,
                   -0.06666583986132639,   0.05881717609588228,    -0.05259439545730301,
                   0.04744941334524636,    -0.04286410799358899,   0.0382097826949548,
                   -0.03278322549314723,   0.026145559307357267,   -0.018603434607204487,
                   0.01130439788398645,    -0.005600776687325175,  0.002144458106969434,
                   -0.0005899675422246317, 0.00010315012839136084, -8.573164563863935e-06}),
             t);
}

Expr complement(Expr angle) { return half_pi(angle) - (angle - half_pi_rest(angle)); }

// float64: atan(x) = atan(c) + atan((x - c) / (1 + c x)) with c = 0, 1 or infinity.
Expr atan_by_octants(Expr a) {
  const Expr middle = a > 0x1.a827999fcef32p-2, far = a > 0x1.3504f333f9de6p+1;
  const Expr numerator = select(far, -1, select(middle, a - 1, a));
  const Expr t = numerator / select(far, a, select(middle, a + 1, 1)), z = t * t;
  const Expr rest =
      (t * z) * poly(z, {-0.333333333333332, 0.1999999999995368, -0.1428571428020082,
                         0.11111110783577888, -0.09090897760452193, 0.07692060269294684,
                         -0.06663104831061008, 0.058478964999401355, -0.05039344543362434,
                         0.038065768269590114, -0.017908747188569947});
  const auto offset = [&](double eighth) {
    return select(far, 2 * eighth, select(middle, constant(a, eighth), 0));
  };
  return offset(0x1.921fb54442d18p-1) + (t + (rest + offset(0x1.1a62633145c07p-55)));
}

Expr atan_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude;
  if (is_double(a)) return parts.restore(atan_by_octants(a));
  const Expr p = atan_of_fraction(min(a, 1) / max(a, 1));
  return parts.restore(select(a > 1, complement(p), p));
}

Expr atan2_value(const Expr* in) {
  const Expr y = in[0], x = in[1], ay = abs(y), ax = abs(x);
  const Expr big = max(ax, ay), small = min(ax, ay);
  const Expr t = select(small == kInf, 1, small / select(big == 0, 1, big));
  Expr angle = atan_of_fraction(t);
  angle = select(ay > ax, complement(angle), angle);
  // pi - angle, from half the sum of the two parts of pi.
  const Expr left = 2 * half_pi(angle) - (angle - 2 * half_pi_rest(angle));
  return copy_sign(select(sign_bit(x), left, angle), y);
}

// Safe at any scale: numbers whose squares would overflow or lose bits are scaled by a power of 2.
Expr hypot_value(const Expr* in) {
  const Expr ax = abs(in[0]), ay = abs(in[1]), big = max(ax, ay);
  const double limit = pick(big, 0x1p60, 0x1p500), factor = pick(big, 0x1p80, 0x1p600);
  const Expr high = big > limit, low = big < 1 / limit;
  const auto choose = [&](double if_high, double if_low) {
    return select(high, if_high, select(low, if_low, constant(big, 1)));
  };
  const Expr scale = choose(1 / factor, factor), sx = ax * scale, sy = ay * scale;
  const Expr y = sqrt(fma(sx, sx, sy * sy)) * choose(factor, 1 / factor);
  return select(ax == kInf || ay == kInf, kInf, y);
}

// d atan2 / dx and dy have the form p / (x^2 + y^2); 0 at the origin and at infinity. Beside a NaN
// infinity has a norm, but no direction: the larger of the two is NaN then.
Expr over_square_of_norm(Expr p, const Expr* in) {
  const Expr norm = hypot(in[1], in[0]), big = max(abs(in[0]), abs(in[1]));
  return select(big == 0 || big == kInf, 0, p / norm / norm);
}

// 1 / sqrt(1 - x^2), the derivative of asin.
const Fn arcsine_slope_fn = {
    "arcsine_slope",
    1,
    [](const Expr* in) { return 1 / sqrt((1 - in[0]) * (1 + in[0])); },
    {[](Expr g, const Expr* in, Expr y) { return scaled(g, in[0] * y * y * y); }}};

// 1 + tan^2, the derivative of tan; of complex numbers 1 / cos^2, because tan^2 is near -1 far from
// the real axis.
const Fn sec_squared_fn = {
    "sec_squared",
    1,
    [](const Expr* in) {
      const Expr t = tan(in[0]);
      return fma(t, t, 1);
    },
    {[](Expr g, const Expr* in, Expr y) { return scaled(g, 2 * tan(in[0]) * y); }}};

// 1 + x^2; of complex numbers (x + i) (x - i), which keeps its digits near i and -i.
const Fn one_plus_square_fn = {"one_plus_square",
                               1,
                               [](const Expr* in) { return fma(in[0], in[0], 1); },
                               {[](Expr g, const Expr* in, Expr) { return scaled(g, 2 * in[0]); }}};

// x / hypot(x, y), the derivative of hypot in x: a sine. Its derivatives are products of it and of
// the cosine y / hypot(x, y); 1 / h - x^2 / h^3 would cancel where x is large.
extern const Fn hypot_slope_fn;
const Fn hypot_slope_fn = {
    "hypot_slope",
    2,
    [](const Expr* in) {
      const Expr h = hypot(in[0], in[1]);
      return select(h == 0, 0, in[0] / h);
    },
    {[](Expr g, const Expr* in, Expr) {
       const Expr h = hypot(in[0], in[1]), c = call(hypot_slope_fn, in[1], in[0]);
       return scaled(g, select(h == 0, 0, c * c / h));
     },
     [](Expr g, const Expr* in, Expr y) {
       const Expr h = hypot(in[0], in[1]), c = call(hypot_slope_fn, in[1], in[0]);
       return -scaled(g, select(h == 0, 0, c * y / h));
     }}};

}  // namespace

const Fn sin_fn = {
    "sin", 1, sin_value, {[](Expr g, const Expr* in, Expr) { return scaled(g, cos(in[0])); }}};
const Fn cos_fn = {
    "cos", 1, cos_value, {[](Expr g, const Expr* in, Expr) { return -scaled(g, sin(in[0])); }}};
const Fn tan_fn = {"tan", 1, tan_value, {[](Expr g, const Expr* in, Expr) {
                     return scaled(g, call(sec_squared_fn, in[0]));
                   }}};
const Fn asin_fn = {"asin", 1, asin_value, {[](Expr g, const Expr* in, Expr) {
                      return scaled(g, call(arcsine_slope_fn, in[0]));
                    }}};
const Fn acos_fn = {"acos", 1, acos_value, {[](Expr g, const Expr* in, Expr) {
                      return -scaled(g, call(arcsine_slope_fn, in[0]));
                    }}};
const Fn atan_fn = {"atan", 1, atan_value, {[](Expr g, const Expr* in, Expr) {
                      return ratio(g, call(one_plus_square_fn, in[0]));
                    }}};
const Fn atan2_fn = {
    "atan2",
    2,
    atan2_value,
    {[](Expr g, const Expr* in, Expr) { return scaled(g, over_square_of_norm(in[1], in)); },
     [](Expr g, const Expr* in, Expr) { return -scaled(g, over_square_of_norm(in[0], in)); }}};
const Fn hypot_fn = {
    "hypot",
    2,
    hypot_value,
    {[](Expr g, const Expr* in, Expr) { return scaled(g, call(hypot_slope_fn, in[0], in[1])); },
     [](Expr g, const Expr* in, Expr) { return scaled(g, call(hypot_slope_fn, in[1], in[0])); }}};

Expr sin(Expr x) { return call(sin_fn, x); }
Expr cos(Expr x) { return call(cos_fn, x); }
Expr tan(Expr x) { return call(tan_fn, x); }
Expr asin(Expr x) { return call(asin_fn, x); }
Expr acos(Expr x) { return call(acos_fn, x); }
Expr atan(Expr x) { return call(atan_fn, x); }
Expr atan2(Expr y, Expr x) { return call(atan2_fn, y, x); }
Expr hypot(Expr x, Expr y) { return call(hypot_fn, x, y); }

}  // namespace gradus::expr
