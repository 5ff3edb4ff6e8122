#include "kernels/linalg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace gradus::kernels {
namespace {

template <class T>
class KernelsLinalg : public ::testing::Test {
 protected:
  static constexpr double kEpsilon = std::numeric_limits<T>::epsilon();

  std::vector<T> random_matrix(std::int64_t rows, std::int64_t columns) {
    std::normal_distribution<double> normal;
    std::vector<T> a(rows * columns);
    for (T& x : a) x = static_cast<T>(normal(random_));
    return a;
  }

  std::mt19937 random_{7};
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsLinalg, Types);

constexpr std::int64_t kSizes[] = {1, 2, 5, 63, 64, 65, 130, 200};

// The largest |op(a) x - b|, in long double.
template <class T>
double residual(const std::vector<T>& a, bool transpose, const std::vector<T>& x,
                const std::vector<T>& b, std::int64_t n, std::int64_t m) {
  long double worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      long double sum = -static_cast<long double>(b[i * m + j]);
      for (std::int64_t k = 0; k < n; ++k)
        sum += static_cast<long double>(transpose ? a[k * n + i] : a[i * n + k]) * x[k * m + j];
      worst = std::max(worst, std::abs(sum));
    }
  return static_cast<double>(worst);
}

TYPED_TEST(KernelsLinalg, CholeskyReproducesTheMatrix) {
  using T = TypeParam;
  for (const std::int64_t n : kSizes) {
    const std::vector<T> g = this->random_matrix(n, n);
    std::vector<T> a(n * n), l(n * n, T(9));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = i == j ? 1 : 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += static_cast<double>(g[i * n + k]) * g[j * n + k] / n;
        a[i * n + j] = static_cast<T>(sum);
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i + 1; j < n; ++j)
        a[i * n + j] = std::numeric_limits<T>::quiet_NaN();  // not read
    EXPECT_EQ(cholesky(dtype_v<T>, a.data(), 1, n, l.data()), -1);
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        if (j > i) {
          EXPECT_EQ(l[i * n + j], T(0));
          continue;
        }
        double sum = 0;
        for (std::int64_t k = 0; k <= j; ++k)
          sum += static_cast<double>(l[i * n + k]) * l[j * n + k];
        worst = std::max(worst, std::abs(sum - a[i * n + j]));
      }
    EXPECT_LT(worst, 10 * this->kEpsilon) << n;
  }
}

TYPED_TEST(KernelsLinalg, CholeskyOfWhatIsNotPositiveDefinite) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> a = {4, 0, 2, 5, 1, 2, 2, 1, nan, 0, 0, 1};
  std::vector<T> l(12);
  EXPECT_EQ(cholesky(dtype_v<T>, a.data(), 3, 2, l.data()), 1);
  EXPECT_EQ(std::vector<T>(l.begin(), l.begin() + 4), (std::vector<T>{2, 0, 1, 2}));
  for (int i = 4; i < 12; ++i) EXPECT_TRUE(std::isnan(l[i]));
}

TYPED_TEST(KernelsLinalg, TriangularSolveWithEveryFlag) {
  using T = TypeParam;
  for (const std::int64_t n : kSizes)
    for (const std::int64_t m : {1, 3, 70})
      for (int flags = 0; flags < 8; ++flags) {
        const Triangle triangle = {(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
        std::vector<T> a = this->random_matrix(n, n), clean(n * n, T(0));
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            T& x = a[i * n + j];
            const bool inside = triangle.lower ? j < i : j > i;
            if (i == j)
              x = triangle.unit ? std::numeric_limits<T>::quiet_NaN() : T(2) + std::abs(x);
            else if (inside)
              x /= static_cast<T>(n);
            else
              x = std::numeric_limits<T>::quiet_NaN();  // not read
            if (i == j || inside) clean[i * n + j] = i == j && triangle.unit ? T(1) : x;
          }
        const std::vector<T> b = this->random_matrix(n, m);
        std::vector<T> x(n * m);
        triangular_solve(dtype_v<T>, triangle, a.data(), b.data(), 1, n, m, x.data());
        EXPECT_LT(residual(clean, triangle.transpose, x, b, n, m), 60 * this->kEpsilon)
            << n << " " << m << " " << flags;
      }
}

TYPED_TEST(KernelsLinalg, LuSolves) {
  using T = TypeParam;
  for (const std::int64_t n : kSizes)
    for (const std::int64_t m : {1, 5}) {
      std::vector<T> a = this->random_matrix(n, n);
      if (n > 1) a[0] = 0;  // needs a pivot
      const std::vector<T> b = this->random_matrix(n, m);
      std::vector<T> factors(n * n), x(n * m);
      std::vector<std::int32_t> permutation(n);
      ASSERT_EQ(lu(dtype_v<T>, a.data(), 1, n, factors.data(), permutation.data()), -1);
      double worst = 0;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k <= std::min(i, j); ++k)
            sum += (k == i ? 1.0 : static_cast<double>(factors[i * n + k])) * factors[k * n + j];
          worst = std::max(worst, std::abs(sum - a[permutation[i] * n + j]));
          if (j < i) {
            EXPECT_LE(std::abs(factors[i * n + j]), T(1));
          }
        }
      EXPECT_LT(worst, (20 + n) * this->kEpsilon) << n;
      for (const bool transpose : {false, true}) {
        lu_solve(dtype_v<T>, factors.data(), permutation.data(), transpose, b.data(), 1, n, m,
                 x.data());
        double size = 1;
        for (const T v : x) size = std::max(size, std::abs(static_cast<double>(v)));
        EXPECT_LT(residual(a, transpose, x, b, n, m), 30 * std::sqrt(n) * size * this->kEpsilon)
            << n;
      }
    }
}

TYPED_TEST(KernelsLinalg, SingularMatricesAreNamed) {
  using T = TypeParam;
  const std::vector<T> a = {0, 2, 3, 4, 1, 2, 2, 4, 0, 0, 0, 0};
  std::vector<T> factors(12);
  std::vector<std::int32_t> permutation(6);
  EXPECT_EQ(lu(dtype_v<T>, a.data(), 3, 2, factors.data(), permutation.data()), 1);
  EXPECT_EQ(std::vector<T>(factors.begin(), factors.begin() + 4), (std::vector<T>{3, 4, 0, 2}));
  EXPECT_EQ(permutation[0], 1);
}

TYPED_TEST(KernelsLinalg, BatchesAndNothing) {
  using T = TypeParam;
  const std::int64_t batch = 50, n = 12, m = 2;
  std::vector<T> a = this->random_matrix(batch * n, n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i) a[(b * n + i) * n + i] += T(4);
  const std::vector<T> rhs = this->random_matrix(batch * n, m);
  std::vector<T> factors(a.size()), x(rhs.size()), one(n * m), one_factors(n * n);
  std::vector<std::int32_t> permutation(batch * n), one_permutation(n);
  lu(dtype_v<T>, a.data(), batch, n, factors.data(), permutation.data());
  lu_solve(dtype_v<T>, factors.data(), permutation.data(), false, rhs.data(), batch, n, m,
           x.data());
  for (std::int64_t b = 0; b < batch; ++b) {
    lu(dtype_v<T>, &a[b * n * n], 1, n, one_factors.data(), one_permutation.data());
    lu_solve(dtype_v<T>, one_factors.data(), one_permutation.data(), false, &rhs[b * n * m], 1, n,
             m, one.data());
    EXPECT_TRUE(std::equal(one.begin(), one.end(), x.begin() + b * n * m));
  }
  EXPECT_EQ(cholesky(dtype_v<T>, nullptr, 0, 3, nullptr), -1);
  EXPECT_EQ(lu(dtype_v<T>, nullptr, 2, 0, nullptr, nullptr), -1);
  triangular_solve(dtype_v<T>, {}, nullptr, nullptr, 2, 0, 3, nullptr);
}

}  // namespace
}  // namespace gradus::kernels
