// A program built as a graph: nodes first, then runs of what is fetched, with values that are fed.
#include <gradus/gradus.h>

#include <iostream>

namespace gd = gradus;

int main() {
  const gd::GraphProgram program;
  const gd::Tensor x = program.placeholder(gd::float32, {-1, 1}, "x");
  const gd::Tensor y = program.placeholder(gd::float32, {-1, 1}, "y");
  const gd::Variable slope = program.variable(gd::zeros({1, 1}), {.name = "slope"});
  const gd::Variable offset = program.variable(gd::zeros({1}), {.name = "offset"});
  const gd::Tensor loss = gd::reduce_mean(gd::square(gd::matmul(x, slope) + offset - y));
  const auto gradients = gd::gradients({loss}, {slope, offset});
  const gd::Operation step = program.operation([&] {
    slope.assign_sub(0.1 * gradients[0].tensor());
    offset.assign_sub(0.1 * gradients[1].tensor());
  });

  gd::Session session(program);  // has the variables' values
  session.run(program.initializer());
  const gd::Session::Feeds feeds = {{x, gd::Tensor({{0.0f}, {1.0f}, {2.0f}, {3.0f}})},
                                    {y, gd::Tensor({{1.0f}, {3.0f}, {5.0f}, {7.0f}})}};
  for (int i = 0; i < 200; ++i) session.run(step, feeds);
  std::cout << "y = " << session.value(slope) << " x + " << session.value(offset) << ", loss "
            << session.run({loss}, feeds)[0] << "\n"
            << session.explain({.fetches = {loss}, .fed = {x, y}, .operations = {step}});
}
