// The code of docs/first-gradient.md.
#include <gtest/gtest.h>

// [start]
#include <gradus/gradus.h>

#include <iostream>

namespace gd = gradus;

gd::Tensor slope_of_a_square() {
  const gd::Tensor x(3.0);
  gd::GradientTape tape;
  tape.watch(x);               // a plain tensor: say that you care about it
  const gd::Tensor y = x * x;  // ordinary code, and the tape writes it down
  return tape.gradient(y, x);  // dy/dx = 2 x = 6
}
// [/start]

// [descent]
double fitted_slope() {
  const gd::Tensor x = {0.0, 1.0, 2.0}, y = {1.0, 3.0, 5.0};
  const gd::Variable w(gd::Tensor(0.0)), b(gd::Tensor(0.0));  // watched whenever they are read
  for (int step = 0; step < 500; ++step) {
    gd::GradientTape tape;
    const gd::Tensor loss = gd::reduce_mean(gd::square(w * x + b - y));
    const auto [dw, db] = tape.gradient(loss, w, b);
    w.assign_sub(0.1 * dw.tensor());
    b.assign_sub(0.1 * db.tensor());
  }
  return w.value().item<double>();  // 2, and b is 1
}
// [/descent]

// [functions]
gd::Tensor energy(const gd::Tensor& x) { return gd::reduce_sum(gd::sin(x) * x); }

gd::Tensor gradient_at(const gd::Tensor& x) { return gd::grad(energy)(x); }
gd::Tensor hessian_at(const gd::Tensor& x) { return gd::hessian(energy, x).tensor(); }
gd::Tensor change_along(const gd::Tensor& x, const gd::Tensor& direction) {
  return gd::jvp(energy, x, direction).second;  // forward mode: no tape, no saved values
}
// [/functions]

// [why]
std::string why_is_it_none() {
  const gd::Variable w(gd::Tensor{1.0, 2.0}, {.name = "w"});
  gd::GradientTape tape;
  const gd::Tensor y = gd::stop_gradient(w * 2.0);
  return tape.explain(y, w);
}
// [/why]

// [check]
bool is_right() {
  const gd::Tensor x = {0.5, -1.0};
  const gd::GradientCheck check = gd::check_gradient(energy, x);
  std::cout << check;
  return check.right;
}
// [/check]

// [custom]
const auto log1pexp = gd::custom_gradient([](const gd::Tensor& x) {
  const gd::Tensor e = gd::exp(x);
  const auto gradient = [e](const gd::Tensor& dy) { return dy * (1 - 1 / (1 + e)); };
  return std::pair(gd::log(1 + e), gradient);
});
// [/custom]

namespace {

TEST(FirstGradient, ThePageIsTrue) {
  EXPECT_EQ(slope_of_a_square().item<double>(), 6);
  EXPECT_NEAR(fitted_slope(), 2, 1e-6);
  const gd::Tensor x = {0.5, -1.0}, v = {1.0, 0.0};
  EXPECT_DOUBLE_EQ(change_along(x, v).item<double>(), gradient_at(x).data<double>()[0]);
  EXPECT_EQ(hessian_at(x).shape(), (gd::Shape{2, 2}));
  EXPECT_EQ(why_is_it_none().rfind("none: on the way from the variable 'w' to the target, "
                                   "derivatives end at\n  [stop_gradient] at "
                                   "first_gradient_test.cpp:",
                                   0),
            0u);
  EXPECT_TRUE(is_right());
  EXPECT_DOUBLE_EQ(gd::grad(log1pexp)(gd::Tensor(100.0)).item<double>(), 1);
}

}  // namespace
