// Plain numbers beside tensors: every bit of a double or int64 arrives, or there is an error.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "gradus/gradus.h"

namespace gradus {
namespace {

constexpr double kThird = 1.0 / 3.0;                          // float32 has another
constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;  // float64 has another

double real(const Tensor& t) {
  EXPECT_EQ(t.dtype(), float64);
  return t.to_vector<double>()[0];
}
std::int64_t whole(const Tensor& t) {
  EXPECT_EQ(t.dtype(), int64);
  return t.to_vector<std::int64_t>()[0];
}

TEST(HostNumber, CastKeepsEveryBit) {
  EXPECT_EQ(real(cast(kThird, float64)), kThird);
  EXPECT_EQ(real(cast(1e300, float64)), 1e300);
  EXPECT_EQ(whole(cast(kLarge, int64)), kLarge);
  EXPECT_EQ(cast(-1, uint64).item<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(cast(kThird, complex128).item<std::complex<double>>(), std::complex<double>(kThird));
  EXPECT_EQ(cast(kThird, float32).item<float>(), static_cast<float>(kThird));
  EXPECT_TRUE(cast(1e-300, bool_).item<bool>());  // float32 knows no such number
  EXPECT_EQ(cast(2.75, int32).item<std::int32_t>(), 2);
}

TEST(HostNumber, BesideTensors) {
  const Tensor x(2.0);
  EXPECT_EQ(real(x * kThird), 2.0 * kThird);
  EXPECT_EQ(real(pow(x, kThird)), real(pow(x, Tensor(kThird))));
  EXPECT_EQ(real(clip_by_value(x, 0, kThird)), kThird);
  EXPECT_EQ(real(where(Tensor(false), x, kThird)), kThird);
  EXPECT_EQ(real(maximum(kThird, cast(0, float64))), kThird);
  EXPECT_EQ(real(linspace(kThird, x, 2)), kThird);
  EXPECT_EQ(real(range(kThird, x)), kThird);
  EXPECT_EQ(real(one_hot(Tensor{0}, 1, kThird, Tensor(0.0))), kThird);
  EXPECT_EQ(real(pad(x + zeros({1}, float64), {{1, 0}}, PadMode::constant, kThird)), kThird);
  EXPECT_EQ(real(fill({2}, cast(kThird, float64))), kThird);
  EXPECT_EQ(whole(Tensor(std::int64_t{1}) * kLarge), kLarge);
  EXPECT_EQ((Tensor(std::complex<double>(1, 1)) * kThird).item<std::complex<double>>(),
            std::complex<double>(kThird, kThird));
}

TEST(HostNumber, InVariables) {
  const Variable v(Tensor(0.0)), rows(Tensor{0.0, 0.0});
  v.assign(kThird);
  EXPECT_EQ(real(v.value()), kThird);
  v.assign_add(kThird);
  EXPECT_EQ(real(v.value()), 2 * kThird);
  v.assign_sub(2 * kThird);
  EXPECT_EQ(real(v.value()), 0);
  rows.scatter_update(Tensor{0}, kThird);
  EXPECT_EQ(real(rows.value()), kThird);
  const Variable count(Tensor(std::int64_t{0}));
  count.assign(kLarge);
  EXPECT_EQ(whole(count.value()), kLarge);
  count.assign_add(kLarge);
  EXPECT_EQ(whole(count.value()), 2 * kLarge);
  EXPECT_THROW(count.assign(1.5), InvalidArgumentError);  // it was 1
  EXPECT_THROW(count.assign_add(1.5), InvalidArgumentError);
}

TEST(HostNumber, GivenToCompiledFunctions) {
  const auto scale = function([](const Tensor& x, const Tensor& by) { return x * by; });
  const Tensor x(3.0);
  EXPECT_EQ(real(scale(x, kThird)), 3.0 * kThird);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = scale(x, kThird);  // under a tape it went through float32
  EXPECT_EQ(real(y), 3.0 * kThird);
  EXPECT_EQ(real(tape.gradient(y, x).tensor()), kThird);
}

TEST(HostNumber, AloneIsWideIfItMustBe) {
  EXPECT_EQ(add(1, 2).dtype(), int32);
  EXPECT_EQ(add(0.5, 2).dtype(), float32);
  EXPECT_EQ(whole(add(kLarge, 2)), kLarge + 2);  // was 3, in int32
  EXPECT_EQ(whole(range(kLarge, kLarge + 2)), kLarge);
  EXPECT_EQ(whole(fill({1}, kLarge)), kLarge);
}

TEST(HostNumber, WhatADtypeCannotHoldIsRefused) {
  const Tensor small = cast(1, uint8);
  EXPECT_EQ((small + 254).item<std::uint8_t>(), 255);
  EXPECT_THROW(small + 256, InvalidArgumentError);  // was 1
  EXPECT_THROW(small - -1, InvalidArgumentError);
  EXPECT_THROW(Tensor(1) + kLarge, InvalidArgumentError);
  EXPECT_THROW(range(Tensor(0), 2.5), InvalidArgumentError);
  EXPECT_THROW(one_hot(Tensor{0}, 2, Tensor(1), 0.5), InvalidArgumentError);
}

TEST(HostNumber, WhatAProgramCannotHoldIsRefusedAtEachCall) {
  const auto f = function([](const Tensor& x, const Tensor& n) { return x + n; });
  const Tensor small = cast(1, uint8);
  EXPECT_EQ(f(small, 2).item<std::uint8_t>(), 3);
  EXPECT_EQ(f(small, 254).item<std::uint8_t>(), 255);
  EXPECT_THROW(f(small, 256), InvalidArgumentError);
  EXPECT_EQ(f(small, 3).item<std::uint8_t>(), 4);
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_THROW(f(Tensor(1), 0.5), InvalidArgumentError);
  const auto alone = function([](const Tensor& n) { return n + 1; });
  EXPECT_EQ(alone(1).item<std::int32_t>(), 2);
  EXPECT_THROW(alone(kLarge), InvalidArgumentError);  // the program computes in int32
}

TEST(HostNumber, BranchesAndLoopsObeyTheSameRules) {
  const auto choose = function([](const Tensor& p, const Tensor& n) {
    return cond(
        p, [&] { return Tensor(1.0); }, [&] { return n; });
  });
  EXPECT_EQ(real(choose(Tensor(false), kThird)), kThird);
  const auto whole_or = function([](const Tensor& p, const Tensor& n) {
    return cond(
        p, [&] { return Tensor(1); }, [&] { return n; });
  });
  EXPECT_THROW(whole_or(Tensor(false), 0.5), InvalidArgumentError);  // was 0
}

// Averages, decay and the numbers of the rules by scalar arithmetic in double.
TEST(HostNumber, InOptimizers) {
  for (const bool compiled : {false, true}) {
    keras::SGD sgd(0.5, 0, false, {.use_ema = true, .ema_momentum = 0.99});
    const Variable x(Tensor(1.0));
    const auto step = [&] { sgd.apply({Gradient(Tensor(0.25))}, {x}); };
    const auto run = function([&](const Tensor& unused) {
      step();
      return unused;
    });
    double value = 1, average = 0;
    for (int i = 0; i < 5; ++i) {
      compiled ? static_cast<void>(run(Tensor(0.0))) : step();
      value -= 0.5 * 0.25;
      const double kept = i == 0 ? 0 : 0.99;
      average = kept * average + (1 - kept) * value;
    }
    sgd.finalize_variable_values({x});
    EXPECT_EQ(real(x.value()), average) << compiled;
  }
}

TEST(HostNumber, InNadam) {
  const double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7, g = 0.25;
  keras::Nadam nadam({.learning_rate = 0.5});
  const Variable x(Tensor(1.0));
  double value = 1, m = 0, v = 0, product = 1;
  for (int step = 1; step <= 8; ++step) {
    nadam.apply({Gradient(Tensor(g))}, {x});
    const double share = beta_1 * (1 - 0.5 * std::pow(0.96, step));
    const double next = beta_1 * (1 - 0.5 * std::pow(0.96, step + 1));
    product *= share;
    m += (g - m) * (1 - beta_1);
    v += (g * g - v) * (1 - beta_2);
    value -= 0.5 * (next / (1 - product * next) * m + (1 - share) / (1 - product) * g) /
             (std::sqrt(v / (1 - std::pow(beta_2, step))) + epsilon);
  }
  EXPECT_NEAR(real(x.value()), value, 1e-13);  // the product of shares was rounded to float32
}

TEST(HostNumber, InLosses) {
  const Tensor t = {0.25}, p = {0.5};
  keras::set_epsilon(kThird);
  EXPECT_EQ(real(keras::poisson(t, p)), 0.5 - 0.25 * std::log(0.5 + kThird));
  EXPECT_EQ(real(keras::mean_absolute_percentage_error(t, p)), 100 * (0.25 / kThird));
  keras::set_epsilon(1e-7);
  EXPECT_EQ(real(keras::huber(t, p + 2.0, kThird)), kThird * 2.25 - 0.5 * kThird * kThird);
}

TEST(HostNumbers, IndicesAreIntegersWhateverTheyAreIndicesOf) {
  const Tensor x = {1.0, 2.0, 4.0};
  EXPECT_EQ(gather(x, 1).item<double>(), 2);
  EXPECT_EQ(
      function([](const Tensor& v, const Tensor& i) { return gather(v, i); })(x, 2).item<double>(),
      4);
  EXPECT_EQ(cond(
                true, [&] { return x; }, [&] { return -x; })
                .data<double>()[0],
            1);
  EXPECT_EQ(cond(
                false, [&] { return x; }, [&] { return -x; })
                .data<double>()[0],
            -1);
}

TEST(HostNumbers, AxesOfShapes) {
  const Shape shape = {2, 3, 5};
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_THROW(shape[3], OutOfRangeError);
  EXPECT_THROW(shape[-4], OutOfRangeError);
}

}  // namespace
}  // namespace gradus
