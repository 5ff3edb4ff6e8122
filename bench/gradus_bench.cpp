// Gradus's side of the comparison. Names, inputs and results are those of peers/torch_bench.cpp.
#include <gradus/gradus.h>
#include <gradus/threads.h>

#include "bench.h"

namespace {

namespace gd = gradus;
using bench::Step;
using gd::Tensor;

Step add1() {
  const Tensor a = gd::ones({1}), b = gd::fill({1}, 2.0f);
  return [=](bool want) {
    for (int i = 0; i < 1000; ++i) {
      Tensor y = a + b;
    }
    return want ? (a + b).item<double>() : 0.0;
  };
}

Step chain1000() {
  const Tensor a(0.999f), b(0.001f);
  const gd::Variable x(Tensor(0.5f));
  return [=](bool want) {
    gd::GradientTape tape;
    Tensor y = x;
    for (int i = 0; i < 1000; ++i) y = y * a + b;
    const Tensor g = tape.gradient(y, x);
    return want ? g.item<double>() : 0.0;
  };
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_cases(argc, argv, "Gradus", gd::set_thread_count,
                          {{"add1", 1000, add1}, {"chain1000", 2000, chain1000}});
}
