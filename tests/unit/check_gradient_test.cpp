#include "gradus/check_gradient.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

TEST(CheckGradient, OfARightOne) {
  const auto f = [](const Tensor& x, const Tensor& y) { return sin(x) * exp(y) + x / (y * y); };
  const GradientCheck check =
      check_gradient(f, std::vector<Tensor>{Tensor{0.3, -1.0}, Tensor{{1.0, 2.0}, {-2.0, 0.5}}});
  EXPECT_TRUE(check);
  EXPECT_EQ(check.checked, 6);
  EXPECT_LT(check.error, 1e-7);
  EXPECT_EQ(to_string(check).rfind("the gradient is right: 6 of 6 derivatives agree with "
                                   "differences\n  least exact: input ",
                                   0),
            0u)
      << check;
}

const auto kWrong = custom_gradient([](const Tensor& x) {
  return std::pair(reduce_sum(x * x), [x](const Tensor& dy) { return dy * x * Tensor{2.0, 10.0}; });
});

TEST(CheckGradient, OfAWrongOneSaysWhere) {
  EXPECT_EQ(
      to_string(check_gradient(kWrong, Tensor{1.0, 2.0})),
      "the gradient is WRONG: 1 of 2 derivatives agree with differences\n"
      "  worst: input 0 at (1,): 20 by the gradient, 4 by differences (relative error 0.8)\n");
}

TEST(CheckGradient, KinksAndFewDigits) {
  const auto relu = [](const Tensor& x) { return reduce_sum(nn::relu(x)); };
  EXPECT_EQ(
      to_string(check_gradient(relu, Tensor{0.0, 1.0})),
      "the gradient is WRONG: 1 of 2 derivatives agree with differences\n"
      "  worst: input 0 at (0,): 0 by the gradient, 0.5 by differences (relative error 1)\n"
      "  the function has a kink or a jump there: its slope is 0 from below and 1 from above; "
      "try another point\n");
  const auto f = [](const Tensor& x) { return reduce_sum(sin(x) * x); };
  EXPECT_TRUE(check_gradient(f, Tensor{0.5f, 1.5f}));
  const auto wrong = custom_gradient(
      [](const Tensor& x) { return std::pair(x * x, [](const Tensor& dy) { return dy; }); });
  EXPECT_NE(to_string(check_gradient(wrong, Tensor(3.0f)))
                .find("\n  float32 leaves few digits to differences; check in float64\n"),
            std::string::npos);
}

TEST(CheckGradient, IntegersStructuresAndSamples) {
  const std::map<std::string, Tensor> p = {{"rows", Tensor{2, 0}},
                                           {"table", ones({30, 40}, float64)}};
  const auto f = [](const std::map<std::string, Tensor>& q) {
    return tanh(gather(q.at("table"), q.at("rows")));
  };
  const GradientCheck check = check_gradient(f, p, {.per_tensor = 17});
  EXPECT_TRUE(check);
  EXPECT_EQ(check.checked, 17);
  EXPECT_EQ(check.input, 1u);
  EXPECT_TRUE(check_gradient([](const Tensor& x) { return x * 2.0; }, zeros({0}, float64)));
}

}  // namespace
}  // namespace gradus
