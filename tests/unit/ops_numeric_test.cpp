// Decompositions, Fourier transforms and special functions: values, and what is special about them.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "gradus/gradus.h"

namespace gradus {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor numbers(const Shape& shape) {
  return random::stateless_normal(shape, Tensor{1, 2}, {.dtype = float64});
}

Tensor unit(std::int64_t n) { return eye(n, -1, {}, float64); }

double distance(const Tensor& a, const Tensor& b) { return reduce_max(abs(a - b)).item<double>(); }

TEST(OpsSvd, PutsMatricesTogetherAgain) {
  for (const Shape& shape : {Shape{4, 4}, {5, 2}, {2, 5}, {3, 4, 2}, {1, 1}}) {
    const Tensor a = numbers(shape);
    const auto [s, u, v] = linalg::svd(a);
    EXPECT_LT(distance(matmul(u * expand_dims(s, -2), v, {.transpose_b = true}), a), 1e-13);
    const Tensor one = matmul(u, u, {.transpose_a = true});
    EXPECT_LT(distance(one, broadcast_to(unit(s.shape().back()), one.shape())), 1e-14);
  }
}

TEST(OpsSvd, OfSingularMatricesIsOrthogonalToo) {
  const Tensor a = Tensor::from(std::vector<double>{1, 2, 3, 2, 4, 6, 0, 0, 0, 3, 6, 9}, {4, 3});
  const auto [s, u, v] = linalg::svd(a, true);
  EXPECT_EQ(u.shape(), (Shape{4, 4}));
  EXPECT_LT(distance(matmul(u, u, {.transpose_a = true}), unit(4)), 1e-14);
  EXPECT_LT(distance(matmul(v, v, {.transpose_a = true}), unit(3)), 1e-14);
  EXPECT_NEAR(s.data<double>()[0], std::sqrt(14.0 * 14), 1e-13);
  EXPECT_LT(s.data<double>()[1], 1e-14);
}

TEST(OpsSvd, NeitherOverflowsNorVanishes) {
  for (const double scale : {1e-300, 1e300}) {
    const Tensor s = linalg::svd(scale * Tensor{{3.0, 0.0}, {4.0, 0.0}}).s;
    EXPECT_NEAR(s.data<double>()[0] / scale, 5, 1e-14);
    EXPECT_EQ(s.data<double>()[1], 0);
  }
  const double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(linalg::svd(Tensor{{3 * smallest}, {4 * smallest}}).s.item<double>(), 5 * smallest);
  EXPECT_TRUE(std::isnan(linalg::svd(Tensor{{1.0, kInf}}).s.item<double>()));
}

TEST(OpsQr, OfWideMatrices) {
  const Tensor a = numbers({2, 3, 5});
  const auto [q, r] = linalg::qr(a);
  EXPECT_EQ(q.shape(), (Shape{2, 3, 3}));
  EXPECT_LT(distance(matmul(q, r), a), 1e-14);
  EXPECT_EQ(distance(linalg::band_part(r, 0, -1), r), 0);
}

TEST(OpsQr, LeavesTheLastRowOfASquareAlone) {
  const auto [q, r] = linalg::qr(Tensor{{2.0, 1.0}, {0.0, -3.0}});
  EXPECT_EQ(distance(q, unit(2)), 0);
  EXPECT_EQ(r.data<double>()[3], -3);
}

TEST(OpsExpm, OfLargeMatrices) {
  const Tensor turn = linalg::expm(Tensor{{0.0, -100.0}, {100.0, 0.0}});
  EXPECT_NEAR(turn.data<double>()[0], std::cos(100.0), 1e-11);
  EXPECT_NEAR(turn.data<double>()[2], std::sin(100.0), 1e-11);
}

Tensor slow_fft(const Tensor& x) {
  const std::int64_t n = x.num_elements();
  std::vector<std::complex<double>> out;
  for (std::int64_t j = 0; j < n; ++j) {
    std::complex<double> sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      sum += x.data<std::complex<double>>()[k] *
             std::polar(1.0, -2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
    }
    out.push_back(sum);
  }
  return Tensor::from(out, {n});
}

TEST(OpsFft, OfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 4, 6, 8, 31, 32, 37, 60, 74, 97, 128, 1009}) {
    const Tensor x = complex(numbers({n}), numbers({n}) * 2.0);
    EXPECT_LT(distance(signal::fft(x), slow_fft(x)), 1e-11 * static_cast<double>(n)) << n;
    EXPECT_LT(distance(signal::ifft(signal::fft(x)), x), 1e-12) << n;
    const Tensor real_numbers = numbers({n});
    EXPECT_LT(distance(signal::irfft(signal::rfft(real_numbers, {n}), {n}), real_numbers), 1e-12);
  }
}

TEST(OpsFft, OverSeveralAxes) {
  const Tensor x = numbers({3, 4, 5});
  EXPECT_LT(distance(signal::irfft(signal::rfft(x, {4, 5}), {4, 5}), x), 1e-14);
  EXPECT_LT(distance(signal::irfft(signal::rfft(x, {3, 4, 5}), {3, 4, 5}), x), 1e-14);
  EXPECT_EQ(signal::rfft(x, {2, 8}).shape(), (Shape{3, 2, 5}));
}

TEST(OpsFft, OfAsManyNumbersAsWereAskedForInFunctionsToo) {
  const auto f = function([](const Tensor& x) { return signal::rfft(x, {6}); });
  for (const std::int64_t n : {5, 3, 7, 6, 1})
    EXPECT_LT(distance(f(numbers({n})), signal::rfft(numbers({n}), {6})), 1e-14) << n;
}

TEST(OpsSpecial, AtTheEdges) {
  const auto at = [](Tensor (*f)(In), double x) { return f(Tensor(x)).item<double>(); };
  EXPECT_EQ(at(ndtri, 0), -kInf);
  EXPECT_EQ(at(ndtri, 1), kInf);
  EXPECT_EQ(at(ndtri, 0.5), 0);
  EXPECT_TRUE(std::isnan(at(ndtri, 1.5)));
  EXPECT_NEAR(at(ndtri, 1e-300), -37.0471, 1e-4);
  EXPECT_NEAR(at(ndtr, at(ndtri, 1e-10)) / 1e-10, 1, 1e-13);
  EXPECT_EQ(at(bessel_i0, 0), 1);
  EXPECT_EQ(at(bessel_i1, 0), 0);
  EXPECT_EQ(at(bessel_i0, kInf), kInf);
  EXPECT_NEAR(at(bessel_i0e, 8.0) / at(bessel_i0e, std::nextafter(8.0, 9.0)), 1, 1e-14);
  EXPECT_NEAR(at(bessel_i1e, 8.0) / at(bessel_i1e, std::nextafter(8.0, 9.0)), 1, 1e-14);
}

TEST(OpsSpecial, IntegralsAddUp) {
  for (const double a : {0.1, 1.0, 3.5, 50.0}) {
    for (const double x : {0.01, 0.9, 3.0, 60.0}) {
      const Tensor sum = igamma(Tensor(a), Tensor(x)) + igammac(Tensor(a), Tensor(x));
      EXPECT_NEAR(sum.item<double>(), 1, 1e-12) << a << " " << x;
    }
  }
  EXPECT_NEAR(igamma(Tensor(1.0), Tensor(2.0)).item<double>(), 1 - std::exp(-2.0), 1e-14);
  EXPECT_EQ(igamma(Tensor(2.0), Tensor(kInf)).item<double>(), 1);
  EXPECT_TRUE(std::isnan(igamma(Tensor(-1.0), Tensor(1.0)).item<double>()));
  EXPECT_NEAR(betainc(Tensor(2.0), Tensor(3.0), Tensor(0.5)).item<double>(), 0.6875, 1e-14);
  EXPECT_EQ(betainc(Tensor(2.0), Tensor(3.0), Tensor(1.0)).item<double>(), 1);
  // Where x is beyond the middle, and 1 - x is beyond it for exchanged arguments too.
  const Tensor a(0x1.ae675dfb737ecp-2), b(0x1.f485b1137a8c5p+2), x(0x1.1c09420043f12p-3);
  EXPECT_NEAR(betainc(a, b, x).item<double>(), betainc(a, b, x * 0.999999).item<double>(), 1e-5);
  EXPECT_EQ(igamma(Tensor{1.0, 2.0}, Tensor(1.0)).shape(), (Shape{2}));
}

}  // namespace
}  // namespace gradus
