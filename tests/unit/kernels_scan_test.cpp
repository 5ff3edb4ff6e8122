#include "kernels/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gradus/threads.h"

namespace gradus::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Shape {
  std::int64_t outer, n, inner;
};

// The scan along the middle axis by definition: for every output, its own loop.
template <class T>
void expect_naive(Scan op, const std::vector<T>& in, Shape s, bool exclusive, bool reverse,
                  double relative) {
  std::vector<T> out(in.size(), T(77.0f));
  scan(op, dtype_v<T>, in.data(), s.outer, s.n, s.inner, exclusive, reverse, out.data());
  for (std::int64_t o = 0; o < s.outer; ++o)
    for (std::int64_t i = 0; i < s.inner; ++i)
      for (std::int64_t r = 0; r < s.n; ++r) {
        long double wanted = op == Scan::prod ? 1 : 0, size = op == Scan::prod ? 1 : 0;
        for (std::int64_t k = 0; k < s.n; ++k) {
          if (reverse ? k < r : k > r) continue;
          if (exclusive && k == r) continue;
          const auto x = static_cast<long double>(in[(o * s.n + k) * s.inner + i]);
          if (op == Scan::sum) wanted += x, size += std::abs(x);
          if (op == Scan::prod) wanted *= x, size = std::abs(wanted);
          if (op == Scan::logsumexp) wanted += std::exp(x);
        }
        if (op == Scan::logsumexp) wanted = std::log(wanted), size = 1 + std::abs(wanted);
        const auto got = static_cast<long double>(out[(o * s.n + r) * s.inner + i]);
        if (std::isinf(wanted))
          ASSERT_EQ(got, wanted);
        else
          ASSERT_LE(std::abs(got - wanted), relative * size)
              << name_of(dtype_v<T>) << " op " << static_cast<int>(op) << " n " << s.n << " inner "
              << s.inner << " at " << r << (exclusive ? " exclusive" : "")
              << (reverse ? " reverse" : "");
      }
}

template <class T>
class KernelsScan : public ::testing::Test {};
using Types =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat, float, double>;
TYPED_TEST_SUITE(KernelsScan, Types);

TYPED_TEST(KernelsScan, AgreesWithTheNaiveLoop) {
  using T = TypeParam;
  constexpr DType t = dtype_v<T>;
  constexpr double relative = t == float16    ? 0x1p-10
                              : t == bfloat16 ? 0x1p-7
                              : t == float32  ? 1e-6
                              : t == float64  ? 1e-14
                                              : 0;
  std::mt19937 random(4);
  for (const Shape s : {Shape{1, 1, 1}, Shape{2, 7, 1}, Shape{1, 8, 1}, Shape{3, 41, 1},
                        Shape{2, 5, 3}, Shape{1, 9, 70}, Shape{2, 3, 600}})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        std::vector<T> in(s.outer * s.n * s.inner);
        for (T& x : in) x = T(static_cast<float>(random() % 3));
        expect_naive(Scan::sum, in, s, exclusive, reverse, relative);
        if (is_floating(t)) {
          for (T& x : in) x = T(0.75f + static_cast<float>(random() % 32) / 64);
          expect_naive(Scan::prod, in, s, exclusive, reverse, 20 * relative);
          if (s.inner < 100) expect_naive(Scan::logsumexp, in, s, exclusive, reverse, relative);
        } else {
          for (T& x : in) x = T(static_cast<float>(random() % 50 == 0 ? 2 : 1));
          if (s.n < 10) expect_naive(Scan::prod, in, s, exclusive, reverse, 0);
        }
      }
}

TEST(KernelsScanValues, TenMillionOnes) {
  const std::int64_t n = 10'000'000;
  const std::vector<float> ones(n, 1.0f);
  std::vector<float> out(n);
  scan(Scan::sum, float32, ones.data(), 1, n, 1, false, false, out.data());
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += out[i] != static_cast<float>(i + 1);
  EXPECT_EQ(wrong, 0);
  scan(Scan::sum, float32, ones.data(), 1, n, 1, true, true, out.data());
  for (std::int64_t i = 0; i < n; ++i) wrong += out[i] != static_cast<float>(n - 1 - i);
  EXPECT_EQ(wrong, 0);
}

TEST(KernelsScanValues, LongSumsKeepTheirDigits) {
  const std::int64_t n = 2'000'000;
  const std::vector<double> tenths(n, 0.1);
  for (const std::int64_t inner : {1, 2}) {
    std::vector<double> out(n);
    scan(Scan::sum, float64, tenths.data(), 1, n / inner, inner, false, false, out.data());
    const long double wanted = static_cast<long double>(0.1) * (n / inner);
    EXPECT_NEAR(out.back(), static_cast<double>(wanted), static_cast<double>(wanted) * 2e-16);
  }
}

TEST(KernelsScanValues, SameBitsAtAnyNumberOfThreads) {
  const int before = thread_count();
  std::mt19937 random(8);
  std::vector<float> in(300000);
  for (float& x : in) x = static_cast<float>(random() % 1000) / 7 - 70;
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.emplace_back(in.size());
    scan(Scan::sum, float32, in.data(), 1, 300000, 1, false, false, results.back().data());
  }
  set_thread_count(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(KernelsScanValues, InfinityAndNanStay) {
  for (const std::int64_t at : {1, 12}) {
    std::vector<double> in(20, 1.0), out(20);
    in[at] = kInf;
    scan(Scan::sum, float64, in.data(), 1, 20, 1, false, false, out.data());
    EXPECT_EQ(out[at - 1], static_cast<double>(at));
    EXPECT_EQ(out[at], kInf);
    EXPECT_EQ(out[19], kInf);
    in[at + 2] = -kInf;
    scan(Scan::sum, float64, in.data(), 1, 20, 1, false, false, out.data());
    EXPECT_EQ(out[at + 1], kInf);
    EXPECT_TRUE(std::isnan(out[19]));
    scan(Scan::sum, float64, in.data(), 1, 10, 2, false, false, out.data());
    EXPECT_TRUE(std::isinf(out[18 + at % 2]) || std::isnan(out[18 + at % 2]));
    EXPECT_EQ(out[19 - at % 2], 10.0);
  }
}

TEST(KernelsScanValues, LogSumExpLikeTensorFlow) {
  const float x[] = {1, 2, 3, -kInf, 5};
  float out[5];
  scan(Scan::logsumexp, float32, x, 1, 5, 1, true, false, out);
  EXPECT_EQ(out[0], -kInf);
  EXPECT_EQ(out[1], 1.0f);
  EXPECT_NEAR(out[2], 2.3132617f, 3e-7f);
  EXPECT_EQ(out[3], out[4]);
  scan(Scan::logsumexp, float32, x, 1, 5, 1, false, true, out);
  EXPECT_NEAR(out[0], 5.1851826f, 5e-7f);
  EXPECT_EQ(out[3], 5.0f);
  const float y[] = {kInf, 1, std::nanf(""), 2};
  scan(Scan::logsumexp, float32, y, 1, 4, 1, false, false, out);
  EXPECT_EQ(out[1], kInf);
  EXPECT_TRUE(std::isnan(out[2]) && std::isnan(out[3]));
  const float low[] = {-kInf, -kInf};
  scan(Scan::logsumexp, float32, low, 1, 2, 1, false, false, out);
  EXPECT_EQ(out[1], -kInf);
}

TEST(KernelsScanValues, Complex) {
  using C = std::complex<double>;
  const C x[] = {C(1, 1), C(0, 1), C(2, 0)};
  C out[3];
  scan(Scan::sum, complex128, x, 1, 3, 1, false, false, out);
  EXPECT_EQ(out[2], C(3, 2));
  scan(Scan::prod, complex128, x, 1, 3, 1, false, false, out);
  EXPECT_EQ(out[2], C(-2, 2));
  scan(Scan::prod, complex128, x, 1, 3, 1, true, true, out);
  EXPECT_EQ(out[0], C(0, 2));
  EXPECT_EQ(out[2], C(1, 0));
}

TEST(KernelsScanValues, IntegersWrapAndTypes) {
  const std::int8_t x[] = {100, 100, 100};
  std::int8_t out[3];
  scan(Scan::sum, int8, x, 1, 3, 1, false, false, out);
  EXPECT_EQ(out[1], -56);
  EXPECT_EQ(out[2], 44);
  EXPECT_FALSE(scans(Scan::sum, bool_));
  EXPECT_FALSE(scans(Scan::logsumexp, int32));
  EXPECT_TRUE(scans(Scan::prod, complex64));
}

}  // namespace
}  // namespace gradus::kernels
