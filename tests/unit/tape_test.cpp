#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

TEST(Tape, SquareOfAVariable) {
  const Variable x(Tensor(3.0f));
  GradientTape tape;
  const Tensor y = x * x;
  const Tensor dx = tape.gradient(y, x);
  EXPECT_EQ(y.item<float>(), 9);
  EXPECT_EQ(dx.item<float>(), 6);
}

TEST(Tape, WatchedTensorWithBroadcasting) {
  const Tensor x = {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, b = {10.0f, 20.0f, 30.0f};
  GradientTape tape;
  tape.watch(x);
  tape.watch(b);
  const Tensor loss = reduce_sum(square(x + b));
  const auto [dx, db] = tape.gradient(loss, x, b);
  EXPECT_EQ(dx.tensor().to_vector<float>(), (std::vector<float>{22, 44, 66, 28, 50, 72}));
  EXPECT_EQ(db.tensor().to_vector<float>(), (std::vector<float>{50, 94, 138}));
}

TEST(Tape, SecondAndThirdOrder) {
  const Tensor x(2.0);
  GradientTape t3;
  t3.watch(x);
  Tensor d2;
  {
    GradientTape t2;
    t2.watch(x);
    Tensor d1;
    {
      GradientTape t1;
      t1.watch(x);
      const Tensor y = x * x * x * x;
      d1 = t1.gradient(y, x);
    }
    EXPECT_EQ(d1.item<double>(), 32);
    d2 = t2.gradient(d1, x);
  }
  EXPECT_EQ(d2.item<double>(), 48);
  EXPECT_EQ(t3.gradient(d2, x).tensor().item<double>(), 48);
}

TEST(Tape, MatmulMatchesHandComputation) {
  const Variable w(Tensor{{1.0f, 2.0f}, {3.0f, 4.0f}});
  const Tensor x = {{1.0f, -1.0f}};
  GradientTape tape;
  const Tensor loss = reduce_mean(square(matmul(x, w) - 1.0));
  const Tensor dw = tape.gradient(loss, w);
  EXPECT_EQ(dw.to_vector<float>(), (std::vector<float>{-3, -3, 3, 3}));
}

TEST(Tape, ForwardOverReverseIsTheHessian) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  ForwardAccumulator acc(x, v);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(x * x * x);
  const Tensor g = tape.gradient(y, x);
  EXPECT_EQ(g.to_vector<double>(), (std::vector<double>{3, 12}));
  EXPECT_EQ(acc.jvp(g).tensor().to_vector<double>(), (std::vector<double>{6, -12}));
}

TEST(Tape, AValueHasNoPastForATapeThatBeginsToWatchItLater) {
  const Tensor x(2.0);
  GradientTape outer, inner({.persistent = true});
  outer.watch(x);
  const Tensor y = x * x;  // inner does not follow x yet
  inner.watch(y);
  inner.watch(x);
  const Tensor z = y * 3.0 + x;
  EXPECT_EQ(inner.gradient(z, y).tensor().item<double>(), 3);
  EXPECT_EQ(inner.gradient(z, x).tensor().item<double>(), 1);
  EXPECT_EQ(outer.gradient(z, x).tensor().item<double>(), 13);
}

// Products add to a sum inside their kernel, which rounds once less than an addition behind it: the
// bits of a gradient were others where the rule of the user's, or Python, kept what it had
// returned.
TEST(Tape, GradientsHaveTheSameBitsWhoeverHoldsTheirParts) {
  const auto gradient = [](bool keeps, auto product, const Tensor& x, const Tensor& w) {
    std::vector<Tensor> kept;
    const auto tanh_of = custom_gradient([&](const Tensor& a) {
      const auto rule = [&kept, keeps, a](const Tensor& dy) {
        const Tensor g = dy * (1.0 - square(tanh(a)));
        if (keeps) kept.push_back(g);
        return g;
      };
      return std::pair(tanh(a), rule);
    });
    GradientTape tape;
    tape.watch(w);
    const Tensor y = reduce_sum(sin(product(x, w))), z = reduce_sum(cos(tanh_of(w)));
    return tape.gradient(y + z, w).tensor().template to_vector<double>();
  };
  const auto some = [](const Shape& shape) {
    return reshape(sin(7.0 * cast(range(shape.num_elements()), float64)), shape);
  };
  const auto times = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  const auto filter = [](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b); };
  EXPECT_EQ(gradient(true, times, some({20, 9}), some({9, 8})),
            gradient(false, times, some({20, 9}), some({9, 8})));
  EXPECT_EQ(gradient(true, filter, some({4, 5, 5, 3}), some({2, 2, 3, 4})),
            gradient(false, filter, some({4, 5, 5, 3}), some({2, 2, 3, 4})));
}

TEST(Tape, UsedTwiceIsAnError) {
  const Tensor x(2.0f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  tape.gradient(y, x);
  EXPECT_THROW(tape.gradient(y, x), UsageError);
}

}  // namespace
}  // namespace gradus
