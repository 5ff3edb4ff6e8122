// Random small programs: reverse mode, forward mode and differences agree, and so do the second
// derivatives by both modes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Step = Tensor (*)(const Tensor& a, const Tensor& b);

// Functions of vectors of four elements, smooth and tame, of every kind of op.
const Step kSteps[] = {
    [](const Tensor& a, const Tensor& b) { return a + b; },
    [](const Tensor& a, const Tensor& b) { return a - b * 0.5; },
    [](const Tensor& a, const Tensor& b) { return tanh(a) * b; },
    [](const Tensor& a, const Tensor& b) { return a / (square(b) + 1.0); },
    [](const Tensor& a, const Tensor& b) { return sin(a + b); },
    [](const Tensor& a, const Tensor&) { return exp(tanh(a)); },
    [](const Tensor& a, const Tensor&) { return log(square(a) + 1.0); },
    [](const Tensor& a, const Tensor&) { return sigmoid(a); },
    [](const Tensor& a, const Tensor& b) { return atan2(a, square(b) + 1.0); },
    [](const Tensor& a, const Tensor&) { return softplus(a); },
    [](const Tensor& a, const Tensor& b) { return a * reduce_mean(b); },
    [](const Tensor& a, const Tensor& b) { return a - reduce_logsumexp(b); },
    [](const Tensor& a, const Tensor&) { return nn::softmax(a); },
    [](const Tensor& a, const Tensor&) { return cumsum(a) * 0.25; },
    [](const Tensor& a, const Tensor&) { return reverse(a, {0}); },
    [](const Tensor& a, const Tensor&) {
      return gather(a, Tensor{3, 0, 0, 2});
    },
    [](const Tensor& a, const Tensor& b) {
      return concat({slice(a, {1}, {2}), slice(b, {0}, {2})}, 0);
    },
    [](const Tensor& a, const Tensor& b) {
      const Tensor m = reshape(a, {2, 2});
      return tanh(reshape(matmul(m, transpose(reshape(b, {2, 2}))), {4}));
    },
    [](const Tensor& a, const Tensor& b) {
      return where(Tensor{true, false, true, false}, a, b);
    },
    [](const Tensor& a, const Tensor& b) {
      return reduce_prod(stack({sin(a), cos(b)}), {0});
    },
    [](const Tensor& a, const Tensor&) { return sqrt(square(a) + 0.5); },
    [](const Tensor& a, const Tensor& b) {
      return recompute_grad([b](const Tensor& x) { return erf(x) * b; })(a);
    },
};
constexpr int kCount = static_cast<int>(std::size(kSteps));

struct Line {
  int step, a, b;
};

// A program of two vectors; each line reads values made before it.
Tensor run(const std::vector<Line>& program, const Tensor& x, const Tensor& y) {
  std::vector<Tensor> values = {x, y};
  for (const Line& l : program) {
    const auto pick = [&](int i) { return values[static_cast<std::size_t>(i) % values.size()]; };
    values.push_back(kSteps[l.step](pick(l.a), pick(l.b)));
  }
  return reduce_sum(tanh(values.back()) * Tensor{1.0, -2.0, 0.5, 1.5});
}

double dot(const Tensor& a, const Tensor& b) { return reduce_sum(a * b).item<double>(); }

TEST(RandomGraphs, AllModesAgree) {
  setenv("RC_PARAMS", "seed=20261116 max_success=500", 0);  // yours, if you set them
  const auto number = [](int low, int high) { return *rc::gen::inRange(low, high); };
  const auto vector = [&] {
    std::vector<double> v;
    for (int i = 0; i < 4; ++i) v.push_back(number(-2000, 2000) / 1000.0 + 1e-4);
    return Tensor::from(v);
  };
  EXPECT_TRUE(rc::check([&] {
    std::vector<Line> program;
    const int lines = number(1, 12);
    for (int i = 0; i < lines; ++i)
      program.push_back({number(0, kCount), number(0, 100), number(0, 100)});
    const Tensor x = vector(), y = vector(), u = vector(), v = vector();
    const auto f = [&](const Tensor& a, const Tensor& b) { return run(program, a, b); };

    const auto [dx, dy] = grad<0, 1>(f)(x, y);
    const double along = jvp(f, {x, y}, {u, v}).second.item<double>();
    const double reverse = dot(dx, u) + dot(dy, v);
    const double scale = 1 + std::abs(along);
    RC_ASSERT(std::abs(along - reverse) < 1e-10 * scale);

    const double h = 1e-5;
    const double numeric =
        (f(x + u * h, y + v * h) - f(x - u * h, y - v * h)).item<double>() / (2 * h);
    RC_ASSERT(std::abs(along - numeric) < 1e-4 * scale);

    // Second order: u^T H u, forward over reverse and reverse over forward.
    const auto of_x = [&](const Tensor& a) { return run(program, a, y); };
    const auto slope = [&](const Tensor& a) { return jvp(of_x, a, u).second; };
    const double over_reverse = dot(hvp(of_x, x, u), u), over_forward = dot(grad(slope)(x), u);
    RC_ASSERT(std::abs(over_reverse - over_forward) < 1e-9 * (1 + std::abs(over_forward)));
  }));
}

}  // namespace
}  // namespace gradus
