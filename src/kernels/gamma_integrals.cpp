// Where x is small, a power series; where it is large, a continued fraction. Derivatives with
// respect to a come along as jets: numbers that are the first terms of a Taylor series in a.
#include "kernels/gamma_integrals.h"

#include <array>
#include <cmath>
#include <limits>

#include "gradus/interrupt.h"

namespace gradus::kernels {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 100000;

// c[0] + c[1] h + ... + c[order] h^order
struct Jet {
  int order = 0;
  std::array<double, kMostDerivatives + 1> c{};

  Jet(int terms, double value, double slope = 0) : order(terms) {
    c[0] = value;
    if (order > 0) c[1] = slope;
  }
};

Jet operator+(Jet a, const Jet& b) {
  for (int i = 0; i <= a.order; ++i) a.c[i] += b.c[i];
  return a;
}
Jet operator*(const Jet& a, const Jet& b) {
  Jet y(a.order, 0);
  for (int i = 0; i <= a.order; ++i)
    for (int j = 0; j <= i; ++j) y.c[i] += a.c[j] * b.c[i - j];
  return y;
}
Jet operator/(const Jet& a, const Jet& b) {
  Jet y(a.order, 0);
  for (int i = 0; i <= a.order; ++i) {
    double rest = a.c[i];
    for (int j = 0; j < i; ++j) rest -= y.c[j] * b.c[i - j];
    y.c[i] = rest / b.c[0];
  }
  return y;
}
Jet exp(const Jet& a) {
  Jet y(a.order, std::exp(a.c[0]));
  for (int i = 1; i <= a.order; ++i) {
    for (int j = 1; j <= i; ++j) y.c[i] += j * a.c[j] * y.c[i - j];
    y.c[i] /= i;
  }
  return y;
}
// Whether adding x, or multiplying with 1 + x, would change nothing that is seen.
bool is_nothing(const Jet& x, const Jet& beside) {
  for (int i = 0; i <= x.order; ++i)
    if (!(std::abs(x.c[i]) <= kEpsilon * std::abs(beside.c[i]))) return false;
  return true;
}

// The k-th derivative of log(Gamma(a)) over k!, k > 0: by the recurrence to large arguments, then
// by Stirling's series.
double lgamma_coefficient(int k, double a) {
  double sum = 0;
  for (; a < 20; ++a) {
    sum += k == 1 ? 1 / a : std::pow(a, -k) / k * (k % 2 == 0 ? -1 : 1);
  }
  constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6};
  // d^k/da^k of (a - 1/2) log a - a + sum of B_2j / (2j (2j-1) a^(2j-1)), over k!
  const double sign = k % 2 == 0 ? 1 : -1;
  double value;
  if (k == 1) {
    value = std::log(a) - 0.5 / a;
  } else {
    value = sign * (std::pow(a, 1 - k) / (k * (k - 1.0)) + 0.5 * std::pow(a, -k) / k);
  }
  for (int j = 1; j <= 7; ++j) {
    double choose = 1;  // (2j-1) (2j) ... (2j+k-2) / k!
    for (int i = 0; i < k; ++i) choose *= (2.0 * j - 1 + i) / (i + 1);
    value += sign * kBernoulli[j - 1] / (2.0 * j * (2.0 * j - 1)) * choose *
             std::pow(a, -(2.0 * j - 1 + k));
  }
  return value - sum;
}

// x^a e^-x / Gamma(a)
Jet power_and_exponential(int order, double a, double x) {
  Jet log(order, a * std::log(x) - x - std::lgamma(a), std::log(x));
  for (int k = 1; k <= order; ++k) log.c[k] -= lgamma_coefficient(k, a);
  return exp(log);
}

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

double igamma_at(int order, bool upper, double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNaN;
  if (x == 0) return order == 0 && upper ? 1 : 0;
  if (std::isinf(x)) return order == 0 && !upper && std::isfinite(a) ? 1 : std::isinf(a) ? kNaN : 0;
  if (std::isinf(a)) return order == 0 && upper ? 1 : 0;
  const Jet front = power_and_exponential(order, a, x);
  const bool series = x <= 1 || x <= a;
  Jet value(order, 0);
  if (series) {  // sum of x^n / (a (a + 1) ... (a + n))
    Jet term = Jet(order, 1) / Jet(order, a, 1);
    value = term;
    for (int n = 1; n < kMostSteps && !is_nothing(term, value); ++n) {
      term = term * Jet(order, x) / Jet(order, a + n, 1);
      value = value + term;
    }
  } else {  // Lentz's evaluation of 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))
    Jet b(order, x + 1 - a, -1), c(order, 1 / std::numeric_limits<double>::min());
    Jet d = Jet(order, 1) / b;
    value = d;
    for (int n = 1; n < kMostSteps; ++n) {
      const Jet numerator(order, n * (a - n), n);
      b.c[0] += 2;
      d = Jet(order, 1) / (numerator * d + b);
      c = b + numerator / c;
      const Jet before = value;
      value = value * (c * d);
      Jet change = value;
      for (int i = 0; i <= order; ++i) change.c[i] -= before.c[i];
      if (is_nothing(change, value)) break;
    }
  }
  const double result = (front * value).c[order] * factorial(order);
  if (series != upper) return result;
  return order == 0 ? 1 - result : -result;
}

// Converges fast for x up to about (a + 1) / (a + b + 2).
double betainc_fraction(double a, double b, double x) {
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) -
                                std::lgamma(a) - std::lgamma(b)) /
                       a;
  // Lentz's evaluation of 1 / (1 + d_1 / (1 + d_2 / (1 + ...))).
  constexpr double kTiny = std::numeric_limits<double>::min();
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
  for (int n = 1; n < kMostSteps; ++n) {
    const double m = n;
    for (const double numerator : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + numerator * d;
      c = 1 + numerator / c;
      if (d == 0) d = kTiny;
      if (c == 0) c = kTiny;
      d = 1 / d;
      value *= c * d;
    }
    if (std::abs(c * d - 1) < kEpsilon) break;
  }
  return front * value;
}

double betainc_at(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNaN;
  if (x == 0 || x == 1) return x;
  return x > (a + 1) / (a + b + 2) ? 1 - betainc_fraction(b, a, 1 - x) : betainc_fraction(a, b, x);
}

template <class F>
void for_each(std::int64_t count, F&& f) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % 1024 == 0) check_interrupt();
    f(i);
  }
}

template <class F>
void with_type(DType t, F&& f) {
  t == float32 ? f(0.0f) : f(0.0);
}

}  // namespace

void igamma(DType t, int order, bool upper, const void* a, const void* x, std::int64_t count,
            void* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    for_each(count, [&](std::int64_t i) {
      static_cast<T*>(out)[i] = static_cast<T>(
          igamma_at(order, upper, static_cast<const T*>(a)[i], static_cast<const T*>(x)[i]));
    });
  });
}

void betainc(DType t, const void* a, const void* b, const void* x, std::int64_t count, void* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    for_each(count, [&](std::int64_t i) {
      static_cast<T*>(out)[i] = static_cast<T>(betainc_at(
          static_cast<const T*>(a)[i], static_cast<const T*>(b)[i], static_cast<const T*>(x)[i]));
    });
  });
}

}  // namespace gradus::kernels
