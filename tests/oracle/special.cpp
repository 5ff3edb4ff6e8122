#include "oracle/special.h"

namespace oracle {
namespace {

// B_2, B_4, ...
constexpr Real kBernoulli[] = {1.0L / 6,         -1.0L / 30,      1.0L / 42,
                               -1.0L / 30,       5.0L / 66,       -691.0L / 2730,
                               7.0L / 6,         -3617.0L / 510,  43867.0L / 798,
                               -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730};
constexpr Real kLarge = 25;  // from here on the asymptotic series below have all digits

}  // namespace

// Stirling's series, after log(Gamma(x)) = log(Gamma(x + 1)) - log(x).
Nil lgamma(Nil x) {
  require(x.base() > 0.05L, "lgamma");
  Nil sum = 0;
  for (; x.base() < kLarge; x += 1) sum -= log(x);
  sum += (x - Nil(0.5L)) * log(x) - x + Nil(std::log(2 * kPi) / 2);
  const Nil step = inverse(x * x);
  Nil power = inverse(x);
  for (int j = 1; j <= 12; ++j, power *= step)
    sum += power * Nil(kBernoulli[j - 1] / static_cast<Real>(2 * j * (2 * j - 1)));
  return sum;
}

Nil digamma(Nil x) {
  require(x.base() > 0.05L, "digamma");
  Nil sum = 0;
  for (; x.base() < kLarge; x += 1) sum -= inverse(x);
  sum += log(x) - inverse(x) * Nil(0.5L);
  const Nil step = inverse(x * x);
  Nil power = step;
  for (int j = 1; j <= 12; ++j, power *= step)
    sum -= power * Nil(kBernoulli[j - 1] / static_cast<Real>(2 * j));
  return sum;
}

// Euler and Maclaurin's formula.
Nil zeta(const Nil& s, Nil q) {
  require(s.base() > 1.05L && q.base() > 0.05L, "zeta");
  Nil sum = 0;
  for (; q.base() < kLarge; q += 1) sum += exp(-s * log(q));
  Nil power = exp(-s * log(q));
  sum += power * q / (s - Nil(1)) + power * Nil(0.5L);
  const Nil step = inverse(q * q);
  Nil factor = s / q;  // s (s + 1) ... (s + 2j - 2) / (2j)! q^-(2j - 1)
  Real factorial = 2;
  for (int j = 1; j <= 12; ++j) {
    sum += power * factor * Nil(kBernoulli[j - 1] / factorial);
    factor *= (s + Nil(2 * j - 1)) * (s + Nil(2 * j)) * step;
    factorial *= static_cast<Real>((2 * j + 1) * (2 * j + 2));
  }
  return sum;
}

Nil polygamma(int n, const Nil& x) {
  if (n == 0) return digamma(x);
  return zeta(Nil(n + 1), x) * Nil((n % 2 ? 1 : -1) * std::tgamma(static_cast<Real>(n + 1)));
}

// Bisection for the base, Newton's method for the rest: each step doubles the right orders.
Nil erfinv(const Nil& x) {
  require(std::abs(x.base()) < 0.99L, "erfinv");
  Real low = -3, high = 3;
  for (int i = 0; i < 80; ++i) {
    const Real middle = (low + high) / 2;
    (std::erf(middle) < x.base() ? low : high) = middle;
  }
  Nil y = (low + high) / 2;
  for (int i = 0; i < 4; ++i) y -= (erf(y) - x) * exp(y * y) * Nil(std::sqrt(kPi) / 2);
  return y;
}

Nil bessel_i0(const Nil& x) {
  const Nil q = x * x * Nil(0.25L);
  Nil term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) sum += term *= q * Nil(1 / static_cast<Real>(k * k));
  return sum;
}

Nil bessel_i1(const Nil& x) {
  const Nil q = x * x * Nil(0.25L);
  Nil term = x * Nil(0.5L), sum = term;
  for (int k = 1; k < 60; ++k) sum += term *= q * Nil(1 / static_cast<Real>(k * (k + 1)));
  return sum;
}

// x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...)
Nil igamma(const Nil& a, const Nil& x) {
  require(a.base() > 0.05L && x.base() > 0.02L && x.base() < 12, "igamma");
  Nil term = exp(a * log(x) - x - lgamma(a + Nil(1))), sum = term;
  for (int n = 1; n < 80; ++n) sum += term *= x / (a + Nil(n));
  return sum;
}

// x^a (1 - x)^b / (a B(a, b)) (1 + (a + b) / (a + 1) x + (a + b) (a + b + 1) / ((a + 1) (a + 2))
// x^2 + ...)
Nil betainc(const Nil& a, const Nil& b, const Nil& x) {
  require(a.base() > 0.05L && b.base() > 0.05L && x.base() > 0.02L && x.base() < 0.9L, "betainc");
  const Nil log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  Nil term = exp(a * log(x) + b * log(Nil(1) - x) - log_beta) / a, sum = term;
  for (int n = 0; n < 500; ++n) {
    term *= x * (a + b + Nil(n)) / (a + Nil(n + 1));
    sum += term;
    if (std::abs(term.base()) < 1e-24L && n > 60) break;
  }
  return sum;
}

}  // namespace oracle
