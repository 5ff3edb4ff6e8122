// Five steps on sum(x^4) / 40 of a matrix and a vector, beside Keras 3.15's, eager and compiled.
#include "gradus/optimizers_composed.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "gradus/gradus.h"

namespace gradus::keras {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>()>;

std::vector<double> five_steps(const Make& make, bool compiled, DType dtype) {
  const auto optimizer = make();
  const Variable kernel(cast(Tensor{{1.0, -2.0, .5}, {.5, 3.0, -1.0}}, dtype), {.name = "kernel"});
  const Variable bias(cast(Tensor{1.0, -1.5}, dtype), {.name = "bias"});
  const auto step = [&](const Tensor& factor) {
    const auto gradient = [&](const Tensor& x) { return Gradient(factor * x * x * x); };
    optimizer->apply({gradient(kernel), gradient(bias)}, {kernel, bias});
    return factor;
  };
  const auto traced = function(step);
  for (int i = 0; i < 5; ++i) {
    const Tensor factor = cast(Tensor(0.1), dtype);
    compiled ? traced(factor) : step(factor);
  }
  const Tensor all = concat({reshape(kernel, {-1}), bias}, 0);
  return cast(all, float64).to_vector<double>();
}

void expect_same(const char* keras, const Make& make, const std::vector<double>& want,
                 double tolerance_of_halves = 5e-3) {
  const auto expect_near = [&](const std::vector<double>& got, double tolerance, const char* how) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], tolerance) << keras << " " << how << " [" << i << "]";
  };
  expect_near(five_steps(make, false, float32), 2e-6, "eager");
  expect_near(five_steps(make, true, float32), 2e-6, "compiled");
  expect_near(five_steps(make, false, float16), tolerance_of_halves, "halves with float32 state");
}

TEST(ComposedOptimizers, Lamb) {
  expect_same("Lamb(0.05)",
              [] { return std::make_unique<Lamb>(LambSettings{.learning_rate = 0.05}); },
              {0.624058723, -1.61202955, 0.156930223, 0.156930223, 2.60917377, -0.624058723,
               0.713064551, -1.20894635});
  expect_same("Lamb(0.05, weight_decay=0.1)",
              [] {
                return std::make_unique<Lamb>(LambSettings{.learning_rate = 0.05},
                                              OptimizerOptions{.weight_decay = 0.1});
              },
              {0.608761966, -1.57184231, 0.153369427, 0.153369427, 2.54411721, -0.608761966,
               0.695507884, -1.17893517});
}

TEST(ComposedOptimizers, Adafactor) {
  expect_same("Adafactor(0.05)",
              [] { return std::make_unique<Adafactor>(AdafactorSettings{.learning_rate = 0.05}); },
              {0.405927509, -1.69936645, 0.372483253, 0.440092862, 2.68866682, -0.719989777,
               0.751715362, -1.23739529});
  expect_same("Adafactor(0.05, relative_step=False, clip_threshold=0.5)",
              [] {
                return std::make_unique<Adafactor>(AdafactorSettings{
                    .learning_rate = 0.05, .clip_threshold = 0.5, .relative_step = false});
              },
              {0.606120765, -1.85294318, 0.43605265, 0.474658638, 2.85026431, -0.854169786,
               0.850574374, -1.34603584});
}

TEST(ComposedOptimizers, Muon) {
  expect_same("Muon(0.05)",
              [] { return std::make_unique<Muon>(MuonSettings{.learning_rate = 0.05}); },
              {0.907547176, -1.98067367, 0.514866233, 0.472527862, 2.9392426, -0.992165923,
               0.755123317, -1.25200129});
  expect_same(
      "Muon(0.05, rms_rate=None, nesterov=False, adam_lr_ratio=0.5)",
      [] {
        return std::make_unique<Muon>(MuonSettings{
            .learning_rate = 0.05, .adam_lr_ratio = 0.5, .nesterov = false, .rms_rate = {}});
      },
      {0.738232732, -1.94722283, 0.546802938, 0.421677738, 2.8305192, -0.978130937, 0.875213742,
       -1.37425125},
      5e-2);
  // A matrix that was chosen for Adam changes as the vector does.
  Muon muon({.learning_rate = 0.05}, {}, [](const Variable& v) { return v.name() == "table"; });
  const Variable table(Tensor{{1.0f, -1.5f}}, {.name = "table"}), vector(Tensor{1.0f, -1.5f});
  muon.apply({Gradient(Tensor{{1.0f, 2.0f}}), Gradient(Tensor{1.0f, 2.0f})}, {table, vector});
  EXPECT_EQ(table.value().to_vector<float>(), vector.value().to_vector<float>());
}

}  // namespace
}  // namespace gradus::keras
