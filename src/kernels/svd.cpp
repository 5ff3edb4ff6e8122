// The shorter side of the matrix is a list of vectors. Rotations in planes of two of them make all
// of them orthogonal; then their lengths are the singular values, their directions the vectors of
// the longer side, and what the rotations make of the unit matrix those of the shorter side.
#include "kernels/svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/thread_pool.h"
#include "gradus/interrupt.h"

namespace gradus::kernels {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Vectors of equal length, one after the other.
struct Vectors {
  std::size_t count, length;
  std::vector<double> elements;
  Vectors(std::size_t n, std::size_t size) : count(n), length(size), elements(n * size) {}
  double* operator[](std::size_t i) { return elements.data() + i * length; }
  double dot(std::size_t i, std::size_t j) {
    return std::inner_product((*this)[i], (*this)[i] + length, (*this)[j], 0.0);
  }
  void rotate(std::size_t i, std::size_t j, double c, double s) {
    double *x = (*this)[i], *y = (*this)[j];
    for (std::size_t k = 0; k < length; ++k) {
      const double a = x[k], b = y[k];
      x[k] = c * a - s * b;
      y[k] = s * a + c * b;
    }
  }
};

void make_orthogonal(Vectors& vectors, Vectors& turned) {
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t i = 0; i + 1 < vectors.count; ++i) {
      check_interrupt();
      for (std::size_t j = i + 1; j < vectors.count; ++j) {
        const double xx = vectors.dot(i, i), yy = vectors.dot(j, j), xy = vectors.dot(i, j);
        if (std::abs(xy) <= kEpsilon * std::sqrt(xx) * std::sqrt(yy)) continue;
        const double theta = (yy - xx) / (2 * xy);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        vectors.rotate(i, j, c, s);
        turned.rotate(i, j, c, s);
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

// Gives vector `at` a direction that is orthogonal to those before it, which have length 1: that of
// the axis which is furthest from them, with its parts along them taken out, twice for accuracy.
void complete(Vectors& vectors, std::size_t at) {
  std::vector<double> near(vectors.length, 0.0);
  for (std::size_t i = 0; i < at; ++i)
    for (std::size_t k = 0; k < vectors.length; ++k) near[k] += vectors[i][k] * vectors[i][k];
  double* x = vectors[at];
  std::fill_n(x, vectors.length, 0.0);
  x[std::min_element(near.begin(), near.end()) - near.begin()] = 1;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < at; ++i) {
      const double along = vectors.dot(i, at);
      for (std::size_t k = 0; k < vectors.length; ++k) x[k] -= along * vectors[i][k];
    }
    const double size = std::sqrt(vectors.dot(at, at));
    for (std::size_t k = 0; k < vectors.length; ++k) x[k] /= size;
  }
}

template <class T>
struct Result {
  T *s, *u, *v;
};

template <class T>
void svd_of(const T* in, std::size_t m, std::size_t n, Result<T> out) {
  const bool high = m >= n;
  const std::size_t k = std::min(m, n);
  double largest = 0;
  bool finite = true;
  for (std::size_t i = 0; i < m * n; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(in[i])));
    finite &= std::isfinite(in[i]);
  }
  if (!finite) {
    for (auto [to, count] : {std::pair{out.s, k}, {out.u, m * k}, {out.v, n * k}})
      std::fill_n(to, count, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  // A power of two, so that squares neither overflow nor vanish and nothing is rounded.
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  Vectors vectors(k, std::max(m, n)), turned(k, k);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      (high ? vectors[j][i] : vectors[i][j]) =
          std::ldexp(static_cast<double>(in[i * n + j]), -exponent);
  for (std::size_t i = 0; i < k; ++i) turned[i][i] = 1;
  make_orthogonal(vectors, turned);

  std::vector<double> lengths(k);
  for (std::size_t i = 0; i < k; ++i) lengths[i] = std::sqrt(vectors.dot(i, i));
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
  Vectors sorted(k, vectors.length);
  for (std::size_t i = 0; i < k; ++i) {
    const double length = lengths[order[i]];
    if (length > kEpsilon * static_cast<double>(k) * lengths[order[0]]) {
      std::transform(vectors[order[i]], vectors[order[i]] + vectors.length, sorted[i],
                     [&](double x) { return x / length; });
    } else {
      complete(sorted, i);
    }
    out.s[i] = static_cast<T>(std::ldexp(length, exponent));
    const double *left = sorted[i], *right = turned[order[i]];
    if (!high) std::swap(left, right);
    const double* peak = std::max_element(
        left, left + m, [](double x, double y) { return std::abs(x) < std::abs(y); });
    const double sign = *peak < 0 ? -1 : 1;
    for (std::size_t j = 0; j < m; ++j) out.u[j * k + i] = static_cast<T>(sign * left[j]);
    for (std::size_t j = 0; j < n; ++j) out.v[j * k + i] = static_cast<T>(sign * right[j]);
  }
}

template <class T>
void svd_of_all(const void* in, std::int64_t batch, std::int64_t m, std::int64_t n, void* s,
                void* u, void* v) {
  const std::int64_t k = std::min(m, n);
  parallel_for(batch, [&](std::int64_t b) {
    svd_of<T>(static_cast<const T*>(in) + b * m * n, static_cast<std::size_t>(m),
              static_cast<std::size_t>(n),
              {static_cast<T*>(s) + b * k, static_cast<T*>(u) + b * m * k,
               static_cast<T*>(v) + b * n * k});
  });
}

}  // namespace

void svd(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n, void* s,
         void* u, void* v) {
  t == float32 ? svd_of_all<float>(in, batch, m, n, s, u, v)
               : svd_of_all<double>(in, batch, m, n, s, u, v);
}

}  // namespace gradus::kernels
