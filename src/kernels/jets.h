// Numbers that are the first terms of a Taylor series in two variables: what is computed with them
// comes with all of its derivatives up to an order in each.
#pragma once
#include <cmath>

#include "base/small_vector.h"

namespace gradus::kernels {

struct Orders {
  int first = 0, second = 0;
};

// The sum of at(i, j) h^i k^j over i <= orders.first, j <= orders.second.
class Jet {
 public:
  Orders orders;

  explicit Jet(Orders o, double value = 0)
      : orders(o), c_(static_cast<std::size_t>((o.first + 1) * (o.second + 1))) {
    c_[0] = value;
  }
  // value + by_first h + by_second k
  Jet(Orders o, double value, double by_first, double by_second) : Jet(o, value) {
    if (o.first > 0) at(1, 0) = by_first;
    if (o.second > 0) at(0, 1) = by_second;
  }
  double& at(int i, int j) { return c_[static_cast<std::size_t>(i * (orders.second + 1) + j)]; }
  double at(int i, int j) const {
    return c_[static_cast<std::size_t>(i * (orders.second + 1) + j)];
  }
  std::size_t size() const { return c_.size(); }
  double& operator[](std::size_t k) { return c_[k]; }
  double operator[](std::size_t k) const { return c_[k]; }

 private:
  SmallVector<double, 6> c_;
};

template <class F>
void for_each_term(Orders o, F&& f) {
  for (int i = 0; i <= o.first; ++i)
    for (int j = 0; j <= o.second; ++j) f(i, j);
}

inline Jet operator+(Jet a, const Jet& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}
inline Jet operator*(const Jet& a, const Jet& b) {
  Jet y(a.orders);
  for_each_term(a.orders, [&](int i, int j) {
    double sum = 0;
    for_each_term({i, j}, [&](int p, int q) { sum += a.at(p, q) * b.at(i - p, j - q); });
    y.at(i, j) = sum;
  });
  return y;
}
inline Jet operator/(const Jet& a, const Jet& b) {
  Jet y(a.orders);
  for_each_term(a.orders, [&](int i, int j) {
    double rest = a.at(i, j);
    for_each_term({i, j}, [&](int p, int q) {
      if (p != i || q != j) rest -= y.at(p, q) * b.at(i - p, j - q);
    });
    y.at(i, j) = rest / b.at(0, 0);
  });
  return y;
}

// From y' = a' y, in the first variable where the term has it, else in the second.
inline Jet exp(const Jet& a) {
  Jet y(a.orders, std::exp(a.at(0, 0)));
  for_each_term(a.orders, [&](int i, int j) {
    if (i + j == 0) return;
    double sum = 0;
    for_each_term({i, j},
                  [&](int p, int q) { sum += (i > 0 ? p : q) * a.at(p, q) * y.at(i - p, j - q); });
    y.at(i, j) = sum / (i > 0 ? i : j);
  });
  return y;
}

// Whether a * b is 1 up to the rounding of its terms.
inline bool multiply_to_one(const Jet& a, const Jet& b) {
  constexpr double kEpsilon = 0x1p-52;
  bool is_one = true;
  for_each_term(a.orders, [&](int i, int j) {
    double sum = i + j == 0 ? -1 : 0, size = 0;
    for_each_term({i, j}, [&](int p, int q) {
      const double term = a.at(p, q) * b.at(i - p, j - q);
      sum += term;
      size += std::abs(term);
    });
    is_one &= std::abs(sum) <= 2 * kEpsilon * size;
  });
  return is_one;
}

}  // namespace gradus::kernels
