// The error function, its complement and inverse, and the normal distribution.
//
// Tails: erfc(a) = e^(-a^2) W(a), with a^2 as an exact pair so that the exponential keeps its
// digits however large a is, and W (which decays like 1 / a) as a polynomial in (a - c) / (a + c).
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

constexpr double kRootHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kTwoOverRootPi = 0x1.20dd750429b6dp+0, kHalfRootPi = 0x1.c5bf891b4ef6bp-1;

// W(a) = e^(a^2) erfc(a) for 1/2 <= a <= 10.15 (float32) or 27.4 (float64).
Expr scaled_erfc(Expr a) {
  const double c = pick(a, 2, 2.5);
  const Expr u = 1 / (a + c);
  return u * poly((a - c) * u,
                  {1.0215827e+00, -6.871608e-01, 2.7947068e-01, -3.6438987e-02, -2.149206e-02,
                   6.4547644e-03, 3.0026694e-03, -7.758064e-04, -4.85187e-04},
                  {1.054031820305718,       -0.8046518494391488,     0.4539141166480997,
                   -0.17125114524606108,    0.02836155013175294,     0.008393044303183661,
                   -0.004818785517039975,   -0.0004392082825534426,  0.00070269364347489,
                   5.8307982727304144e-05,  -0.00011260423597347746, -1.953344699995247e-05,
                   1.8241747203698668e-05,  6.759935234684515e-06,   -2.3256282391425136e-06,
                   -1.9796692367564738e-06, -1.4026370555922128e-08, 4.800003229253919e-07,
                   1.371085545965415e-07,   -1.0365020271044398e-07, -3.936665421500636e-08,
                   2.024784790789813e-08});
}

// e^(-scale a^2) * factor, for scale 1 or 1/2 and a factor between 1/100 and 1, where a is at most
// largest_tail: from there on the result is 0.
double largest_tail(Expr a, double scale) {
  return scale == 1 ? pick(a, 10.2, 27.4) : pick(a, 14.41, 38.7);
}
Expr gaussian_times(Expr a, double scale, Expr factor) {
  const Pair square = two_product(a * -scale, a);
  const ExpParts parts = exp_parts(square.hi, square.lo);
  return scale_by_power(fma(parts.m, factor, factor), parts.steps);
}

// erfc(a) for a >= 1/2.
Expr erfc_tail(Expr a) {
  const Expr bounded = min(a, largest_tail(a, 1));
  return gaussian_times(bounded, 1, scaled_erfc(bounded));
}

// erf(a) for |a| <= 1.
Expr erf_small(Expr a) {
  const Expr z = a * a;
  return fma(
      a,
      poly(z,
           {1.2837917e-01, -3.7612626e-01, 1.1283579e-01, -2.6853347e-02, 5.187162e-03,
            -7.997853e-04, 7.806903e-05},
           {0.1283791670955126, -0.376126389031841, 0.11283791670971098, -0.026866170648031096,
            0.005223977652691308, -0.0008548328535669374, 0.00012055386186368503,
            -1.4926881239474186e-05, 1.6481054389964904e-06, -1.6557073307045917e-07,
            1.6012795597069822e-08, -1.6462878578914691e-09, 1.4340112889431027e-10}),
      a);
}

Expr erf_value(const Expr* in) {
  const auto parts = split_sign(in[0]);
  const Expr a = parts.magnitude;
  Expr tail;
  if (is_double(a)) {
    tail = erfc_tail(min(a, 6));
  } else {  // 1 - erf is small here: a polynomial for its logarithm is enough
    const ExpParts exponent = exp_parts(
        -poly(min(a, 3.93), {-1.884542e-04, 1.1295803e+00, 6.332165e-01, 1.0842196e-01,
                             -2.5210211e-02, 4.2052125e-03, -4.414505e-04, 2.1694788e-05}));
    tail = (exponent.m + 1) * power_of_two(a, exponent.steps);
  }
  return parts.restore(select(a < 1, erf_small(a), 1 - tail));
}

Expr erfc_value(const Expr* in) {
  const Expr x = in[0], a = abs(x), tail = erfc_tail(a);
  return select(a < 0.5, 1 - erf_small(x), select(x < 0, 2 - tail, tail));
}

// (1/2) erfc(-x / sqrt(2)); the exponential is that of x^2 / 2 itself, not of a rounded quotient.
Expr ndtr_value(const Expr* in) {
  const Expr x = in[0], bounded = min(abs(x), largest_tail(x, 0.5));
  const Expr a = bounded * kRootHalf;
  if (is_double(x)) {
    const Expr tail = gaussian_times(bounded, 0.5, 0.5 * scaled_erfc(a));
    return select(a < 0.5, fma(erf_small(x * kRootHalf), 0.5, 0.5), select(x < 0, tail, 1 - tail));
  }
  // One polynomial from 0 on, exact at 0; this is the inside of gelu and has to be fast.
  const Expr u = 1 / (a + 2);
  const Expr w = u * poly((a - 2) * u, {5.1079136e-01, -3.4358048e-01, 1.3973577e-01, -1.821774e-02,
                                        -1.075155e-02, 3.2166683e-03, 1.5218556e-03, -3.6140202e-04,
                                        -2.6488176e-04, -2.4452002e-05});
  const Expr tail = gaussian_times(bounded, 0.5, w);
  return select(x < 0, tail, 1 - tail);
}

Expr gaussian_value(const Expr* in) {
  return gaussian_times(min(abs(in[0]), largest_tail(in[0], 1)), 1, constant(in[0], 1));
}
Expr normal_pdf_value(const Expr* in) {
  return gaussian_times(min(abs(in[0]), largest_tail(in[0], 0.5)), 0.5,
                        constant(in[0], 0x1.9884533d43651p-2));
}

// x P(w) with w = -log(1 - x^2), in pieces over w and sqrt(w).
Expr erfinv_value(const Expr* in) {
  const Expr x = in[0], w = -log(fma(-x, x, 1)), root = sqrt(w);
  Expr p;
  if (is_double(x)) {
    const Expr center =
        poly(w - 3.125, {1.6536545626831027,      0.24015818242558826,     -0.006033670871427753,
                         -0.0007407025341539546,  0.00018673420802425486,  -1.38825233957932e-05,
                         -1.3654691844325875e-06, 4.23478819080114e-07,    -2.907038277646752e-08,
                         -4.112661979663924e-09,  1.0512183990547225e-09,  -5.4142389167323706e-11,
                         -1.2976958441666183e-11, 2.6303543637150925e-12,  -8.117006174900069e-14,
                         -3.998974362401111e-14,  6.594697424447042e-15,   -4.286935271719897e-17,
                         -1.3003891083202445e-16, 1.5760029479848554e-17,  1.1444060876866827e-18,
                         -3.575594250740621e-19,  -1.0090030266200075e-21, 3.3759077659992426e-21});
    const Expr middle =
        poly(root - 3.25, {3.0838856104922208,     1.0052589676941657,      0.005370914553570918,
                           -0.003751208508262974,  0.002491442097018009,    -0.0016882755342513042,
                           0.0009532893630797724,  -0.0003550378308312401,  2.4031263098538118e-05,
                           6.82872488095424e-05,   -4.731901541835523e-05,  1.2464433122172587e-05,
                           2.925823737159944e-06,  -3.984077320694e-06,     1.498546669984952e-06,
                           -3.026576806677094e-08, -2.7118719970862394e-07, 1.3394209977877e-07,
                           6.344970279741707e-10,  -1.618735923233183e-08});
    const Expr outer =
        poly(root - 5, {4.849906401408584, 1.0103004648645433, -0.0001387193183369185,
                        -0.00021503011971466335, 7.599527704663709e-05, -1.9681772387205142e-05,
                        4.526062419836339e-06, -9.930183217167787e-07, 2.2900576991657037e-07,
                        -6.759411418251655e-08, 2.9145283696476766e-08, -1.518212099992306e-08,
                        7.619710738340063e-09, -3.5506391626817353e-09, 1.5046312410363931e-09,
                        -3.9206696329943365e-10, -2.6209655669512524e-11, 3.2167340740929785e-11});
    p = select(w < 6.25, center, select(root < 4, middle, outer));
  } else {
    const Expr center =
        poly(w - 2.5, {1.5014093e+00, 2.4664028e-01, -4.1773706e-03, -1.2527414e-03, 2.183445e-04,
                       -4.963342e-06, -3.4627049e-06, 4.6616898e-07, 2.3232682e-08, -8.790919e-09});
    const Expr outer = poly(
        root - 3, {2.8329768e+00, 1.0016748e+00, 9.444176e-03, -7.634677e-03, 5.696167e-03,
                   -3.6094675e-03, 1.4615967e-03, -3.300095e-05, -2.9102134e-04, 9.8500226e-05});
    p = select(w < 5, center, outer);
  }
  return select(abs(x) == 1, x * kInf, x * p);
}

// e^(x^2): its exponent is exact as a pair, too.
Expr inverse_gaussian_value(const Expr* in) {
  const Pair square = square_exactly(min(abs(in[0]), pick(in[0], 20, 60)));
  const ExpParts parts = exp_parts(min(square.hi, pick(in[0], 90, 711)), square.lo);
  return scale_by_power(parts.m + 1, parts.steps);
}

const Fn inverse_gaussian_fn = {
    "inverse_gaussian", 1, inverse_gaussian_value, {[](Expr g, const Expr* in, Expr y) {
      return scaled(g, 2 * in[0] * y);
    }}};

}  // namespace

const Fn gaussian_fn = {"gaussian", 1, gaussian_value, {[](Expr g, const Expr* in, Expr y) {
                          return scaled(g, times_decaying(-2 * in[0], y));
                        }}};
const Fn normal_pdf_fn = {"normal_pdf", 1, normal_pdf_value, {[](Expr g, const Expr* in, Expr y) {
                            return scaled(g, times_decaying(-in[0], y));
                          }}};
const Fn erf_fn = {"erf", 1, erf_value, {[](Expr g, const Expr* in, Expr) {
                     return scaled(g, kTwoOverRootPi * gaussian(in[0]));
                   }}};
const Fn erfc_fn = {"erfc", 1, erfc_value, {[](Expr g, const Expr* in, Expr) {
                      return -scaled(g, kTwoOverRootPi * gaussian(in[0]));
                    }}};
const Fn ndtr_fn = {"ndtr", 1, ndtr_value, {[](Expr g, const Expr* in, Expr) {
                      return scaled(g, normal_pdf(in[0]));
                    }}};
const Fn erfinv_fn = {"erfinv", 1, erfinv_value, {[](Expr g, const Expr*, Expr y) {
                        return scaled(g, kHalfRootPi * call(inverse_gaussian_fn, y));
                      }}};

Expr gaussian(Expr x) { return call(gaussian_fn, x); }
Expr normal_pdf(Expr x) { return call(normal_pdf_fn, x); }
Expr erf(Expr x) { return call(erf_fn, x); }
Expr erfc(Expr x) { return call(erfc_fn, x); }
Expr ndtr(Expr x) { return call(ndtr_fn, x); }
Expr erfinv(Expr x) { return call(erfinv_fn, x); }

}  // namespace gradus::expr
