// A training step, traced once and compiled: forward, backward and update are one program.
#include <gradus/gradus.h>

#include <iostream>

namespace gd = gradus;

int main() {
  gd::random::set_seed(1);
  const gd::keras::Dense hidden(2, 32, "tanh"), out(32, 2);
  gd::keras::Adam adam({.learning_rate = 0.01});
  const auto step = gd::function([&](const gd::Tensor& x, const gd::Tensor& label) {
    gd::GradientTape tape;
    const gd::Tensor loss = gd::keras::sparse_categorical_crossentropy(label, out(hidden(x)));
    adam.minimize(tape, loss, gd::keras::variables(hidden, out));
    return loss;
  });

  gd::Tensor loss;
  for (int i = 0; i < 500; ++i) {  // is the point inside the circle?
    const gd::Tensor x = gd::random::uniform({i % 10 == 9 ? 32 : 64, 2}, {.minval = -1});
    loss = step(x, gd::cast(gd::reduce_sum(x * x, {1}) < 0.5, gd::int32));
  }
  std::cout << "loss " << loss << " after " << step.trace_count() << " traces\n";
}
