// Fits a line to points by gradient descent, then asks for derivatives in other ways.
#include <gradus/gradus.h>

#include <iostream>

namespace gd = gradus;

int main() {
  const gd::Tensor x = {0.0f, 1.0f, 2.0f, 3.0f}, y = {1.0f, 3.0f, 5.0f, 7.0f};
  gd::Variable slope(gd::Tensor(0.0f)), offset(gd::Tensor(0.0f));
  for (int step = 0; step < 200; ++step) {
    gd::GradientTape tape;  // records until it is used
    const gd::Tensor loss = gd::reduce_mean(gd::square(slope * x + offset - y));
    const auto [d_slope, d_offset] = tape.gradient(loss, slope, offset);
    slope.assign_sub(0.1 * d_slope.tensor());
    offset.assign_sub(0.1 * d_offset.tensor());
  }
  std::cout << "y = " << slope.value() << " x + " << offset.value() << "\n";

  const auto f = [](const gd::Tensor& v) { return gd::reduce_sum(gd::exp(v) * gd::sin(v)); };
  const gd::Tensor direction = {1.0f, 0.0f, 0.0f, 0.0f};
  std::cout << "gradient " << gd::grad(f)(x) << "\n"
            << "along a direction " << gd::jvp(f, x, direction).second << "\n"
            << "Hessian times it " << gd::hvp(f, x, direction) << "\n";
}
