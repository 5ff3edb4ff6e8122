// Schedules against their formulas in double precision, and what optimizers do besides their rule.
#include "gradus/schedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradus/gradus.h"

namespace gradus::keras {
namespace {

using Schedule = std::function<Tensor(const Tensor&)>;
using Formula = std::function<double(double)>;

void expect_same(const Schedule& schedule, const Formula& formula) {
  const auto compiled = function([&](const Tensor& step) { return schedule(step); });
  for (const std::int64_t step : {0, 1, 5, 9, 10, 11, 19, 20, 21, 30, 45, 70, 71, 1000}) {
    const double want = formula(static_cast<double>(step));
    const Tensor rate = schedule(Tensor(step));
    EXPECT_EQ(rate.dtype(), float32);
    EXPECT_EQ(rate.rank(), 0);
    EXPECT_NEAR(rate.item<double>(), want, 1e-6) << "step " << step;
    EXPECT_NEAR(compiled(Tensor(step)).item<double>(), want, 1e-6) << "compiled, step " << step;
  }
}

TEST(Schedules, DecayAsTheirFormulasSay) {
  expect_same(schedules::ExponentialDecay{0.1, 20, 0.5},
              [](double n) { return 0.1 * std::pow(0.5, n / 20); });
  expect_same(schedules::ExponentialDecay{0.1, 20, 0.5, true},
              [](double n) { return 0.1 * std::pow(0.5, std::floor(n / 20)); });
  expect_same(schedules::InverseTimeDecay{0.1, 20, 0.5},
              [](double n) { return 0.1 / (1 + 0.5 * n / 20); });
  expect_same(schedules::InverseTimeDecay{0.1, 20, 0.5, true},
              [](double n) { return 0.1 / (1 + 0.5 * std::floor(n / 20)); });
  expect_same(schedules::PiecewiseConstantDecay{{10, 20}, {1, 0.5, 0.1}}, [](double n) {
    return n <= 10 ? 1 : n <= 20 ? 0.5 : 0.1;
  });
  expect_same(schedules::PolynomialDecay{0.1, 20, 0.01, 2},
              [](double n) { return 0.09 * std::pow(1 - std::min(n, 20.0) / 20, 2) + 0.01; });
  expect_same(schedules::PolynomialDecay{.initial_learning_rate = 0.1,
                                         .decay_steps = 20,
                                         .end_learning_rate = 0.01,
                                         .cycle = true},
              [](double n) {
                const double steps = 20 * (n == 0 ? 1 : std::ceil(n / 20));
                return 0.09 * (1 - n / steps) + 0.01;
              });
}

TEST(Schedules, CosinesRiseFallAndRestart) {
  const auto cosine = [](double share) { return 0.5 * (1 + std::cos(M_PI * share)); };
  expect_same(schedules::CosineDecay{0.1, 20, 0.2},
              [&](double n) { return 0.1 * (0.8 * cosine(std::min(n, 20.0) / 20) + 0.2); });
  expect_same(schedules::CosineDecay{0.01, 20, 0, 0.1, 10}, [&](double n) {
    return n < 10 ? 0.01 + 0.09 * n / 10 : 0.1 * cosine(std::min(n - 10, 20.0) / 20);
  });
  expect_same(schedules::CosineDecay{0.01, 20, 0, 0.1, 0},  // no rise at all
              [&](double n) { return 0.1 * cosine(std::min(n, 20.0) / 20); });
  const auto restarting = [&](double length, double t_mul, double m_mul, double alpha) {
    return [=](double n) {
      double scale = 1, period = length;
      while (n >= period) {
        n -= period;
        period *= t_mul;
        scale *= m_mul;
      }
      return 0.1 * ((1 - alpha) * scale * cosine(n / period) + alpha);
    };
  };
  expect_same(schedules::CosineDecayRestarts{0.1, 12, 1, 0.5, 0.1}, restarting(12, 1, 0.5, 0.1));
  expect_same(schedules::CosineDecayRestarts{0.1, 12}, restarting(12, 2, 1, 0));
}

TEST(Schedules, Refuse) {
  const Tensor step(0);
  EXPECT_THROW((schedules::ExponentialDecay{0.1, 0, 0.5}(step)), InvalidArgumentError);
  EXPECT_THROW((schedules::CosineDecayRestarts{0.1, -1}(step)), InvalidArgumentError);
  EXPECT_THROW((schedules::PiecewiseConstantDecay{{1}, {1}}(step)), InvalidArgumentError);
}

// Six steps of gradients 1, 2, 3, ... on a variable that starts at 0, eager and compiled.
std::vector<double> positions(const std::function<std::unique_ptr<Optimizer>()>& make,
                              bool compiled) {
  const auto optimizer = make();
  const Variable x(Tensor(0.0));
  const auto step = [&](const Tensor& gradient) {
    optimizer->apply({Gradient(gradient), Gradient()}, {x, Variable(Tensor(1.0))});
    return gradient;
  };
  const auto traced = function(step);
  std::vector<double> seen;
  for (int i = 1; i <= 6; ++i) {
    compiled ? traced(Tensor(1.0 * i)) : step(Tensor(1.0 * i));
    seen.push_back(x.value().item<double>());
  }
  return seen;
}

void expect_positions(const std::function<std::unique_ptr<Optimizer>()>& make,
                      const std::vector<double>& want) {
  for (const bool compiled : {false, true}) {
    const std::vector<double> got = positions(make, compiled);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-6) << "step " << i << ", compiled " << compiled;
  }
}

TEST(OptimizerOptions, GradientsAreAccumulated) {
  expect_positions(
      [] {
        return std::make_unique<SGD>(0.1, 0, false,
                                     OptimizerOptions{.gradient_accumulation_steps = 3});
      },
      {0, 0, -0.2, -0.2, -0.2, -0.7});
  expect_positions(  // the mean is clipped, not its parts
      [] {
        return std::make_unique<SGD>(
            0.1, 0, false, OptimizerOptions{.clipvalue = 3, .gradient_accumulation_steps = 3});
      },
      {0, 0, -0.2, -0.2, -0.2, -0.5});
  expect_positions(  // Adam's first two steps, whose gradients are 1.5 and 3.5, and its third, 5.5
      [] {
        return std::make_unique<Adam>(AdamSettings{.learning_rate = 0.1},
                                      OptimizerOptions{.gradient_accumulation_steps = 2});
      },
      [] {
        std::vector<double> seen;
        double m = 0, v = 0, x = 0;
        for (int t = 1; t <= 3; ++t) {
          const double g = 2 * t - 0.5;
          seen.push_back(x);
          m += (g - m) * 0.1;
          v += (g * g - v) * 0.001;
          x -= 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) * m /
               (std::sqrt(v) + 1e-7);
          seen.push_back(x);
        }
        return seen;
      }());
  SGD sgd(0.1, 0, false, {.gradient_accumulation_steps = 3});
  const Variable x(Tensor{0.0f, 0.0f});
  for (int i = 0; i < 4; ++i)  // rows are made dense
    sgd.apply({Gradient(Tensor{1, 1}, Tensor{1.0f, 2.0f}, {2})}, {x});
  EXPECT_EQ(sgd.iterations(), 1);
  EXPECT_FLOAT_EQ(x.value().to_vector<float>()[1], -0.3f);
}

TEST(OptimizerOptions, AveragesFollow) {
  const auto make = [](std::int64_t frequency) {
    return [frequency] {
      return std::make_unique<SGD>(
          0.1, 0, false,
          OptimizerOptions{
              .use_ema = true, .ema_momentum = 0.75, .ema_overwrite_frequency = frequency});
    };
  };
  expect_positions(make(0), {-0.1, -0.3, -0.6, -1.0, -1.5, -2.1});
  std::vector<double> want;
  double x = 0, average = 0;
  for (int i = 1; i <= 6; ++i) {
    x -= 0.1 * i;
    average = i == 1 ? x : 0.75 * average + 0.25 * x;
    if (i % 2 == 0) x = average;
    want.push_back(x);
  }
  expect_positions(make(2), want);

  const auto sgd = make(0)();
  const Variable v(Tensor(0.0));
  for (int i = 0; i < 2; ++i) sgd->apply({Gradient(Tensor(1.0))}, {v});
  sgd->finalize_variable_values({v});
  EXPECT_NEAR(v.value().item<double>(), 0.75 * -0.1 + 0.25 * -0.2, 1e-7);
}

TEST(OptimizerOptions, LossesAreScaled) {
  SGD sgd(1, 0, false, {.loss_scale_factor = 1024});
  EXPECT_FLOAT_EQ(sgd.scale_loss(Tensor(2.0f)).item<float>(), 2048);
  const Variable x(Tensor(3.0));
  GradientTape tape;
  const Tensor loss = x * x;
  sgd.minimize(tape, loss, {x});  // scaled and back
  EXPECT_DOUBLE_EQ(x.value().item<double>(), -3);
  sgd.apply({Gradient(Tensor(1024.0))}, {x});
  EXPECT_DOUBLE_EQ(x.value().item<double>(), -4);
}

TEST(OptimizerOptions, Refuse) {
  EXPECT_THROW(SGD(1, 0, false, {.gradient_accumulation_steps = 1}), InvalidArgumentError);
  EXPECT_THROW(SGD(1, 0, false, {.use_ema = true, .ema_momentum = 2}), InvalidArgumentError);
  EXPECT_THROW(SGD(1, 0, false, {.ema_overwrite_frequency = -1}), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus::keras
