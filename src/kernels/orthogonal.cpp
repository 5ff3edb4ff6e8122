#include "kernels/orthogonal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/thread_pool.h"
#include "gradus/interrupt.h"

namespace gradus::kernels {
namespace {

using Doubles = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// One row-major matrix.
struct Matrix {
  Doubles elements;
  std::size_t columns;
  Matrix(std::size_t rows, std::size_t cols) : elements(rows * cols), columns(cols) {}
  double& operator()(std::size_t i, std::size_t j) { return elements[i * columns + j]; }
};

// Turns coordinates p and q of all rows: [x_p, x_q] becomes [c x_p - s x_q, s x_p + c x_q].
void rotate_columns(Matrix& m, std::size_t rows, std::size_t p, std::size_t q, double c, double s) {
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = m(i, p), y = m(i, q);
    m(i, p) = c * x - s * y;
    m(i, q) = s * x + c * y;
  }
}
void rotate_rows(Matrix& m, std::size_t p, std::size_t q, double c, double s) {
  double *x = &m(p, 0), *y = &m(q, 0);
  for (std::size_t i = 0; i < m.columns; ++i) {
    const double u = x[i], v = y[i];
    x[i] = c * u - s * v;
    y[i] = s * u + c * v;
  }
}

// Makes `a` diagonal; v has the transposed vectors in its rows.
void diagonalise(Matrix& a, Matrix& v, std::size_t n) {
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t p = 0; p < n; ++p) {
      check_interrupt();
      for (std::size_t q = p + 1; q < n; ++q) {
        const double off = a(p, q);
        // Nothing that adding it to the diagonal could change.
        if (std::abs(off) <= 1e-17 * std::sqrt(std::abs(a(p, p)) * std::abs(a(q, q)))) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * off);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        if (s == 0) continue;
        rotate_columns(a, n, p, q, c, s);
        rotate_rows(a, p, q, c, s);
        a(p, q) = a(q, p) = 0;
        rotate_rows(v, p, q, c, s);
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

template <class T>
void eigh_of(const T* in, std::size_t n, T* values, T* vectors) {
  Matrix a(n, n), v(n, n);
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      a(i, j) = a(j, i) = static_cast<double>(in[i * n + j]);
      finite &= std::isfinite(in[i * n + j]);
    }
    v(i, i) = 1;
  }
  if (!finite) {
    std::fill_n(values, n, static_cast<T>(kNaN));
    std::fill_n(vectors, n * n, static_cast<T>(kNaN));
    return;
  }
  diagonalise(a, v, n);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a(i, i) < a(j, j); });
  for (std::size_t j = 0; j < n; ++j) {
    const double* vector = &v(order[j], 0);
    const double* largest = std::max_element(
        vector, vector + n, [](double x, double y) { return std::abs(x) < std::abs(y); });
    const double sign = *largest < 0 ? -1 : 1;
    values[j] = static_cast<T>(a(order[j], order[j]));
    for (std::size_t i = 0; i < n; ++i) vectors[i * n + j] = static_cast<T>(sign * vector[i]);
  }
}

// Reflects rows `first` and below of m, from column `from` on, at the plane normal to u.
void reflect(Matrix& m, const Doubles& u, std::size_t first, std::size_t from) {
  for (std::size_t j = from; j < m.columns; ++j) {
    double dot = 0;
    for (std::size_t i = 0; i < u.size(); ++i) dot += u[i] * m(first + i, j);
    for (std::size_t i = 0; i < u.size(); ++i) m(first + i, j) -= 2 * dot * u[i];
  }
}

template <class T>
void qr_of(const T* in, std::size_t m, std::size_t n, std::size_t k, T* q, T* r) {
  Matrix a(m, n), product(m, k);
  bool finite = true;
  for (std::size_t i = 0; i < m * n; ++i) {
    a.elements[i] = static_cast<double>(in[i]);
    finite &= std::isfinite(in[i]);
  }
  if (!finite) {
    std::fill_n(q, m * k, static_cast<T>(kNaN));
    std::fill_n(r, k * n, static_cast<T>(kNaN));
    return;
  }
  std::vector<Doubles> normals(std::min(m, n));
  for (std::size_t j = 0; j < normals.size(); ++j) {
    check_interrupt();
    Doubles& u = normals[j];
    double below = 0;
    for (std::size_t i = j; i < m; ++i) {
      u.push_back(a(i, j));
      if (i > j) below = std::hypot(below, a(i, j));
    }
    if (below == 0) {
      u.clear();  // nothing to reflect
      continue;
    }
    u[0] += std::copysign(std::hypot(below, u[0]), u[0]);
    double norm = 0;
    for (const double x : u) norm = std::hypot(norm, x);
    for (double& x : u) x /= norm;
    reflect(a, u, j, j);
  }
  for (std::size_t i = 0; i < k; ++i) product(i, i) = 1;
  for (std::size_t j = normals.size(); j-- > 0;) reflect(product, normals[j], j, 0);
  for (std::size_t i = 0; i < m * k; ++i) q[i] = static_cast<T>(product.elements[i]);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < n; ++j) r[i * n + j] = j < i ? T(0) : static_cast<T>(a(i, j));
}

template <class F>
void with_type(DType t, F&& f) {
  t == float32 ? f(0.0f) : f(0.0);
}

}  // namespace

void eigh(DType t, const void* in, std::int64_t batch, std::int64_t n, void* values,
          void* vectors) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(batch, [&](std::int64_t b) {
      eigh_of(static_cast<const T*>(in) + b * n * n, static_cast<std::size_t>(n),
              static_cast<T*>(values) + b * n, static_cast<T*>(vectors) + b * n * n);
    });
  });
}

void qr(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
        void* q, void* r) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(batch, [&](std::int64_t b) {
      qr_of(static_cast<const T*>(in) + b * m * n, static_cast<std::size_t>(m),
            static_cast<std::size_t>(n), static_cast<std::size_t>(k),
            static_cast<T*>(q) + b * m * k, static_cast<T*>(r) + b * k * n);
    });
  });
}

void complement(DType t, const void* in, std::int64_t batch, std::int64_t m, std::int64_t n,
                void* out) {
  const auto rows = static_cast<std::size_t>(m), columns = static_cast<std::size_t>(n);
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(batch, [&](std::int64_t b) {
      std::vector<T> q(rows * rows), r(rows * columns);
      qr_of(static_cast<const T*>(in) + b * m * n, rows, columns, rows, q.data(), r.data());
      T* to = static_cast<T*>(out) + b * m * (m - n);
      for (std::size_t i = 0; i < rows; ++i)
        to = std::copy(&q[i * rows] + columns, &q[i * rows] + rows, to);
    });
  });
}

}  // namespace gradus::kernels
