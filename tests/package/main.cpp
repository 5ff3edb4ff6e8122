#include <gradus/gradus.h>

#include <iostream>

int main() {
  namespace gd = gradus;
  const gd::Variable w(gd::Tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}));
  gd::GradientTape tape;
  const gd::Tensor loss = gd::reduce_sum(gd::square(w));
  const gd::Tensor gradient = tape.gradient(loss, w);
  std::cout << gradient << "\n";
  return gradient.to_vector<float>() == std::vector<float>{2, 4, 6, 8} ? 0 : 1;
}
