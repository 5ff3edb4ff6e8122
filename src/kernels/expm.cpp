// Scaling and squaring: e^a = (e^(a / 2^s))^(2^s), where e^x of the small matrix is the quotient of
// two polynomials of degree 13 (Pade's approximation, right to the last bit up to a norm of 5.37).
#include "kernels/expm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "gradus/interrupt.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"

namespace gradus::kernels {
namespace {

using Matrix = std::vector<double>;  // [n, n]

constexpr int kDegree = 13;
constexpr double kReach = 5.37;

Matrix product(const Matrix& a, const Matrix& b, std::int64_t n) {
  Matrix c(a.size());
  GemmArgs args;
  args.dtype = float64;
  args.m = args.n = args.k = n;
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();
  args.lda = args.ldb = args.ldc = n;
  gemm(args);
  return c;
}

// The coefficients of the numerator, lowest power first, from each to the next: those of the
// denominator have alternating signs.
std::vector<double> pade() {
  std::vector<double> c = {1};
  for (int k = 1; k <= kDegree; ++k)
    c.push_back(c.back() * (kDegree - k + 1) / (static_cast<double>(k) * (2 * kDegree - k + 1)));
  return c;
}

Matrix exponential(Matrix a, std::int64_t n) {
  double norm = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(a[static_cast<std::size_t>(i * n + j)]);
    norm = std::max(norm, sum);
  }
  const int squarings = norm > kReach ? std::max(0, std::ilogb(norm / kReach) + 1) : 0;
  for (double& x : a) x = std::ldexp(x, -squarings);
  // Even and odd powers apart: numerator even + odd, denominator even - odd.
  const std::vector<double> c = pade();
  const Matrix a2 = product(a, a, n);
  Matrix power(a.size()), even(a.size()), odd(a.size());
  for (std::int64_t i = 0; i < n; ++i) power[static_cast<std::size_t>(i * (n + 1))] = 1;
  for (std::size_t k = 0; k < c.size(); k += 2) {
    if (k > 0) power = product(power, a2, n);
    for (std::size_t i = 0; i < a.size(); ++i) {
      even[i] += c[k] * power[i];
      odd[i] += c[k + 1] * power[i];
    }
  }
  odd = product(a, odd, n);
  Matrix numerator(a.size()), denominator(a.size()), factors(a.size()), result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    numerator[i] = even[i] + odd[i];
    denominator[i] = even[i] - odd[i];
  }
  std::vector<std::int32_t> permutation(static_cast<std::size_t>(n));
  lu(float64, denominator.data(), 1, n, factors.data(), permutation.data());
  lu_solve(float64, factors.data(), permutation.data(), false, numerator.data(), 1, n, n,
           result.data());
  for (int i = 0; i < squarings; ++i) {
    check_interrupt();
    result = product(result, result, n);
  }
  return result;
}

template <class T>
void expm_of_all(const T* in, std::int64_t batch, std::int64_t n, T* out) {
  for (std::int64_t b = 0; b < batch; ++b, in += n * n, out += n * n) {
    const Matrix a(in, in + n * n);
    const bool finite = std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); });
    if (!finite) {
      std::fill_n(out, n * n, std::numeric_limits<T>::quiet_NaN());
      continue;
    }
    std::ranges::transform(exponential(a, n), out, [](double x) { return static_cast<T>(x); });
  }
}

}  // namespace

void expm(DType t, const void* in, std::int64_t batch, std::int64_t n, void* out) {
  if (n == 0) return;
  t == float32 ? expm_of_all(static_cast<const float*>(in), batch, n, static_cast<float*>(out))
               : expm_of_all(static_cast<const double*>(in), batch, n, static_cast<double*>(out));
}

}  // namespace gradus::kernels
