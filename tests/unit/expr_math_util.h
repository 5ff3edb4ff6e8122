// Evaluates scalar functions and their derivatives on vectors, and measures errors in units in the
// last place against references in long double.
#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "expr/math.h"
#include "unit/expr_util.h"

namespace gradus::expr {

using Exprs = std::vector<Expr>;

template <class T>
std::vector<T> evaluate(const std::function<Expr(const Exprs&)>& f,
                        const std::vector<std::vector<T>>& inputs, Isa isa = best_isa()) {
  Builder b;
  Exprs in;
  std::vector<Array> arrays;
  for (const auto& values : inputs) {
    in.push_back(b.input(dtype_v<T>));
    arrays.push_back(Array::of(values));
  }
  b.output(f(in), dtype_v<T>);
  const Program p = b.finish();
  const auto count = static_cast<std::int64_t>(inputs[0].size());
  const Array out = run(compile(p, isa), p, 1, count, arrays)[0];
  std::vector<T> result;
  for (std::size_t i = 0; i < inputs[0].size(); ++i) result.push_back(out.at<T>(i));
  return result;
}

template <class T>
std::vector<T> evaluate(const Fn& fn, const std::vector<std::vector<T>>& inputs,
                        Isa isa = best_isa()) {
  return evaluate<T>([&](const Exprs& in) { return call(fn, in); }, inputs, isa);
}

// d fn / d in[k], with a cotangent of 1 that is not a constant to the compiler.
template <class T>
std::vector<T> derivative(const Fn& fn, int k, std::vector<std::vector<T>> inputs, T g = 1) {
  inputs.push_back(std::vector<T>(inputs[0].size(), g));
  return evaluate<T>(
      [&](const Exprs& in) {
        const Exprs args(in.begin(), in.end() - 1);
        return scale_through(call(fn, args), in[static_cast<std::size_t>(k)], in.back());
      },
      inputs);
}

// |got - want| in units of the last place that `want` has as a T.
template <class T>
double ulps(T got, long double want) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  if (static_cast<T>(want) == got) return 0;  // equal infinities, too
  if (std::isinf(want)) return HUGE_VAL;
  int exponent;
  std::frexp(want, &exponent);
  exponent = std::min(std::max(exponent, Limits::min_exponent), Limits::max_exponent);
  const long double finite = std::isinf(got) ? std::copysign(std::ldexp(1.0L, Limits::max_exponent),
                                                             static_cast<long double>(got))
                                             : static_cast<long double>(got);
  return static_cast<double>(std::fabs(finite - want) /
                             std::ldexp(1.0L, exponent - Limits::digits));
}

// References that the C library does not have.
namespace reference {

using Real = long double;
inline constexpr Real kPi = 3.14159265358979323846264338327950288L;

inline Real sigmoid(Real x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
inline Real sigmoid_slope(Real x) {
  const Real e = std::exp(-std::fabs(x));
  return e / ((1 + e) * (1 + e));
}
inline Real sech_squared(Real x) { return 4 * sigmoid_slope(2 * x); }
inline Real softplus(Real x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }
inline Real log_sigmoid(Real x) { return -softplus(-x); }
inline Real gaussian(Real x) { return std::exp(-x * x); }
inline Real normal_pdf(Real x) { return std::exp(-x * x / 2) / std::sqrt(2 * kPi); }
inline Real ndtr(Real x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }
inline Real gelu(Real x) { return x * ndtr(x); }
inline Real gelu_slope(Real x) { return ndtr(x) + x * normal_pdf(x); }
inline Real gelu_tanh(Real x) {
  return x * sigmoid(2 * std::sqrt(2 / kPi) * (x + 0.044715L * x * x * x));
}
inline Real silu(Real x) { return x * sigmoid(x); }
inline Real silu_slope(Real x) { return sigmoid(x) + x * sigmoid_slope(x); }
inline Real mish(Real x) { return x * std::tanh(softplus(x)); }
inline Real elu(Real x) { return x < 0 ? std::expm1(x) : x; }
inline Real selu(Real x) {
  return 1.0507009873554804934193349852946L *
         (x < 0 ? 1.6732632423543772848170429916717L * std::expm1(x) : x);
}
inline Real softsign(Real x) { return x / (1 + std::fabs(x)); }
inline Real rsqrt(Real x) { return 1 / std::sqrt(x); }
inline Real asin_slope(Real x) { return 1 / std::sqrt((1 - x) * (1 + x)); }
inline Real erf_slope(Real x) { return 2 / std::sqrt(kPi) * gaussian(x); }

inline Real digamma(Real x) {
  if (x < 0) return digamma(1 - x) - kPi / std::tan(kPi * (x - std::round(x)));
  Real sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const Real z = 1 / (x * x);
  return sum + std::log(x) - 0.5L / x -
         z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z / 132.0L))));
}
inline Real trigamma(Real x) {
  if (x < 0) {
    const Real s = std::sin(kPi * (x - std::round(x)));
    return kPi * kPi / (s * s) - trigamma(1 - x);
  }
  Real sum = 0;
  for (; x < 40; x += 1) sum += 1 / (x * x);
  const Real z = 1 / (x * x);
  return sum + 1 / x + z / 2 +
         z / x * (1 / 6.0L - z * (1 / 30.0L - z * (1 / 42.0L - z * (1 / 30.0L - z * 5 / 66.0L))));
}
// By Newton's method on whichever of erf and erfc keeps its digits.
inline Real erfinv(Real x) {
  const Real a = std::fabs(x);
  Real y = a < 0.9L ? a : std::sqrt(-std::log((1 - a) * (1 + a)));
  for (int i = 0; i < 80; ++i) {
    const Real miss = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    y -= std::fmin(std::fmax(miss / erf_slope(y), -0.3L), 0.3L);
  }
  return std::copysign(y, x);
}

}  // namespace reference
}  // namespace gradus::expr
