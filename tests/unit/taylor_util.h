// Truncated Taylor series in one variable: f computed on x + t v gives all derivatives of f along v
// at once, f^(k) = k! times coefficient k. There are no rules of differentiation here, only the
// arithmetic of power series in long double, and nothing of the engine.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace gradus::taylor {

using Real = long double;
inline constexpr std::size_t kTerms = 5;  // up to the fourth derivative

class Series {
 public:
  Series(Real x = 0) : c_{x} {}  // NOLINT: numbers are numbers
  Series(Real x, Real slope) : c_{x, slope} {}

  Real value() const { return c_[0]; }
  Real operator[](std::size_t k) const { return c_[k]; }
  Real derivative(std::size_t order) const {
    Real result = c_[order];
    for (std::size_t k = 2; k <= order; ++k) result *= static_cast<Real>(k);
    return result;
  }

  Series& operator+=(const Series& b) {
    for (std::size_t k = 0; k < kTerms; ++k) c_[k] += b.c_[k];
    return *this;
  }
  Series operator-() const {
    Series r;
    for (std::size_t k = 0; k < kTerms; ++k) r.c_[k] = -c_[k];
    return r;
  }
  friend Series operator+(Series a, const Series& b) { return a += b; }
  friend Series operator-(const Series& a, const Series& b) { return a + -b; }
  friend Series operator*(const Series& a, const Series& b) {
    Series r;
    for (std::size_t k = 0; k < kTerms; ++k)
      for (std::size_t i = 0; i <= k; ++i) r.c_[k] += a.c_[i] * b.c_[k - i];
    return r;
  }
  Series& operator*=(const Series& b) { return *this = *this * b; }
  friend Series operator/(const Series& a, const Series& b) {  // from r b = a
    Series r;
    for (std::size_t k = 0; k < kTerms; ++k) {
      Real rest = a.c_[k];
      for (std::size_t i = 0; i < k; ++i) rest -= r.c_[i] * b.c_[k - i];
      r.c_[k] = rest / b.c_[0];
    }
    return r;
  }
  friend bool operator==(const Series& a, const Series& b) { return a.c_ == b.c_; }

  friend Series exp(const Series& x) {  // from e' = x' e
    Series e(std::exp(x.c_[0]));
    for (std::size_t k = 1; k < kTerms; ++k) {
      for (std::size_t i = 1; i <= k; ++i) e.c_[k] += static_cast<Real>(i) * x.c_[i] * e.c_[k - i];
      e.c_[k] /= static_cast<Real>(k);
    }
    return e;
  }
  friend Series log(const Series& x) {  // from x l' = x'
    Series l(std::log(x.c_[0]));
    for (std::size_t k = 1; k < kTerms; ++k) {
      Real rest = static_cast<Real>(k) * x.c_[k];
      for (std::size_t i = 1; i < k; ++i) rest -= static_cast<Real>(i) * l.c_[i] * x.c_[k - i];
      l.c_[k] = rest / static_cast<Real>(k) / x.c_[0];
    }
    return l;
  }
  friend Series sin(const Series& x) {
    Series s, c;
    circle(x, s, c);
    return s;
  }
  friend Series cos(const Series& x) {
    Series s, c;
    circle(x, s, c);
    return c;
  }

 private:
  // Both at once, from s' = x' c and c' = -x' s.
  static void circle(const Series& x, Series& s, Series& c) {
    s = std::sin(x.c_[0]);
    c = std::cos(x.c_[0]);
    for (std::size_t k = 1; k < kTerms; ++k) {
      for (std::size_t i = 1; i <= k; ++i) {
        const Real slope = static_cast<Real>(i) * x.c_[i] / static_cast<Real>(k);
        s.c_[k] += slope * c.c_[k - i];
        c.c_[k] -= slope * s.c_[k - i];
      }
    }
  }

  std::array<Real, kTerms> c_;
};

inline Series tanh(const Series& x) { return Series(1) - Series(2) / (exp(x + x) + Series(1)); }
inline Series square(const Series& x) { return x * x; }
inline Series power(const Series& x, int n) {
  Series r(1);
  for (int k = 0; k < n; ++k) r *= x;
  return r;
}

}  // namespace gradus::taylor
