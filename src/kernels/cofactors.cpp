// With a = u s v^T, the determinant is det(u) det(v) times that of a diagonal matrix, and rotating
// the directions as well leaves a question about s alone. There only terms count that take rows
// and columns i_0 ... i_m from the directions, in some order of the columns, and the singular
// values of all other rows: no division, so a zero in s is a number like any other.
//
// Where a is far from singular, the first two orders come faster from the inverse:
// G = det a^-T, and det (tr(a^-1 h) a^-T - (a^-1 h a^-1)^T).
#include "kernels/cofactors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gradus/interrupt.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "kernels/svd.h"

namespace gradus::kernels {
namespace {

using Matrix = std::vector<double>;  // [n, n]

constexpr double kRegular = 1e-3;  // the least ratio of pivots for which inverses are used

Matrix product(const Matrix& a, bool transpose_a, const Matrix& b, bool transpose_b,
               std::int64_t n) {
  Matrix c(a.size());
  GemmArgs args;
  args.dtype = float64;
  args.m = args.n = args.k = n;
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();
  args.lda = args.ldb = args.ldc = n;
  args.trans_a = transpose_a;
  args.trans_b = transpose_b;
  gemm(args);
  return c;
}

struct Factors {
  Matrix lu;
  std::vector<std::int32_t> order;
  double det = 1, least = INFINITY, most = 0;  // pivots

  Factors(const Matrix& a, std::int64_t n) : lu(a.size()), order(static_cast<std::size_t>(n)) {
    kernels::lu(float64, a.data(), 1, n, lu.data(), order.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const double pivot = lu[static_cast<std::size_t>(i * (n + 1))];
      det *= pivot;
      least = std::min(least, std::abs(pivot));
      most = std::max(most, std::abs(pivot));
    }
    std::vector<std::int32_t> rows = order;  // put in order by swaps, each of which turns the sign
    for (std::size_t i = 0; i < rows.size(); ++i) {
      while (rows[i] != static_cast<std::int32_t>(i)) {
        std::swap(rows[i], rows[static_cast<std::size_t>(rows[i])]);
        det = -det;
      }
    }
  }
  bool is_regular() const { return least > kRegular * most && std::isfinite(det); }
};

Matrix by_inverse(const Factors& f, std::span<const Matrix> h, std::int64_t n) {
  Matrix unit(f.lu.size()), inverse(f.lu.size()), out(f.lu.size());
  for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * (n + 1))] = 1;
  lu_solve(float64, f.lu.data(), f.order.data(), false, unit.data(), 1, n, n, inverse.data());
  double trace = 1;
  Matrix turned(f.lu.size());
  if (!h.empty()) {
    const Matrix moved = product(inverse, false, h[0], false, n);
    trace = 0;
    for (std::int64_t i = 0; i < n; ++i) trace += moved[static_cast<std::size_t>(i * (n + 1))];
    turned = product(moved, false, inverse, false, n);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j),
                 from = static_cast<std::size_t>(j * n + i);
      out[at] = f.det * (trace * inverse[from] - turned[from]);
    }
  }
  return out;
}

// The sum over all choices of rows i_0 ... i_m and all orders of them as columns.
class Choices {
 public:
  Choices(const std::vector<double>& s, std::span<const Matrix> h, std::int64_t n)
      : s_(s),
        h_(h),
        n_(n),
        used_(static_cast<std::size_t>(n)),
        out_(h.empty() ? s.size() * s.size() : h[0].size()) {}

  Matrix run() {
    if (static_cast<std::int64_t>(h_.size()) < n_) choose(0);
    return std::move(out_);
  }

 private:
  void choose(std::size_t k) {
    if (k <= 1) check_interrupt();
    if (k > h_.size()) return add();
    for (std::int64_t i = 0; i < n_; ++i) {
      if (used_[static_cast<std::size_t>(i)]) continue;
      used_[static_cast<std::size_t>(i)] = true;
      rows_.push_back(i);
      choose(k + 1);
      rows_.pop_back();
      used_[static_cast<std::size_t>(i)] = false;
    }
  }
  void add() {
    double others = 1;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (!used_[i]) others *= s_[i];
    if (others == 0) return;
    std::vector<std::size_t> columns(rows_.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    do {
      double term = is_odd(columns) ? -others : others;
      for (std::size_t k = 0; k < h_.size(); ++k)
        term *= h_[k][at(rows_[k + 1], rows_[columns[k + 1]])];
      out_[at(rows_[0], rows_[columns[0]])] += term;
    } while (std::next_permutation(columns.begin(), columns.end()));
  }
  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * n_ + j);
  }
  static bool is_odd(const std::vector<std::size_t>& order) {
    bool odd = false;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j) odd ^= order[i] > order[j];
    return odd;
  }

  const std::vector<double>& s_;
  const std::span<const Matrix> h_;
  const std::int64_t n_;
  std::vector<bool> used_;
  std::vector<std::int64_t> rows_;
  Matrix out_;
};

Matrix by_singular_values(const Matrix& a, std::vector<Matrix> h, std::int64_t n) {
  std::vector<double> s(static_cast<std::size_t>(n));
  Matrix u(a.size()), v(a.size());
  svd(float64, a.data(), 1, n, n, s.data(), u.data(), v.data());
  if (n > 0 && std::isnan(s[0])) return Matrix(a.size(), s[0]);
  for (Matrix& x : h) x = product(u, true, product(x, false, v, false, n), false, n);
  Matrix g = Choices(s, h, n).run();
  const double sign = Factors(u, n).det * Factors(v, n).det;
  for (double& x : g) x = sign < 0 ? -x : x;
  return product(product(u, false, g, false, n), false, v, true, n);
}

template <class T>
void run(const T* a, std::span<const void* const> h, std::int64_t batch, std::int64_t n, T* out) {
  const std::int64_t size = n * n;
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto loaded = [&](const T* from) {
      return Matrix(from + b * size, from + (b + 1) * size);
    };
    const Matrix matrix = loaded(a);
    std::vector<Matrix> directions;
    for (const void* x : h) directions.push_back(loaded(static_cast<const T*>(x)));
    const Factors factors(matrix, n);
    const Matrix g = directions.size() < 2 && factors.is_regular()
                         ? by_inverse(factors, directions, n)
                         : by_singular_values(matrix, std::move(directions), n);
    std::transform(g.begin(), g.end(), out + b * size, [](double x) { return static_cast<T>(x); });
  }
}

}  // namespace

void cofactors(DType t, const void* a, std::span<const void* const> h, std::int64_t batch,
               std::int64_t n, void* out) {
  if (n == 0) return;
  if (t == float32)
    run(static_cast<const float*>(a), h, batch, n, static_cast<float*>(out));
  else
    run(static_cast<const double*>(a), h, batch, n, static_cast<double*>(out));
}

}  // namespace gradus::kernels
