#include "gradus/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using keras::Optimizer;

// Ten steps on the minimum of sum(x^4) / 4 by gradients that are computed by hand.
std::vector<double> ten_steps(Optimizer& optimizer, bool compiled, DType dtype = float64) {
  const Variable x(cast(Tensor{1.0, -2.0, 0.5}, dtype));
  const auto step = [&] {
    const Tensor value = x.value();
    optimizer.apply({Gradient(value * value * value)}, {x});
  };
  const auto run = function([&](const Tensor& unused) {
    step();
    return unused;
  });
  for (int i = 0; i < 10; ++i) compiled ? static_cast<void>(run(Tensor(0.0))) : step();
  return cast(x.value(), float64).to_vector<double>();
}

// The same with scalar formulas.
using Scalar = std::function<double(double x, double g, int step, std::vector<double>& state)>;
std::vector<double> by_hand(const Scalar& rule, const std::vector<double>& initial) {
  std::vector<double> result;
  for (double x : {1.0, -2.0, 0.5}) {
    std::vector<double> state = initial;
    for (int step = 1; step <= 10; ++step) x = rule(x, x * x * x, step, state);
    result.push_back(x);
  }
  return result;
}

void expect_same(const std::function<std::unique_ptr<Optimizer>()>& make, const Scalar& rule,
                 const std::vector<double>& initial) {
  const std::vector<double> want = by_hand(rule, initial);
  for (bool compiled : {false, true}) {
    const auto optimizer = make();
    const std::vector<double> got = ten_steps(*optimizer, compiled);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(got[i], want[i], 1e-6) << "compiled " << compiled;
    EXPECT_EQ(optimizer->iterations(), 10);
  }
  // Half precision with float32 state stays close.
  const auto optimizer = make();
  const std::vector<double> half = ten_steps(*optimizer, false, float16);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(half[i], want[i], 1e-2);
}

TEST(Optimizers, Sgd) {
  expect_same([] { return std::make_unique<keras::SGD>(0.05); },
              [](double x, double g, int, auto&) { return x - 0.05 * g; }, {});
  expect_same([] { return std::make_unique<keras::SGD>(0.02, 0.8, true); },
              [](double x, double g, int, auto& s) {
                s[0] = 0.8 * s[0] - 0.02 * g;
                return x + 0.8 * s[0] - 0.02 * g;
              },
              {0});
}

TEST(Optimizers, Rmsprop) {
  expect_same([] { return std::make_unique<keras::RMSprop>(); },
              [](double x, double g, int, auto& s) {
                s[0] = 0.9 * s[0] + 0.1 * g * g;
                return x - 1e-3 * g / std::sqrt(s[0] + 1e-7);
              },
              {0});
  expect_same(
      [] {
        return std::make_unique<keras::RMSprop>(
            keras::RMSpropSettings{.learning_rate = 0.01, .momentum = 0.5, .centered = true});
      },
      [](double x, double g, int, auto& s) {
        s[0] = 0.9 * s[0] + 0.1 * g * g;
        s[2] = 0.9 * s[2] + 0.1 * g;
        s[1] = 0.5 * s[1] + 0.01 * g / std::sqrt(s[0] - s[2] * s[2] + 1e-7);
        return x - s[1];
      },
      {0, 0, 0});
}

TEST(Optimizers, AdamFamily) {
  const auto adam = [](double decay, bool amsgrad) {
    return [=](double x, double g, int t, std::vector<double>& s) {
      x -= x * decay * 0.01;
      s[0] += (g - s[0]) * 0.1;
      s[1] += (g * g - s[1]) * 0.001;
      s[2] = amsgrad ? std::max(s[2], s[1]) : s[1];
      const double alpha = 0.01 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
      return x - alpha * s[0] / (std::sqrt(s[2]) + 1e-7);
    };
  };
  const AdamSettings settings{.learning_rate = 0.01};
  expect_same([&] { return std::make_unique<keras::Adam>(settings); }, adam(0, false), {0, 0, 0});
  expect_same(
      [&] { return std::make_unique<keras::Adam>(settings, keras::OptimizerOptions{}, true); },
      adam(0, true), {0, 0, 0});
  expect_same(
      [] { return std::make_unique<keras::AdamW>(keras::AdamWSettings{.learning_rate = 0.01}); },
      adam(0.004, false), {0, 0, 0});
  expect_same([&] { return std::make_unique<keras::Adamax>(settings); },
              [](double x, double g, int t, auto& s) {
                s[0] += (g - s[0]) * 0.1;
                s[1] = std::max(0.999 * s[1], std::abs(g));
                return x - 0.01 * s[0] / ((1 - std::pow(0.9, t)) * (s[1] + 1e-7));
              },
              {0, 0});
  expect_same([&] { return std::make_unique<keras::Nadam>(settings); },
              [](double x, double g, int t, auto& s) {
                const double share = 0.9 * (1 - 0.5 * std::pow(0.96, t));
                const double next = 0.9 * (1 - 0.5 * std::pow(0.96, t + 1));
                s[2] *= share;
                s[0] += (g - s[0]) * 0.1;
                s[1] += (g * g - s[1]) * 0.001;
                const double m = next * s[0] / (1 - s[2] * next) + (1 - share) * g / (1 - s[2]);
                return x - 0.01 * m / (std::sqrt(s[1] / (1 - std::pow(0.999, t))) + 1e-7);
              },
              {0, 0, 1});
}

TEST(Optimizers, TheOthers) {
  expect_same([] { return std::make_unique<keras::Adagrad>(0.1); },
              [](double x, double g, int, auto& s) {
                s[0] += g * g;
                return x - 0.1 * g / std::sqrt(s[0] + 1e-7);
              },
              {0.1});
  expect_same([] { return std::make_unique<keras::Adadelta>(1.0, 0.9, 1e-3); },
              [](double x, double g, int, auto& s) {
                s[0] = 0.9 * s[0] + 0.1 * g * g;
                const double change = std::sqrt(s[1] + 1e-3) / std::sqrt(s[0] + 1e-3) * g;
                s[1] = 0.9 * s[1] + 0.1 * change * change;
                return x - change;
              },
              {0, 0});
  expect_same([] { return std::make_unique<keras::Lion>(0.01); },
              [](double x, double g, int, auto& s) {
                const double blend = 0.9 * s[0] + 0.1 * g;
                s[0] = 0.99 * s[0] + 0.01 * g;
                return x - 0.01 * ((blend > 0) - (blend < 0));
              },
              {0});
  expect_same(
      [] {
        return std::make_unique<keras::Ftrl>(keras::FtrlSettings{
            .learning_rate = 0.1, .l1_regularization_strength = 0.01, .beta = 0.2});
      },
      [](double x, double g, int, auto& s) {
        const double sum = s[0] + g * g;
        s[1] += g - (std::sqrt(sum) - std::sqrt(s[0])) / 0.1 * x;
        s[0] = sum;
        const double within = std::clamp(s[1], -0.01, 0.01);
        return (within - s[1]) / (std::sqrt(sum) / 0.1 + 2 * (0.2 / (2 * 0.1)));
      },
      {0.1, 0});
}

TEST(Optimizers, RatesChangeInCompiledFunctions) {
  const Variable x(Tensor{0.0f});
  keras::SGD sgd(0.5);
  const auto step = function([&](const Tensor& g) {
    sgd.apply({Gradient(g)}, {x});
    return g;
  });
  step(Tensor{-1.0f});
  sgd.learning_rate().assign(0.25f);
  step(Tensor{-1.0f});
  EXPECT_FLOAT_EQ(x.value().item<float>(), 0.75f);

  keras::SGD scheduled(0.5);
  scheduled.set_schedule([](const Tensor& step) { return 1 / (step + 1); });
  const auto other = function([&](const Tensor& g) {
    scheduled.apply({Gradient(g)}, {x});
    return g;
  });
  for (int i = 0; i < 3; ++i) other(Tensor{-1.0f});
  EXPECT_FLOAT_EQ(x.value().item<float>(), 0.75f + 1 + 0.5f + 1.0f / 3);
}

TEST(Optimizers, ClipsAndDecay) {
  const Variable x(Tensor{3.0, 4.0}), y(Tensor{1.0});
  keras::SGD by_norm(1, 0, false, {.clipnorm = 1}), by_value(1, 0, false, {.clipvalue = 0.5}),
      decaying(0.1, 0, false, {.weight_decay = 0.5});
  by_norm.apply({Gradient(Tensor{3.0, 4.0})}, {x});
  EXPECT_NEAR(x.value().to_vector<double>()[0], 3 - 0.6, 1e-6);
  by_value.apply({Gradient(Tensor{2.0})}, {y});
  EXPECT_NEAR(y.value().item<double>(), 0.5, 1e-6);
  decaying.exclude_from_weight_decay({y});
  decaying.apply({Gradient(Tensor{0.0, 0.0}), Gradient(Tensor{0.0})}, {x, y});
  EXPECT_NEAR(x.value().to_vector<double>()[0], 2.4 * 0.95, 1e-6);
  EXPECT_NEAR(y.value().item<double>(), 0.5, 1e-6);
  EXPECT_THROW(keras::SGD(1, 0, false, {.clipnorm = 1, .clipvalue = 1}), InvalidArgumentError);
  EXPECT_THROW(by_norm.apply({}, {x}), InvalidArgumentError);
}

// Rows that repeat, clipped inside a compiled function, where their number is not known.
TEST(Optimizers, RowsInCompiledFunctions) {
  const auto run = [](bool compiled, bool rows) {
    const Variable table(ones({5, 2}, float32));
    keras::Adagrad adagrad(0.1, 0.1, 1e-7, {.global_clipnorm = 1});
    const auto step = [&](const Tensor& values) {
      Gradient g(Tensor{3, 0, 3}, values, {5, 2});
      if (!rows) g = Gradient(g.tensor());
      adagrad.apply({g}, {table});
      return values;
    };
    const auto traced = function(step);
    const Tensor values = {{1.0f, 2.0f}, {3.0f, -1.0f}, {0.5f, 4.0f}};
    for (int i = 0; i < 3; ++i) compiled ? traced(values) : step(values);
    return table.value().to_vector<float>();
  };
  const std::vector<float> want = run(false, false);
  for (bool compiled : {false, true}) {
    const std::vector<float> got = run(compiled, true);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6);
  }
}

TEST(Losses, AreKerass) {
  const Tensor t = {{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}}, p = {{0.1, 0.7, 0.2}, {0.5, 0.2, 0.3}};
  const auto near = [](const Tensor& got, double want) {
    EXPECT_NEAR(got.item<double>(), want, 1e-6);
  };
  near(keras::mean_squared_error(t, p), (0.01 + 0.09 + 0.04 + 0.25 + 0.04 + 0.09) / 6);
  near(keras::mean_absolute_error(t, p), (0.1 + 0.3 + 0.2 + 0.5 + 0.2 + 0.3) / 6);
  near(keras::huber(t, p, 0.25),
       (0.005 + 0.25 * 0.3 - 0.03125 + 0.02 + 0.25 * 0.5 - 0.03125 + 0.02 + 0.25 * 0.3 - 0.03125) /
           6);
  near(keras::categorical_crossentropy(t, p, {.from_logits = false}),
       -(std::log(0.7) + std::log(0.5)) / 2);
  near(keras::sparse_categorical_crossentropy(Tensor{1, 0}, p, false),
       -(std::log(0.7) + std::log(0.5)) / 2);
  near(keras::categorical_crossentropy(t, log(p)), -(std::log(0.7) + std::log(0.5)) / 2);
  near(keras::binary_crossentropy(Tensor{{0.0, 1.0}}, Tensor{{0.2, 0.9}}, {.from_logits = false}),
       -(std::log(0.8) + std::log(0.9)) / 2);
  near(keras::binary_crossentropy(Tensor{{0.0, 1.0}}, Tensor{{0.0, 0.0}}), std::log(2.0));
  near(keras::categorical_hinge(t, p), ((0.2 - 0.7 + 1) + (0.3 - 0.5 + 1)) / 2);
  near(keras::hinge(Tensor{{-1.0, 1.0}}, Tensor{{0.5, 3.0}}), 0.75);
  near(keras::squared_hinge(Tensor{{-1.0, 1.0}}, Tensor{{0.5, 3.0}}), 1.125);
  near(keras::kl_divergence(Tensor{{0.5, 0.5}}, Tensor{{0.25, 0.75}}),
       0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3));
  near(keras::cosine_similarity(Tensor{{3.0, 4.0}}, Tensor{{4.0, 3.0}}), -24.0 / 25);
  near(keras::log_cosh(Tensor{{0.0}}, Tensor{{1.5}}), std::log(std::cosh(1.5)));
  near(keras::poisson(Tensor{{2.0}}, Tensor{{3.0}}), 3 - 2 * std::log(3.0));
  near(keras::mean_absolute_percentage_error(Tensor{{2.0}}, Tensor{{3.0}}), 50);
  near(keras::mean_squared_logarithmic_error(Tensor{{1.0}}, Tensor{{3.0}}),
       std::pow(std::log(2.0), 2));
}

TEST(Optimizers, AVariableAtTheAddressOfAnOldOneHasItsOwnState) {
  keras::Adam adam;
  for (std::int64_t size = 1; size < 20; ++size) {
    const Variable v(ones({size}));
    EXPECT_NO_THROW(adam.apply({ones({size})}, {v}));
  }
}

}  // namespace
}  // namespace gradus
