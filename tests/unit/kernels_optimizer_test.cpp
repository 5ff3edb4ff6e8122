// The expected variables were computed by Keras 3.15.
#include "kernels/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace gradus::kernels {
namespace {

using Floats = std::vector<float>;

const Floats kGradients[] = {{0.5f, -1.25f, 0.0f, 3.0f, 1e-3f},
                             {-0.5f, 2.0f, 1e-4f, 0.125f, -7.0f},
                             {0.1f, 0.2f, -0.3f, 0.4f, 0.5f}};
const Floats kStart = {1, -2, 3, 0.5f, -0.25f};

void expect_close(const Floats& got, const Floats& wanted, const std::string& what) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 2.5e-7 * std::abs(wanted[i])) << what << " at " << i;
}

// In float32, as Keras does: the powers lose digits that matter.
float corrected(float rate, int step) {
  const auto t = static_cast<float>(step);
  return rate * std::sqrt(1 - std::pow(0.999f, t)) / (1 - std::pow(0.9f, t));
}

TEST(KernelsOptimizer, SgdIsKeras) {
  struct Row {
    double momentum;
    bool nesterov;
    Floats wanted;
  };
  for (const Row& row : std::vector<Row>{
           {0,
            false,
            {0x1.fae148p-1f, -0x1.0c28f6p+1f, 0x1.83d6b6p+1f, 0x1.2e1478p-3f, 0x1.997f62p-2f}},
           {0.9,
            false,
            {0x1.e624dcp-1f, -0x1.07d70ap+1f, 0x1.83d66ap+1f, -0x1.81cacp-2f, 0x1.079c52p+0f}},
           {0.9,
            true,
            {0x1.e39c0ep-1f, -0x1.13374cp+1f, 0x1.874ae2p+1f, -0x1.487c84p-1f, 0x1.8d3954p+0f}}}) {
    Floats x = kStart, m(5);
    SgdStep step;
    step.rate = 0.1;
    step.momentum = row.momentum;
    step.nesterov = row.nesterov;
    for (const Floats& g : kGradients)
      sgd(float32, step, 5, g.data(), row.momentum != 0 ? m.data() : nullptr, x.data());
    expect_close(x, row.wanted, "sgd");
  }
}

TEST(KernelsOptimizer, AdamIsKeras) {
  struct Row {
    bool amsgrad;
    double decay;
    Floats wanted;
  };
  for (const Row& row : std::vector<Row>{
           {false,
            0,
            {0x1.fae5cp-1f, -0x1.fed46p+0f, 0x1.7fe4e6p+1f, 0x1.e83a0cp-2f, -0x1.fa5c7p-3f}},
           {true,
            0,
            {0x1.fae5cp-1f, -0x1.fed46p+0f, 0x1.7fe4e6p+1f, 0x1.e83a0cp-2f, -0x1.fa5c7p-3f}},
           {false,
            0.1,
            {0x1.f95f7ap-1f, -0x1.fd4caep+0f, 0x1.7ebe84p+1f, 0x1.e6b84ep-2f, -0x1.f8cd14p-3f}}}) {
    Floats x = kStart, m(5), v(5), largest(5);
    for (int t = 1; t <= 3; ++t) {
      AdamStep step;
      step.rate = corrected(0.01f, t);
      step.decay = row.decay * 0.01;
      adam(float32, step, 5, kGradients[t - 1].data(), m.data(), v.data(),
           row.amsgrad ? largest.data() : nullptr, x.data());
    }
    expect_close(x, row.wanted, "adam");
  }
}

TEST(KernelsOptimizer, AdagradIsKeras) {
  Floats x = kStart, a(5, 0.1f);
  AdagradStep step;
  step.rate = 0.1;
  for (const Floats& g : kGradients) adagrad(float32, step, 5, g.data(), a.data(), x.data());
  expect_close(x,
               {0x1.ef38dcp-1f, -0x1.fed796p+0f, 0x1.88ce36p+1f, 0x1.8879c8p-2f, -0x1.42a206p-3f},
               "adagrad");
}

TEST(KernelsOptimizer, RmspropIsKeras) {
  RmspropStep step;
  step.rate = 0.01;
  Floats x = kStart, v(5), a(5), m(5);
  for (const Floats& g : kGradients)
    rmsprop(float32, step, 5, g.data(), v.data(), nullptr, nullptr, x.data());
  expect_close(x, {0x1.f91b8p-1f, -0x1.ff9958p+0f, 0x1.83a51ap+1f, 0x1.d974d8p-2f, -0x1.f1e4c8p-3f},
               "rmsprop");
  x = kStart;
  v.assign(5, 0.0f);
  step.momentum = 0.9;
  for (const Floats& g : kGradients)
    rmsprop(float32, step, 5, g.data(), v.data(), a.data(), m.data(), x.data());
  expect_close(x, {0x1.e59fcap-1f, -0x1.f6f03p+0f, 0x1.83803ap+1f, 0x1.9b9cf8p-2f, -0x1.015722p-2f},
               "centered");
}

// Long arrays (vector bodies, tails, several threads) in float64 against the formula.
TEST(KernelsOptimizer, LongArraysAgreeWithTheFormula) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const std::int64_t n : {1, 7, 33, 40001}) {
    std::vector<double> g(n), m(n), v(n), x(n);
    for (std::int64_t i = 0; i < n; ++i) {
      g[i] = normal(random);
      m[i] = normal(random);
      v[i] = std::abs(normal(random));
      x[i] = normal(random);
    }
    AdamStep step;
    step.rate = 0.02;
    step.gradient_scale = 0.5;
    step.decay = 0.125;
    std::vector<double> wanted = x;
    for (std::int64_t i = 0; i < n; ++i) {
      const double gradient = 0.5 * g[i], first = m[i] + 0.1 * (gradient - m[i]),
                   second = v[i] + 0.001 * (gradient * gradient - v[i]);
      wanted[i] = 0.875 * x[i] - 0.02 * first / (std::sqrt(second) + 1e-7);
    }
    adam(float64, step, n, g.data(), m.data(), v.data(), nullptr, x.data());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], wanted[i], 1e-13) << i;
  }
}

TEST(KernelsOptimizer, ANullGradientIsZeros) {
  const Floats zeros(37, 0.0f);
  Floats x1(37, 2.0f), m1(37, 0.5f), v1(37, 0.25f), a1(37, 0.1f), x2 = x1, m2 = m1, v2 = v1,
                                                                  a2 = a1;
  SgdStep sgd_step;
  sgd_step.momentum = 0.9;
  AdamStep adam_step;
  AdagradStep adagrad_step;
  adagrad_step.decay = 0.1;
  RmspropStep rms_step;
  rms_step.momentum = 0.5;
  for (int k = 0; k < 2; ++k) {
    const float* g = k ? zeros.data() : nullptr;
    Floats &x = k ? x1 : x2, &m = k ? m1 : m2, &v = k ? v1 : v2, &a = k ? a1 : a2;
    sgd(float32, sgd_step, 37, g, m.data(), x.data());
    adam(float32, adam_step, 37, g, m.data(), v.data(), nullptr, x.data());
    adagrad(float32, adagrad_step, 37, g, a.data(), x.data());
    rmsprop(float32, rms_step, 37, g, v.data(), a.data(), m.data(), x.data());
  }
  EXPECT_EQ(x1, x2);
  EXPECT_EQ(m1, m2);
  EXPECT_EQ(v1, v2);
  EXPECT_EQ(a1, a2);
}

TEST(KernelsOptimizer, SparseRowsGiveTheDenseUpdate) {
  const std::int64_t rows = 5000, width = 9;
  for (const std::vector<std::int64_t>& listed :
       std::vector<std::vector<std::int64_t>>{{}, {0}, {4999}, {3, 4, 7, 2500, 4998}}) {
    const auto count = static_cast<std::int64_t>(listed.size());
    Floats values(count * width), dense(rows * width, 0.0f);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 20;
    for (std::int64_t k = 0; k < count; ++k)
      std::copy_n(&values[k * width], width, &dense[listed[k] * width]);
    Floats x1(rows * width, 1.0f), m1(x1.size(), 0.5f), v1(x1.size(), 0.25f), x2 = x1, m2 = m1,
                                                                              v2 = v1;
    AdamStep step;
    adam(float32, step, rows * width, dense.data(), m1.data(), v1.data(), nullptr, x1.data());
    for_each_row_run(listed.data(), count, rows, width, false,
                     [&](std::int64_t first, std::int64_t n, std::int64_t row) {
                       adam(float32, step, n, row < 0 ? nullptr : &values[row * width], &m2[first],
                            &v2[first], nullptr, &x2[first]);
                     });
    EXPECT_EQ(x1, x2);
    EXPECT_EQ(m1, m2);
    EXPECT_EQ(v1, v2);
    std::int64_t touched = 0;
    for_each_row_run(
        listed.data(), count, rows, width, true,
        [&](std::int64_t, std::int64_t n, std::int64_t row) { touched += row >= 0 ? n : 1000000; });
    EXPECT_EQ(touched, count * width);
  }
}

TEST(KernelsOptimizer, NormIsSafeAtAnyScale) {
  const Floats small = {3e-40f, 4e-40f}, large = {3e38f, -2e38f};
  EXPECT_NEAR(euclidean_norm(float32, small.data(), 2) / 5e-40, 1, 1e-4);  // denormal inputs
  EXPECT_NEAR(euclidean_norm(float32, large.data(), 2) / std::hypot(3e38, 2e38), 1, 1e-6);
  const std::vector<double> tiny = {3e-300, 4e-300}, huge = {3e300, -4e300}, denormal = {5e-324, 0};
  EXPECT_DOUBLE_EQ(euclidean_norm(float64, tiny.data(), 2), 5e-300);
  EXPECT_DOUBLE_EQ(euclidean_norm(float64, huge.data(), 2), 5e300);
  EXPECT_EQ(euclidean_norm(float64, denormal.data(), 2), 5e-324);
  const std::complex<float> z(3, 4);
  EXPECT_EQ(euclidean_norm(complex64, &z, 1), 5.0);
  EXPECT_EQ(euclidean_norm(float32, nullptr, 0), 0.0);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double with_inf[] = {1, -inf}, with_nan[] = {1, nan}, both[] = {inf, nan};
  EXPECT_EQ(euclidean_norm(float64, with_inf, 2), inf);
  EXPECT_TRUE(std::isnan(euclidean_norm(float64, with_nan, 2)));
  EXPECT_TRUE(std::isnan(euclidean_norm(float64, both, 2)));
  const std::vector<half> halves(100000, half(100.0f));
  EXPECT_DOUBLE_EQ(euclidean_norm(float16, halves.data(), 100000), std::sqrt(1e9));
  const Floats ones(10'000'000, 1.0f);
  EXPECT_DOUBLE_EQ(euclidean_norm(float32, ones.data(), 10'000'000), std::sqrt(1e7));
}

}  // namespace
}  // namespace gradus::kernels
