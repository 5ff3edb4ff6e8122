// The logarithm of the gamma function and its derivatives. Arguments are moved by the recurrence
// into a short interval with a polynomial that is exact at the zeros, or are large enough for
// Stirling's series; negative ones are reflected.
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;

// |sin(pi x)| / pi; 0 at integers.
Expr sine_over_pi(Expr x) {
  const Expr r = abs(x - round(x)), z = r * r;
  const Expr p = poly(z, {-1.6449333e+00, 8.1171584e-01, -1.9044311e-01, 2.4715353e-02},
                      {-1.6449340668482264, 0.8117424252833462, -0.19075182412167532,
                       0.02614784780794253, -0.0023460809132871876, 0.00014842791654618044,
                       -6.97226720779816e-06, 2.451831557917549e-07});
  return fma(r * z, p, r);
}

// log(Gamma(w)) for w > 0.
Expr lgamma_of_positive(Expr w) {
  // v = y - 2 for the y in [5/4, 5/2] that differs from w by an integer, and the product that
  // the recurrence makes of it.
  const double stirling_from = pick(w, 4.5, 6.5);
  Expr v = w - 2, product = constant(w, 1);
  for (int step = 0; step + 2.5 < stirling_from; ++step) {
    const Expr more = v > 0.5;
    v = select(more, v - 1, v);
    product = select(more, product * (v + 2), product);
  }
  const Expr low = w < 1.25, lowest = w < 0.5;
  v = select(low, select(lowest, w, w - 1), v);
  product = select(low, select(lowest, fma(w, w, w), w), product);
  const Expr large = w >= stirling_from;
  const Expr log = log_from_parts(log_parts(select(large, w, product)));

  const Expr p =
      v * poly(v,
               {4.2278433e-01, 3.2246724e-01, -6.735148e-02, 2.057484e-02, -7.4021085e-03,
                2.9325935e-03, -1.0823015e-03, 4.3609928e-04, -4.648146e-04, 5.590773e-05},
               {0.42278433509846713,    0.3224670334241132,      -0.06735230105319802,
                0.020580808427783655,   -0.007385551028683933,   0.0028905103307938188,
                -0.0011927539112306558, 0.0005096695234545203,   -0.000223154770000013,
                9.945752721193702e-05,  -4.4926074093962306e-05, 2.0507167216553774e-05,
                -9.44087351438686e-06,  4.374289392398046e-06,   -2.0320871814309504e-06,
                9.621430393402036e-07,  -4.7001502394606626e-07, 1.7944353502095375e-07,
                -7.396826444216516e-08, 1.2054467619118575e-07,  -1.3786382077968527e-08,
                -5.267857816654553e-08, -4.735878094200756e-08});
  const Expr near = select(low, p - log, p + log);

  const Expr inverse = 1 / w;
  const Expr series =
      inverse * poly(inverse * inverse, {8.333332e-02, -2.7762775e-03, 7.410067e-04},
                     {0.08333333333333305, -0.0027777777775031616, 0.0007936506996403807,
                      -0.0005952224310155337, 0.0008403216932842901, -0.0018436601257235915,
                      0.00430940133554274});
  const Expr stirling = fma(w - 0.5, log - 1, series + (0x1.d67f1c864beb5p-1 - 0.5));
  return select(large, stirling, near);
}

// Gamma(x) Gamma(1 - x) = pi / sin(pi x).
Expr lgamma_value(const Expr* in) {
  const Expr x = in[0], negative = x < 0;
  const Expr positive = lgamma_of_positive(select(negative, 1 - x, x));
  const Expr sine = sine_over_pi(x);
  const Expr reflected = -log_from_parts(log_parts(sine)) - positive;
  const Expr y = select(negative, reflected, positive);
  const Expr pole = x == 0 || (negative && sine == 0) || is_inf(x);
  return select(is_nan(x), x, select(pole, kInf, y));
}

// psi(w) for w > 0.
Expr digamma_of_positive(Expr w) {
  // numerator / denominator is what the recurrence adds to psi(y), y in [1, 2].
  const double series_from = pick(w, 5, 7);
  Expr y = w, numerator = constant(w, 0), denominator = constant(w, 1);
  for (int step = 0; step + 2 < series_from; ++step) {
    const Expr more = y > 2;
    y = select(more, y - 1, y);
    numerator = select(more, fma(numerator, y, denominator), numerator);
    denominator = select(more, denominator * y, denominator);
  }
  const Expr below_one = w < 1, large = w >= series_from;
  y = select(below_one, w + 1, y);
  const Expr quotient = select(below_one, -1, select(large, 1, numerator)) /
                        select(below_one || large, w, denominator);

  const double root = pick(w, 0x1.762d86p0, 1.4616321449683622),
               root_rest = pick(w, 1.243815006546356e-08, 9.549995429965697e-17);
  const Expr p =
      ((y - root) - root_rest) *
      poly(y - 1.5,
           {9.510559e-01, -4.2362747e-01, 2.4053848e-01, -1.4840007e-01, 9.511741e-02,
            -6.2039983e-02, 3.9361794e-02, -2.5872454e-02, 2.3924368e-02, -1.6221164e-02},
           {0.951055876031833,      -0.4236274212814606,    0.24054248424077398,
            -0.14840492305389,      0.0949887244549728,     -0.061922133274699455,
            0.04076083381080243,    -0.02697579669115953,   0.017907252481640067,
            -0.01190821942098318,   0.007926944014175685,   -0.005279946239165827,
            0.003519012170280687,   -0.0023454209241975154, 0.0015565991735653562,
            -0.0010368413363776238, 0.0007234377512741235,  -0.00048473319841854987,
            0.00022702334676614637, -0.0001469718824474102, 0.0002598531495417662,
            -0.0001765680089292977});

  const Expr z = quotient * quotient;
  const Expr series = z * poly(z, {8.333329e-02, -8.3268015e-03, 3.6769176e-03},
                               {0.0833333333333333, -0.008333333333278028, 0.003968253936800137,
                                -0.004166658078181636, 0.007574458062063134, -0.02097701512519072,
                                0.0771907407940151, -0.2555288878404714});
  const Expr log = log_from_parts(log_parts(select(large, w, 1)));
  return select(large, log - fma(quotient, 0.5, series), p + quotient);
}

Expr is_nonpositive_integer(Expr x) { return x <= 0 && floor(x) == x; }

// psi(x) = psi(1 - x) - pi / tan(pi x).
Expr digamma_value(const Expr* in) {
  const Expr x = in[0], negative = x < 0;
  const Expr positive = digamma_of_positive(select(negative, 1 - x, x));
  const Expr cotangent = kPi / tan(kPi * (x - round(x)));
  const Expr y = select(negative, positive - cotangent, positive);
  return select(is_nonpositive_integer(x), kNan, select(x < kInf, y, x));
}

// psi'(w) for w > 0: all terms are positive.
Expr trigamma_of_positive(Expr w) {
  const double series_from = pick(w, 5, 8);
  Expr y = w, sum = constant(w, 0);
  for (int step = 0; step < series_from; ++step) {
    const Expr more = y < series_from, inverse = 1 / y;
    sum = select(more, fma(inverse, inverse, sum), sum);
    y = select(more, y + 1, y);
  }
  const Expr inverse = 1 / y, z = inverse * inverse;
  const Expr series =
      poly(z, {1.6666634e-01, -3.328287e-02, 2.1533832e-02},
           {0.16666666666666657, -0.033333333333140355, 0.02380952367256337, -0.033333286049776034,
            0.0757484615205343, -0.2520752189279836, 1.0962285194435217, -4.3577408263450526});
  return sum + (inverse + fma(z, 0.5, inverse * z * series));
}

// psi'(x) + psi'(1 - x) = (pi / sin(pi x))^2.
Expr trigamma_value(const Expr* in) {
  const Expr x = in[0], negative = x < 0;
  const Expr positive = trigamma_of_positive(select(negative, 1 - x, x));
  const Expr cosecant = 1 / sine_over_pi(x);
  const Expr y = select(negative, fma(cosecant, cosecant, -positive), positive);
  return select(is_nonpositive_integer(x), kInf, y);
}

// (-1)^(n+1) n! zeta(n + 1, x)
Expr polygamma_value(const Expr* in) {
  const Expr n = in[0], x = in[1];
  const Expr magnitude = exp(lgamma(n + 1)) * zeta(n + 1, x);
  const Expr half = 0.5 * n;
  const Expr y = select(trunc(half) == half, -magnitude, magnitude);
  return select(n == 0, digamma(x), select(n > 0 && trunc(n) == n, y, kNan));
}

}  // namespace

const Fn lgamma_fn = {"lgamma", 1, lgamma_value, {[](Expr g, const Expr* in, Expr) {
                        return scaled(g, digamma(in[0]));
                      }}};
const Fn digamma_fn = {"digamma", 1, digamma_value, {[](Expr g, const Expr* in, Expr) {
                         return scaled(g, trigamma(in[0]));
                       }}};
const Fn trigamma_fn = {"trigamma", 1, trigamma_value, {[](Expr g, const Expr* in, Expr) {
                          return scaled(g, polygamma(constant(in[0], 2), in[0]));
                        }}};
const Fn polygamma_fn = {
    "polygamma", 2, polygamma_value, {nullptr, [](Expr g, const Expr* in, Expr) {
                                        return scaled(g, polygamma(in[0] + 1, in[1]));
                                      }}};

Expr lgamma(Expr x) { return call(lgamma_fn, x); }
Expr digamma(Expr x) { return call(digamma_fn, x); }
Expr trigamma(Expr x) { return call(trigamma_fn, x); }
Expr polygamma(Expr n, Expr x) { return call(polygamma_fn, n, x); }

}  // namespace gradus::expr
