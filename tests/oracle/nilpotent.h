// The numbers of the oracle: real numbers with infinitesimals e_1 ... e_n, each with e_i^2 = 0.
//
// For a function f and directions v_1 ... v_n, the coefficient of e_1 e_2 ... e_n in
// f(x + e_1 v_1 + ... + e_n v_n) is the n-th derivative of f along these directions, whatever the
// function: so there are no rules of differentiation here. A program is computed once, with plain
// arithmetic on truncated series, and every mixed derivative is read off. Arithmetic is long
// double: what the engine's doubles differ by is the engine's error.
//
// This shares nothing with the engine: no expression, no rule, no kernel.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace oracle {

using Real = long double;
inline constexpr int kMaxOrder = 5;
inline constexpr Real kPi = 3.14159265358979323846264338327950288L;

// A point that this test does not look at: near a kink, a pole or the edge of a domain, or where
// numbers get so large that doubles could not tell.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const char* what) {
  if (!holds) throw Rejected(what);
}

class Nil {
 public:
  Nil(Real x = 0) { c_[0] = x; }  // NOLINT: numbers are numbers

  static Nil infinitesimal(int i) {
    Nil e;
    e.live_ = 1u << i;
    e.c_[e.live_] = 1;
    return e;
  }

  Real base() const { return c_[0]; }
  Real operator[](unsigned subset) const { return subset & ~live_ ? 0 : c_[subset]; }
  unsigned live() const { return live_; }  // the infinitesimals that occur
  bool is_plain() const { return live_ == 0; }

  // The factor of e_i, a number in the other infinitesimals.
  Nil part(int i) const {
    const unsigned bit = 1u << i;
    Nil result;
    if (!(live_ & bit)) return result;
    result.live_ = live_ & ~bit;
    for_subsets(result.live_, [&](unsigned s) { result.c_[s] = c_[s | bit]; });
    return result;
  }

  Nil without(int i) const {  // e_i = 0
    Nil result = *this;
    for_subsets(live_, [&](unsigned s) {
      if (s >> i & 1) result.c_[s] = 0;
    });
    result.live_ &= ~(1u << i);
    return result;
  }

  Nil operator-() const {
    Nil r = *this;
    for_subsets(live_, [&](unsigned s) { r.c_[s] = -c_[s]; });
    return r;
  }
  Nil& operator+=(const Nil& o) {
    live_ |= o.live_;
    for_subsets(o.live_, [&](unsigned s) { c_[s] += o.c_[s]; });
    return *this;
  }
  Nil& operator-=(const Nil& o) {
    live_ |= o.live_;
    for_subsets(o.live_, [&](unsigned s) { c_[s] -= o.c_[s]; });
    return *this;
  }
  friend Nil operator+(Nil a, const Nil& b) { return a += b; }
  friend Nil operator-(Nil a, const Nil& b) { return a -= b; }
  friend Nil operator*(const Nil& a, const Nil& b) {
    Nil r;
    r.live_ = a.live_ | b.live_;
    for_subsets(a.live_, [&](unsigned s) {
      for_subsets(b.live_ & ~s, [&](unsigned t) { r.c_[s | t] += a.c_[s] * b.c_[t]; });
    });
    return r;
  }
  Nil& operator*=(const Nil& o) { return *this = *this * o; }
  friend Nil operator/(const Nil& a, const Nil& b) { return a * inverse(b); }
  Nil& operator/=(const Nil& o) { return *this = *this / o; }

  // f of this number, given f's Taylor coefficients at the base: f^(k) / k!. More than kMaxOrder
  // are not needed, for the rest to the power of kMaxOrder + 1 is 0.
  using Taylor = std::array<Real, kMaxOrder + 1>;
  Nil compose(const Taylor& f) const {
    Nil rest = *this;
    rest.c_[0] = 0;
    const int degree = std::popcount(live_);
    Nil r(f[static_cast<std::size_t>(degree)]);
    for (int k = degree; k-- > 0;) r = r * rest + Nil(f[static_cast<std::size_t>(k)]);
    return r;
  }
  friend Nil inverse(const Nil& x) {
    Taylor f;
    f[0] = 1 / x.base();
    for (std::size_t k = 1; k < f.size(); ++k) f[k] = -f[k - 1] / x.base();
    return x.compose(f);
  }

  bool is_sane(Real limit) const {
    bool sane = true;
    for_subsets(live_, [&](unsigned s) { sane &= std::abs(c_[s]) < limit; });
    return sane;
  }

 private:
  template <class F>
  static void for_subsets(unsigned of, F f) {
    for (unsigned s = of;; s = (s - 1) & of) {
      f(s);
      if (s == 0) break;
    }
  }
  std::array<Real, 1u << kMaxOrder> c_ = {};
  unsigned live_ = 0;
};

inline Real base(const Nil& x) { return x.base(); }

// Elementary functions, from their Taylor coefficients.
inline Nil exp(const Nil& x) {
  Nil::Taylor f;
  f[0] = std::exp(x.base());
  for (std::size_t k = 1; k < f.size(); ++k) f[k] = f[k - 1] / static_cast<Real>(k);
  return x.compose(f);
}
inline Nil log(const Nil& x) {
  require(x.base() > 0, "log");
  Nil::Taylor f;
  f[0] = std::log(x.base());
  Real power = 1;
  for (std::size_t k = 1; k < f.size(); ++k) {
    power /= -x.base();
    f[k] = -power / static_cast<Real>(k);
  }
  return x.compose(f);
}
inline Nil power(const Nil& x, Real p) {  // a constant power
  Nil::Taylor f;
  f[0] = std::pow(x.base(), p);
  for (std::size_t k = 1; k < f.size(); ++k)
    f[k] = f[k - 1] * (p - static_cast<Real>(k - 1)) / static_cast<Real>(k) / x.base();
  return x.compose(f);
}
inline Nil sqrt(const Nil& x) {
  require(x.base() > 0, "sqrt");
  return power(x, 0.5L);
}
inline Nil sin(const Nil& x) {
  const Real s = std::sin(x.base()), c = std::cos(x.base());
  return x.compose({s, c, -s / 2, -c / 6, s / 24, c / 120});
}
inline Nil cos(const Nil& x) {
  const Real s = std::sin(x.base()), c = std::cos(x.base());
  return x.compose({c, -s, -c / 2, s / 6, c / 24, -s / 120});
}
// The derivative q = 1 / (1 + (a + t)^2) from (1 + a^2 + 2 a t + t^2) q = 1.
inline Nil atan(const Nil& x) {
  const Real a = x.base(), d = 1 + a * a;
  Nil::Taylor f = {std::atan(a), 1 / d};
  Real before = 0, q = 1 / d;
  for (std::size_t k = 2; k < f.size(); ++k) {
    const Real next = -(2 * a * q + before) / d;
    before = q;
    q = next;
    f[k] = q / static_cast<Real>(k);
  }
  return x.compose(f);
}
// The derivative is 2 / sqrt(pi) e with e = exp(-(a + t)^2), for which e' = -2 (a + t) e.
inline Nil erf(const Nil& x) {
  const Real a = x.base(), factor = 2 / std::sqrt(kPi);
  Nil::Taylor f = {std::erf(a)};
  Real before = 0, e = std::exp(-a * a);
  for (std::size_t k = 1; k < f.size(); ++k) {
    f[k] = factor * e / static_cast<Real>(k);
    const Real next = -2 * (a * e + before) / static_cast<Real>(k);
    before = e;
    e = next;
  }
  return x.compose(f);
}
// The angle at the base, and what is left after turning by it.
inline Nil atan2(const Nil& y, const Nil& x) {
  const Real angle = std::atan2(y.base(), x.base()), c = std::cos(angle), s = std::sin(angle);
  const Nil along = x * c + y * s, across = y * c - x * s;
  return atan(across / along) + angle;
}
inline Nil abs(const Nil& x) { return x.base() < 0 ? -x : x; }

// Complex numbers are pairs of these: infinitesimals are real, so that every function that is
// differentiable in the real sense (conj, abs, real, imag) has its derivatives here.
struct Complex {
  Nil re, im;
  Complex(const Nil& re = 0, const Nil& im = 0) : re(re), im(im) {}  // NOLINT
  Complex(Real x) : re(x) {}                                         // NOLINT

  Complex operator-() const { return {-re, -im}; }
  Complex& operator+=(const Complex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  Complex& operator-=(const Complex& o) {
    re -= o.re;
    im -= o.im;
    return *this;
  }
  friend Complex operator+(Complex a, const Complex& b) { return a += b; }
  friend Complex operator-(Complex a, const Complex& b) { return a -= b; }
  friend Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend Complex operator/(const Complex& a, const Complex& b) {
    const Nil scale = inverse(b.re * b.re + b.im * b.im);
    return {(a.re * b.re + a.im * b.im) * scale, (a.im * b.re - a.re * b.im) * scale};
  }
  Complex& operator*=(const Complex& o) { return *this = *this * o; }
  Complex& operator/=(const Complex& o) { return *this = *this / o; }
};

inline Complex inverse(const Complex& z) { return Complex(1) / z; }
inline Complex conj(const Complex& z) { return {z.re, -z.im}; }
inline Nil conj(const Nil& x) { return x; }
inline Nil abs(const Complex& z) { return sqrt(z.re * z.re + z.im * z.im); }
inline Complex times_i(const Complex& z) { return {-z.im, z.re}; }
inline Complex exp(const Complex& z) {
  const Nil size = exp(z.re);
  return {size * cos(z.im), size * sin(z.im)};
}
inline Complex log(const Complex& z) {
  require(z.re.base() > 0 || std::abs(z.im.base()) > 0.01L, "the cut of log");
  return {log(z.re * z.re + z.im * z.im) * 0.5L, atan2(z.im, z.re)};
}
inline Complex sqrt(const Complex& z) { return exp(log(z) * Complex(0.5L)); }
inline Complex sin(const Complex& z) {
  const Complex up = exp(times_i(z)), down = exp(-times_i(z));
  return -times_i(up - down) * Complex(0.5L);
}
inline Complex cos(const Complex& z) {
  return (exp(times_i(z)) + exp(-times_i(z))) * Complex(0.5L);
}
inline Complex atan(const Complex& z) {
  return times_i(log(Complex(1) - times_i(z)) - log(Complex(1) + times_i(z))) * Complex(0.5L);
}
inline Real base(const Complex& z) { return std::hypot(z.re.base(), z.im.base()); }  // its size

inline bool is_sane(const Nil& x, Real limit) { return x.is_sane(limit); }
inline bool is_sane(const Complex& z, Real limit) {
  return z.re.is_sane(limit) && z.im.is_sane(limit);
}
inline Nil part(const Nil& x, int i) { return x.part(i); }
inline Complex part(const Complex& z, int i) { return {z.re.part(i), z.im.part(i)}; }
inline Nil without(const Nil& x, int i) { return x.without(i); }
inline Complex without(const Complex& z, int i) { return {z.re.without(i), z.im.without(i)}; }

// Functions that are formulas in the ones above, of both kinds of numbers.
template <class S>
S tan(const S& x) {
  return sin(x) / cos(x);
}
template <class S>
S sinh(const S& x) {
  return (exp(x) - exp(-x)) * S(0.5L);
}
template <class S>
S cosh(const S& x) {
  return (exp(x) + exp(-x)) * S(0.5L);
}
template <class S>
S tanh(const S& x) {
  return S(1) - S(2) / (exp(x + x) + S(1));
}
template <class S>
S sigmoid(const S& x) {
  return S(1) / (S(1) + exp(-x));
}
template <class S>
S asinh(const S& x) {
  return log(x + sqrt(x * x + S(1)));
}
template <class S>
S acosh(const S& x) {
  return log(x + sqrt(x + S(1)) * sqrt(x - S(1)));
}
template <class S>
S atanh(const S& x) {
  return (log(S(1) + x) - log(S(1) - x)) * S(0.5L);
}
inline Nil asin(const Nil& x) { return atan(x / sqrt(Nil(1) - x * x)); }
inline Complex asin(const Complex& z) {
  return -times_i(log(times_i(z) + sqrt(Complex(1) - z * z)));
}
template <class S>
S acos(const S& x) {
  return S(kPi / 2) - asin(x);
}
template <class S>
S pow(const S& x, const S& y) {
  return exp(y * log(x));
}
// At a negative base the exponent counts as a constant.
inline Nil real_pow(const Nil& x, const Nil& y) {
  return x.base() > 0 ? exp(y * log(x)) : power(x, y.base());
}

}  // namespace oracle
