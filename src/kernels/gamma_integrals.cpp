// Where x is small, a power series; where it is large, a continued fraction. Derivatives with
// respect to a and b come along as jets.
#include "kernels/gamma_integrals.h"

#include <cmath>
#include <limits>

#include "gradus/interrupt.h"
#include "kernels/jets.h"

namespace gradus::kernels {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 100000;

// Whether adding x would change nothing that is seen.
bool is_nothing(const Jet& x, const Jet& beside) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (!(std::abs(x[k]) <= kEpsilon * std::abs(beside[k]))) return false;
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
Jet power_and_exponential(Orders orders, double a, double x) {
  Jet log(orders, a * std::log(x) - x - std::lgamma(a), std::log(x), 0);
  for (int k = 1; k <= orders.first; ++k) log.at(k, 0) -= lgamma_coefficient(k, a);
  return exp(log);
}

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

double igamma_at(int order, bool upper, double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNaN;
  if (x == 0) return order == 0 && upper ? 1 : 0;
  if (std::isinf(x)) return order == 0 && !upper && std::isfinite(a) ? 1 : std::isinf(a) ? kNaN : 0;
  if (std::isinf(a)) return order == 0 && upper ? 1 : 0;
  const Orders orders{order, 0};
  const Jet front = power_and_exponential(orders, a, x), one(orders, 1);
  const bool series = x <= 1 || x <= a;
  Jet value(orders);
  if (series) {  // sum of x^n / (a (a + 1) ... (a + n))
    Jet term = one / Jet(orders, a, 1, 0);
    value = term;
    for (int n = 1; n < kMostSteps && !is_nothing(term, value); ++n) {
      term = term * Jet(orders, x) / Jet(orders, a + n, 1, 0);
      value = value + term;
    }
  } else {  // Lentz's evaluation of 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))
    Jet b(orders, x + 1 - a, -1, 0), c(orders, 1 / std::numeric_limits<double>::min());
    Jet d = one / b;
    value = d;
    for (int n = 1; n < kMostSteps; ++n) {
      const Jet numerator(orders, n * (a - n), n, 0);
      b[0] += 2;
      d = one / (numerator * d + b);
      c = b + numerator / c;
      value = value * (c * d);
      if (multiply_to_one(c, d)) break;
    }
  }
  const double result = (front * value).at(order, 0) * factorial(order);
  if (series != upper) return result;
  return order == 0 ? 1 - result : -result;
}

// x^a (1-x)^b / (a B(a, b))
Jet beta_front(Orders orders, double a, double b, double x) {
  Jet log(
      orders,
      a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b),
      std::log(x), std::log1p(-x));
  for_each_term(orders, [&](int i, int j) {
    if (i + j == 0) return;
    double choose = 1;  // i + j over i
    for (int k = 1; k <= i; ++k) choose *= static_cast<double>(j + k) / k;
    log.at(i, j) += choose * lgamma_coefficient(i + j, a + b);
    if (j == 0) log.at(i, 0) -= lgamma_coefficient(i, a);
    if (i == 0) log.at(0, j) -= lgamma_coefficient(j, b);
  });
  return exp(log) / Jet(orders, a, 1, 0);
}

// The orders are in a and in b. Converges fast for x up to about (a + 1) / (a + b + 2).
double betainc_fraction(Orders orders, double a, double b, double x) {
  // Lentz's evaluation of 1 / (1 + d_1 / (1 + d_2 / (1 + ...))).
  constexpr double kTiny = std::numeric_limits<double>::min();
  const Jet one(orders, 1), minus_x(orders, -x);
  const auto a_plus = [&](double m) { return Jet(orders, a + m, 1, 0); };
  const auto both_plus = [&](double m) { return Jet(orders, a + b + m, 1, 1); };
  Jet c = one, d = one / (one + minus_x * both_plus(0) / a_plus(1)), value = d;
  for (int n = 1; n < kMostSteps; ++n) {
    const double m = n;
    const Jet even = Jet(orders, m * x * (b - m), 0, m * x) / (a_plus(2 * m - 1) * a_plus(2 * m));
    const Jet odd = minus_x * a_plus(m) * both_plus(m) / (a_plus(2 * m) * a_plus(2 * m + 1));
    for (const Jet* numerator : {&even, &odd}) {
      d = one + *numerator * d;
      c = one + *numerator / c;
      if (d[0] == 0) d[0] = kTiny;
      if (c[0] == 0) c[0] = kTiny;
      d = one / d;
      value = value * (c * d);
    }
    if (multiply_to_one(c, d)) break;
  }
  const Jet result = beta_front(orders, a, b, x) * value;
  return result.at(orders.first, orders.second) * factorial(orders.first) *
         factorial(orders.second);
}

double betainc_at(Orders orders, double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNaN;
  const bool is_value = orders.first + orders.second == 0;
  if (x == 0 || x == 1) return is_value ? x : 0;
  if (x <= (a + 1) / (a + b + 2)) return betainc_fraction(orders, a, b, x);
  const double rest = betainc_fraction({orders.second, orders.first}, b, a, 1 - x);
  return is_value ? 1 - rest : -rest;
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

void betainc(DType t, int order_a, int order_b, const void* a, const void* b, const void* x,
             std::int64_t count, void* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    for_each(count, [&](std::int64_t i) {
      static_cast<T*>(out)[i] =
          static_cast<T>(betainc_at({order_a, order_b}, static_cast<const T*>(a)[i],
                                    static_cast<const T*>(b)[i], static_cast<const T*>(x)[i]));
    });
  });
}

}  // namespace gradus::kernels
