#include "expr/math_special.h"

#include <string>
#include <vector>

#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

// A rational guess that is right to 0.0005 at the tail's own scale sqrt(-2 log q), then two steps
// of Halley's iteration for the tail x with ndtr(-x) = q. Both tails have small q: nothing cancels.
Expr ndtri_value(const Expr* in) {
  const Expr p = in[0], upper = p > 0.5, q = select(upper, 1 - p, p);
  const Expr t = sqrt(-2 * log(q));
  Expr x = t - poly(t, {2.515517, 0.802853, 0.010328}) / poly(t, {1, 1.432788, 0.189269, 0.001308});
  for (int step = 0; step < 2; ++step) {
    const Expr miss = (ndtr(-x) - q) / normal_pdf(x);
    x = x + miss / fma(-0.5 * miss, x, constant(x, 1));
  }
  const Expr inside = select(p == 0.5, 0, select(upper, x, -x));
  return select(q > 0, inside, select(p == 0, -kInf, select(p == 1, kInf, constant(p, kNan))));
}

// The sum of z^k / (k! (k + order)!), which is the series of I_order for x = 2 sqrt(z): all terms
// are positive. Enough of them for |x| <= 8.
Expr bessel_series(Expr z, int order) {
  std::vector<double> c = {1};
  for (int k = 1; k < static_cast<int>(pick(z, 17, 27)); ++k)
    c.push_back(c.back() / (k * (k + order)));
  Expr sum = constant(z, c.back());
  for (std::size_t k = c.size() - 1; k-- > 0;) sum = fma(sum, z, constant(z, c[k]));
  return sum;
}

// sqrt(x) e^-x I(x) for x > 8, as a polynomial of 16 / x - 1.
Expr i0_tail(Expr a) {
  return poly(16 / a - 1,
              {0.402176509, 0.0033605557, 0.000136217164, 1.11121483e-5, 1.47611573e-6,
               3.62667038e-7, 1.08679425e-7},
              {0.40217650944500813,    0.0033605519836677505,   0.00013621607437904055,
               1.1143033800708979e-5,  1.4838480973971801e-6,   2.9735960465627117e-7,
               8.8713600387547075e-8,  3.9328893751146338e-8,   2.1620199017859249e-8,
               7.5343558438033422e-9,  -7.1010934904762743e-9,  -1.3326094405766387e-8,
               -4.3057274269883615e-9, 7.3359687108161539e-9,   5.1919580836693996e-9,
               -3.1346276429240789e-9, -2.9337366286377845e-9,  1.1050558794424346e-9,
               9.7357766250852429e-10, -2.8033819978869997e-10, -1.4824893214970785e-10,
               3.629355229718733e-11});
}
Expr i1_tail(Expr a) {
  return poly(16 / a - 1,
              {0.389398459, -0.00974958137, -0.000219237125, -1.50039655e-5, -1.82569073e-6,
               -4.21035016e-7, -1.22732172e-7},
              {0.38939845902587227,    -0.0097495771932356347, -0.00021923576382047056,
               -1.5038547209501858e-5, -1.8349106860450981e-6, -3.4838534380376332e-7,
               -1.0000393426323456e-7, -4.3131964899777332e-8, -2.344868241306537e-8,
               -8.4091820404429181e-9, 7.1023061012586322e-9,  1.3958551001385954e-8,
               4.8307021641857403e-9,  -7.4444414771972701e-9, -5.5590753458538015e-9,
               3.0868867367227253e-9,  3.1008802702394668e-9,  -1.0594544160443166e-9,
               -1.0230972770946492e-9, 2.6340771095136485e-10, 1.5532708319177999e-10,
               -3.3654318531801765e-11});
}

Expr series_argument(Expr a) { return 0.25 * square(min(a, 8)); }

Expr i0e_value(const Expr* in) {
  const Expr a = abs(in[0]), near = exp(-a) * bessel_series(series_argument(a), 0);
  return select(a <= 8, near, i0_tail(max(a, 8)) / sqrt(a));
}
Expr i1e_value(const Expr* in) {
  const Expr x = in[0], a = abs(x);
  const Expr near = exp(-a) * (0.5 * x) * bessel_series(series_argument(a), 1);
  return select(a <= 8, near, copy_sign(i1_tail(max(a, 8)) / sqrt(a), x));
}
// e^x in two factors, because it overflows before the function does.
Expr i0_value(const Expr* in) {
  const Expr a = abs(in[0]), half = exp(0.5 * a);
  const Expr far = select(is_inf(a), a, half * (half * bessel_i0e(a)));
  return select(a <= 8, bessel_series(series_argument(a), 0), far);
}
Expr i1_value(const Expr* in) {
  const Expr x = in[0], half = exp(0.5 * abs(x));
  const Expr far = select(is_inf(x), x, half * (half * bessel_i1e(x)));
  return select(abs(x) <= 8, (0.5 * x) * bessel_series(series_argument(abs(x)), 1), far);
}

// I_n(x) / x^n, which is smooth and even: its derivative is x times the next one.
constexpr int kMostQuotients = 24;
template <int kOrder>
const Fn& quotient_fn();
template <int kOrder>
Expr quotient_value(const Expr* in) {
  const Expr x = in[0], a = abs(x), far = max(a, 8);
  double scale = 1;  // 1 / (2^n n!)
  for (int k = 1; k <= kOrder; ++k) scale /= 2 * k;
  // Beyond 8 by I_(n+1) = I_(n-1) - 2 n / x I_n, each over its power of x.
  Expr before = bessel_i0(far), q = bessel_i1(far) / far;
  for (int k = 1; k < kOrder; ++k) {
    const Expr next = (before - (2 * k) * q) / square(far);
    before = q;
    q = next;
  }
  return select(a <= 8, scale * bessel_series(series_argument(a), kOrder), q);
}
template <int kOrder>
const Fn& quotient_fn() {
  static const std::string name = "bessel_quotient_" + std::to_string(kOrder);
  if constexpr (kOrder < kMostQuotients) {
    static const Fn fn = {
        name.c_str(), 1, quotient_value<kOrder>, {[](Expr g, const Expr* in, Expr) {
          return scaled(g, in[0] * call(quotient_fn<kOrder + 1>(), in[0]));
        }}};
    return fn;
  } else {
    static const Fn fn = {name.c_str(), 1, quotient_value<kOrder>};
    return fn;
  }
}
Expr i1_over_x(Expr x) { return call(quotient_fn<1>(), x); }

}  // namespace

const Fn ndtri_fn = {
    "ndtri", 1, ndtri_value, {[](Expr g, const Expr*, Expr y) { return ratio(g, normal_pdf(y)); }}};
const Fn bessel_i0_fn = {"bessel_i0", 1, i0_value, {[](Expr g, const Expr* in, Expr) {
                           return scaled(g, bessel_i1(in[0]));
                         }}};
const Fn bessel_i0e_fn = {"bessel_i0e", 1, i0e_value, {[](Expr g, const Expr* in, Expr y) {
                            return scaled(g, bessel_i1e(in[0]) - sign(in[0]) * y);
                          }}};
const Fn bessel_i1_fn = {"bessel_i1", 1, i1_value, {[](Expr g, const Expr* in, Expr) {
                           return scaled(g, bessel_i0(in[0]) - i1_over_x(in[0]));
                         }}};
const Fn bessel_i1e_fn = {"bessel_i1e", 1, i1e_value, {[](Expr g, const Expr* in, Expr y) {
                            const Expr x = in[0], a = abs(x);
                            const Expr quotient =
                                select(a <= 8, exp(-a) * i1_over_x(min(a, 8)), y / x);
                            return scaled(g, bessel_i0e(x) - sign(x) * y - quotient);
                          }}};

Expr ndtri(Expr p) { return call(ndtri_fn, p); }
Expr bessel_i0(Expr x) { return call(bessel_i0_fn, x); }
Expr bessel_i0e(Expr x) { return call(bessel_i0e_fn, x); }
Expr bessel_i1(Expr x) { return call(bessel_i1_fn, x); }
Expr bessel_i1e(Expr x) { return call(bessel_i1e_fn, x); }

}  // namespace gradus::expr
