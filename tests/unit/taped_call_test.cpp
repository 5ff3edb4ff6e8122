// Compiled functions that are called under tapes: a program forwards and a program backwards.
#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

Tensor input() { return {{0.5f, -1.f, 2.f}, {1.5f, 0.25f, -0.75f}}; }

void expect_close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.shape(), b.shape());
  if (a.num_elements() == 0) return;
  EXPECT_LE(reduce_max(abs(a - b)).item<double>(), tolerance) << a << " and " << b;
}

// What the profile says the program consists of.
std::string kernels_of(const std::function<void()>& f) {
  Profile profile;
  f();
  profile.stop();
  return profile.table(100);
}

TEST(TapedCall, GradientsAreThoseOfThePlainFunction) {
  const Variable w(Tensor({{0.5f, -1.f}, {2.f, 0.25f}, {1.f, 1.f}})), b(Tensor({0.1f, -0.2f}));
  const auto plain = [&](const Tensor& x) { return tanh(nn::softmax(matmul(x, w) + b)) * 2; };
  const auto compiled = function(plain);
  for (const Tensor& x : {input(), concat({input(), input(), input()}, 0), input() * 2}) {
    const auto gradients = [&](const auto& f) {
      GradientTape tape;
      tape.watch(x);
      const Tensor loss = reduce_sum(square(f(x)) + f(x));
      const auto [dx, dw, db] = tape.gradient(loss, x, w, b);
      return std::vector<Tensor>{loss, dx.tensor(), dw.tensor(), db.tensor()};
    };
    const auto expected = gradients(plain), found = gradients(compiled);
    for (std::size_t i = 0; i < expected.size(); ++i) expect_close(found[i], expected[i]);
  }
}

TEST(TapedCall, RunsFusedLoopsBothWaysAndTheForwardPartOnce) {
  const Variable w(Tensor({{0.5f, -1.f}, {2.f, 0.25f}, {1.f, 1.f}}));
  const auto f = function([&](const Tensor& x) { return tanh(matmul(x, w) * 2 + 1); });
  const auto step = [&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(f(input()));
    tape.gradient(loss, w);
  };
  step();
  const std::string table = kernels_of(step);
  EXPECT_NE(table.find("multiply, add, tanh"), std::string::npos) << table;
  EXPECT_NE(table.find("tanh.vjp0, multiply.vjp0"), std::string::npos) << table;
  EXPECT_EQ(table.find("multiply, add, tanh, tanh.vjp0"), std::string::npos) << table;
}

TEST(TapedCall, OnlySomeResultsMayHaveGradients) {
  const auto f = function([](const Tensor& x) {
    return std::tuple(reduce_sum(x * x), argmax(x, 1), sin(x), x, Tensor(2.f));
  });
  const Tensor x = input();
  {
    GradientTape tape;
    tape.watch(x);
    const auto [y, index, s, same, constant] = f(x);
    EXPECT_EQ(index.data<std::int64_t>()[0], 2);
    expect_close(tape.gradient(y, x), 2 * x);
  }
  {
    GradientTape tape;
    tape.watch(x);
    const auto [y, index, s, same, constant] = f(x);
    expect_close(tape.gradient(reduce_sum(s) + y + reduce_sum(same * 3), x), cos(x) + 2 * x + 3);
  }
  {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const auto [y, index, s, same, constant] = f(x);
    EXPECT_TRUE(tape.gradient(constant, x).is_none());
    expect_close(tape.gradient(same, x), ones_like(x));
    expect_close(tape.gradient(s, x), cos(x));
  }
}

TEST(TapedCall, RowsStayRows) {
  const Variable table(Tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  const auto f = function([&](const Tensor& ids) { return square(gather(table, ids)); });
  GradientTape tape;
  const Tensor y = reduce_sum(f(Tensor{2, 0, 2}));
  const Gradient g = tape.gradient(y, table);
  EXPECT_TRUE(g.is_rows());
  expect_close(g.tensor(), {{2.f, 4.f}, {0.f, 0.f}, {20.f, 24.f}});
}

TEST(TapedCall, WritesVariables) {
  const Variable mean(Tensor({0.f, 0.f, 0.f})), scale(Tensor(2.f));
  const auto f = function([&](const Tensor& x) {
    mean.assign(0.5 * mean + 0.5 * reduce_mean(x, {0}));
    return scale * (x - mean);
  });
  const Tensor x = input();
  for (int i = 0; i < 2; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_sum(f(x));
    const Tensor g = tape.gradient(loss, scale);
    expect_close(g, reduce_sum(x - mean));
  }
  expect_close(mean, 0.75 * reduce_mean(x, {0}));
}

TEST(TapedCall, RandomNumbersAreTheSameBothWays) {
  const auto f = function([](const Tensor& x) { return nn::dropout(x, 0.5) * x; });
  const Tensor x = ones({64}) * 3;
  Tensor before;
  for (int i = 0; i < 3; ++i) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    expect_close(tape.gradient(y, x), y * (2.0 / 3));  // y = 2 x^2 or 0
    if (i > 0) {
      EXPECT_GT(reduce_max(abs(y - before)).item<double>(), 1);
    }
    before = y;
  }
  GradientTape outer;
  outer.watch(x);
  Tensor dx, y;
  {
    GradientTape inner;
    inner.watch(x);
    y = f(x);
    dx = inner.gradient(y, x);
  }
  expect_close(outer.gradient(dx, x), y * (2.0 / 9));
}

TEST(TapedCall, HigherOrdersAndOtherModes) {
  const auto plain = [](const Tensor& x) { return sin(x) * exp(x * 0.5) * x; };
  const auto compiled = function(plain);
  const Tensor x = {0.5f, -1.f, 2.f}, v = {1.f, 0.5f, -2.f};
  const auto third = [&](const auto& f) {
    GradientTape a, b, c;
    for (GradientTape* t : {&a, &b, &c}) t->watch(x);
    const Tensor y = f(x);
    const Tensor d1 = c.gradient(y, x);
    const Tensor d2 = b.gradient(d1, x);
    return a.gradient(d2, x).tensor();
  };
  expect_close(third(compiled), third(plain), 1e-4);
  const auto jacobian = [&](const auto& f) {
    GradientTape tape;
    tape.watch(x);
    return tape.jacobian(f(x), x);
  };
  expect_close(jacobian(compiled), jacobian(plain));
  const auto sum = [](const auto& f) { return [&f](const Tensor& t) { return reduce_sum(f(t)); }; };
  expect_close(hvp(sum(compiled), x, v), hvp(sum(plain), x, v), 1e-4);
  expect_close(jvp([&](const Tensor& t) { return compiled(t); }, x, v).second,
               jvp(plain, x, v).second);
}

TEST(TapedCall, CapturedTensorsCanBeWatched) {
  const Tensor captured = {1.f, 2.f, 3.f};
  const auto f = function([&](const Tensor& x) { return reduce_sum(x * captured * captured); });
  const Tensor x = {1.f, 1.f, 2.f};
  f(x);
  GradientTape tape;
  tape.watch(captured);
  expect_close(tape.gradient(f(x), captured), {2.f, 4.f, 12.f});
}

TEST(TapedCall, MoreThan32InputsAndResults) {
  std::vector<Variable> variables;
  for (int i = 0; i < 40; ++i) variables.emplace_back(Tensor(1.f + 0.1f * static_cast<float>(i)));
  const auto f = function([&](const Tensor& x) {
    std::vector<Tensor> out;
    for (const Variable& v : variables) out.push_back(exp(v * x));
    return out;
  });
  GradientTape tape;
  const std::vector<Tensor> y = f(Tensor(0.5f));
  Tensor loss(0.f);
  for (const Tensor& t : y) loss = loss + t;
  const std::vector<Gradient> g = tape.gradient(loss, variables);
  for (std::size_t i = 0; i < y.size(); ++i) expect_close(g[i].tensor(), 0.5 * y[i]);
}

TEST(TapedCall, NothingFollowedIsAnOrdinaryCall) {
  const Variable v(Tensor(1.f), {.trainable = false});
  const auto f = function([&](const Tensor& x) {
    v.assign_add(x);
    return v * 1;
  });
  GradientTape tape;
  EXPECT_EQ(f(Tensor(2.f)).item<float>(), 3);
  EXPECT_EQ(f(Tensor(2.f)).item<float>(), 5);
  EXPECT_EQ(v.value().item<float>(), 5);
}

}  // namespace
}  // namespace gradus
