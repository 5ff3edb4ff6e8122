// outside FILE: a gradient, and a step that is saved for a program without its source (loader.cpp).
#include <gradus/gradus.h>

#include <iostream>

int main(int argc, char** argv) {
  namespace gd = gradus;
  const gd::Variable w(gd::Tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}));
  gd::GradientTape tape;
  const gd::Tensor loss = gd::reduce_sum(gd::square(w));
  const gd::Tensor gradient = tape.gradient(loss, w);
  std::cout << gradient << "\n";
  if (argc > 1) {
    const auto step = gd::function([&](const gd::Tensor& x) {
      gd::GradientTape inner;
      const gd::Tensor y = gd::reduce_sum(gd::erf(gd::cumsum(gd::tanh(gd::matmul(x, w)))));
      w.assign_sub(0.1 * inner.gradient(y, w).tensor());
      return y;
    });
    step(gd::eye(2));
    gd::save_function(argv[1], step.saved());
    std::cout << step(gd::eye(2)) << " " << step(gd::eye(2)) << "\n";
  }
  try {  // errors name this line, however the library is linked
    gd::matmul(w.value(), gd::ones({3, 3}));
  } catch (const gd::Error& e) {
    if (std::string(e.what()).find("main.cpp:") == std::string::npos) return 2;
  }
  return gradient.to_vector<float>() == std::vector<float>{2, 4, 6, 8} ? 0 : 1;
}
