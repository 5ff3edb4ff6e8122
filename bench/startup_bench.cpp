// How long a program that uses Gradus takes to start, differentiate something and end.
#include <gradus/gradus.h>

#include <cstdio>

int main() {
  namespace gd = gradus;
  const gd::Variable x(gd::Tensor(3.0f));
  gd::GradientTape tape;
  const gd::Tensor y = x * x;
  const gd::Tensor dx = tape.gradient(y, x);
  std::printf("%g\n", static_cast<double>(dx.item<float>()));
  return dx.item<float>() == 6.0f ? 0 : 1;
}
