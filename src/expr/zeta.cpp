#include "expr/zeta.h"

#include <cmath>
#include <limits>
#include <vector>

namespace gradus::expr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The coefficients of 1, h, h^2 ... of a function of s + h.
using Terms = std::vector<double>;

// base^-(s + h)
Terms power(double base, double s, int order) {
  Terms terms{std::pow(base, -s)};
  for (int k = 1; k <= order; ++k) terms.push_back(terms.back() * -std::log(base) / k);
  return terms;
}
void add(Terms& sum, const Terms& more, double factor = 1) {
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += factor * more[k];
}
void multiply(Terms& x, double c) {  // by c + h
  for (std::size_t k = x.size(); k-- > 0;) x[k] = x[k] * c + (k > 0 ? x[k - 1] : 0);
}
void divide(Terms& x, double c) {  // by c + h
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = (x[k] - (k > 0 ? x[k - 1] : 0)) / c;
}

// For s > 1 and q > 0.
double series(int order, double s, double q) {
  Terms sum(static_cast<std::size_t>(order) + 1, 0.0);
  for (int k = kZetaTerms - 1; k >= 0; --k) add(sum, power(q + k, s, order));
  const double a = q + kZetaTerms;
  const Terms last = power(a, s, order);
  add(sum, last, 0.5);
  Terms integral = last, term = last;
  divide(integral, s - 1);
  add(sum, integral, a);
  multiply(term, s);
  double inverse = 1 / a;
  for (int j = 0; j < 9; ++j, inverse /= a * a) {
    add(sum, term, kZetaBernoulli[j] * inverse);
    multiply(term, s + (2 * j + 1));
    multiply(term, s + (2 * j + 2));
  }
  return sum.back() * std::tgamma(order + 1);
}

}  // namespace

double zeta_at(int order, double s, double q) {
  if (std::isinf(s) && s > 0 && q > 0 && order == 0) return std::pow(q, -s);  // the first term
  if (s > 1 && q > 0) return series(order, s, q);
  if (!(s > 1 && s == std::floor(s) && q < 0) || order > 0) return kNan;
  // The terms below 0 are, but for the sign, a sum that ends: a difference of two that do not.
  const double above = q - std::floor(q);  // the first term that is not below 0
  if (above == 0) return std::numeric_limits<double>::infinity();
  const double below = series(0, s, std::ceil(q) - q) - series(0, s, 1 - q);
  const bool is_odd = std::floor(s / 2) * 2 != s;
  return series(0, s, above) + (is_odd ? -below : below);
}

}  // namespace gradus::expr
