#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Values = std::vector<double>;
using ForwardTape = forward_diff::GradientTape;

Values values(const Tensor& t) { return t.to_vector<double>(); }

TEST(ForwardTape, GradientsAndJacobiansAsTheReverseTape) {
  const Tensor x = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, b = {0.5, -1.0};
  const Tensor w = {{1.0, -2.0}, {0.5, 3.0}, {-1.0, 1.0}}, weights = {{1.0, 2.0}, {3.0, 4.0}};
  GradientTape reverse({.persistent = true});
  ForwardTape forward;
  for (const Tensor& t : {x, b}) {
    reverse.watch(t);
    forward.watch(t);
  }
  const Tensor y = square(matmul(x, w) + b) * reduce_sum(b);
  for (const Tensor& source : {x, b}) {
    const Tensor j = forward.jacobian(y, source), k = reverse.jacobian(y, source);
    EXPECT_EQ(j.shape(), k.shape());
    EXPECT_EQ(values(j), values(k));
    EXPECT_EQ(values(forward.gradient(y, source)), values(reverse.gradient(y, source)));
    const GradientOptions weighted{.output_gradients = {weights}};
    EXPECT_EQ(values(forward.gradient({y}, {source}, weighted)[0]),
              values(reverse.gradient({y}, {source}, weighted)[0]));
  }
  const auto [dx, db] = forward.gradient(y, x, b);
  EXPECT_EQ(dx.tensor().shape(), x.shape());
  EXPECT_EQ(db.tensor().shape(), b.shape());
}

TEST(ForwardTape, VariablesAreWatchedWhenRead) {
  const Variable w(Tensor{2.0, 3.0}), fixed(Tensor(1.0), {.trainable = false});
  ForwardTape tape;
  const Tensor y = w * w * fixed;
  w.assign(Tensor{100.0, 100.0});
  EXPECT_EQ(values(tape.jacobian(y, w)), (Values{4, 0, 0, 6}));
  EXPECT_TRUE(tape.gradient(y, fixed).is_none());
  EXPECT_EQ(tape.watched_variables().size(), 1u);
  ForwardTape blind({.watch_accessed_variables = false});
  EXPECT_TRUE(blind.gradient(w * w, w).is_none());
  blind.watch(w);
  EXPECT_EQ(values(blind.gradient(w * w, w)), (Values{200, 200}));
}

TEST(ForwardTape, PauseStopAndReset) {
  const Tensor x = {1.0, 2.0};
  ForwardTape tape;
  tape.watch(x);
  Tensor hidden;
  {
    const auto pause = tape.stop_recording();
    EXPECT_FALSE(tape.is_recording());
    hidden = x * x;
  }
  EXPECT_TRUE(tape.gradient(hidden, x).is_none());
  const Tensor y = x * x;
  tape.stop();
  EXPECT_TRUE(tape.gradient(x * y, x).is_none());
  EXPECT_EQ(values(tape.gradient(y, x)), (Values{2, 4}));
  tape.reset();
  EXPECT_TRUE(tape.gradient(x * x, x).is_none());
  tape.watch(x);
  EXPECT_EQ(values(tape.gradient(x * x, x)), (Values{2, 4}));
}

TEST(ForwardTape, SourcesDoNotSeeEachOther) {
  // d^2 (x y) / dx dy must not leak into first derivatives, whatever the order of watching.
  const Tensor x(3.0), y(5.0);
  ForwardTape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor z = x * y * x;
  EXPECT_EQ(tape.gradient(z, x).tensor().item<double>(), 30);
  EXPECT_EQ(tape.gradient(z, y).tensor().item<double>(), 9);
}

TEST(ForwardTape, NestsInEveryOrder) {
  const Tensor x = {1.0, 2.0};
  const Values expected = {6, 0, 0, 12};  // of sum x^3
  {
    ForwardTape outer;  // forward over forward
    outer.watch(x);
    ForwardTape inner;
    inner.watch(x);
    const Tensor g = inner.gradient(reduce_sum(x * x * x), x);
    EXPECT_EQ(values(outer.jacobian(g, x)), expected);
  }
  {
    ForwardTape outer;  // forward over reverse
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor g = inner.gradient(reduce_sum(x * x * x), x);
    EXPECT_EQ(values(outer.jacobian(g, x)), expected);
  }
  {
    GradientTape outer;  // reverse over forward
    outer.watch(x);
    ForwardTape inner;
    inner.watch(x);
    const Tensor g = inner.gradient(reduce_sum(x * x * x), x);
    EXPECT_EQ(values(outer.jacobian(g, x)), expected);
  }
  {
    ForwardTape outer;  // watched only after the inner one was opened
    ForwardTape inner;
    inner.watch(x);
    outer.watch(x);
    const Tensor g = inner.gradient(reduce_sum(x * x * x), x);
    EXPECT_EQ(values(outer.jacobian(g, x)), expected);
  }
}

TEST(ForwardTape, InsideAndOutsideVmap) {
  const Tensor xs = {{1.0, 2.0}, {3.0, 4.0}};
  const auto f = [](const Tensor& v) { return v * reduce_sum(v); };
  const Tensor inside = vmap([&](const Tensor& v) {
    ForwardTape tape;
    tape.watch(v);
    return tape.jacobian(f(v), v).tensor();
  })(xs);
  EXPECT_EQ(values(inside), (Values{4, 1, 2, 5, 10, 3, 4, 11}));
  ForwardTape tape;
  tape.watch(xs);
  const Tensor y = vmap(f)(xs);
  EXPECT_EQ(values(tape.gradient(y, xs)), (Values{6, 6, 14, 14}));
}

TEST(ForwardTape, Errors) {
  ForwardTape tape;
  EXPECT_THROW(tape.watch(Tensor{1, 2}), InvalidArgumentError);
  EXPECT_THROW(tape.watch(zeros({1 << 16})), ResourceExhaustedError);
  EXPECT_THROW(tape.watch(Tensor(std::complex<float>(1, 2))), UnimplementedError);
  EXPECT_THROW(tape.jacobian(Tensor(), Tensor(1.0)), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
