#include "gradus/control.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gradus/gradus.h"

namespace gradus {
namespace {

double item(const Tensor& t) { return cast(t, float64).item<double>(); }

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

void expect_says(const std::string& message, const char* part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

Tensor kink(const Tensor& x) {
  return cond(
      reduce_sum(x) > 0, [&] { return reduce_sum(sqrt(x) * x); },
      [&] { return reduce_sum(exp(x)); });
}

TEST(Cond, EagerAndCompiledAgree) {
  const auto f = function(kink);
  for (double a : {0.5, 2.0, -1.0, -3.0}) {
    const Tensor x = Tensor({1.0, 2.0, 3.0}) * a;
    EXPECT_DOUBLE_EQ(item(f(x)), item(kink(x))) << a;
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Cond, OnlyTheChosenBranchRuns) {
  // The other one would be told that its index is out of range.
  const auto f = function([](const Tensor& i) {
    const Tensor table({1.f, 2.f, 3.f});
    return cond(
        i < 3, [&] { return gather(table, i); }, [&] { return Tensor(-1.f); });
  });
  EXPECT_EQ(item(f(Tensor(2))), 3);
  EXPECT_EQ(item(f(Tensor(7))), -1);
}

TEST(Cond, GradientInsideTheTrace) {
  const auto df = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = kink(x);
    return tape.gradient(y, x).tensor();
  });
  for (double a : {1.0, -1.0}) {
    const Tensor x = Tensor({1.0, 2.0, 3.0}) * a;
    const Tensor g = df(x);
    GradientTape tape;
    tape.watch(x);
    const Tensor expected = tape.gradient(kink(x), x).tensor();
    for (int i = 0; i < 3; ++i)
      EXPECT_DOUBLE_EQ(g.data<double>()[i], expected.data<double>()[i]) << a;
  }
}

TEST(Cond, GradientThroughTheCompiledFunction) {
  const auto f = function(kink);
  for (double a : {1.0, -1.0}) {
    const Tensor x = Tensor({1.0, 2.0, 3.0}) * a;
    check_gradient([&](const Tensor& t) { return f(t); }, x);
  }
}

TEST(Cond, SecondOrderAndForward) {
  const auto second = function([](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor y = cond(
        x > 0, [&] { return x * x * x; }, [&] { return exp(x); });
    const Tensor dy = inner.gradient(y, x).tensor();
    return outer.gradient(dy, x).tensor();
  });
  EXPECT_DOUBLE_EQ(item(second(Tensor(2.0))), 12);
  EXPECT_DOUBLE_EQ(item(second(Tensor(-1.0))), std::exp(-1.0));
  const auto tangent = function([](const Tensor& x, const Tensor& t) {
    const ForwardAccumulator acc({{x, t}});
    return acc
        .jvp(cond(
            x > 0, [&] { return x * x * x; }, [&] { return exp(x); }))
        .tensor();
  });
  EXPECT_NEAR(item(tangent(Tensor(2.0), Tensor(1.0))), 12, 1e-12);
  EXPECT_NEAR(item(tangent(Tensor(-1.0), Tensor(1.0))), std::exp(-1.0), 1e-12);
}

TEST(Cond, StructuresNumbersAndNesting) {
  const auto f = function([](const Tensor& x) {
    const auto [a, b] = cond(
        x > 0, [&] { return std::pair(x * 2, Tensor(1.0)); },
        [&] {
          return std::pair(cond(
                               x < -10, [&] { return x * x; }, [&] { return -x; }),
                           x);
        });
    return a + b;
  });
  EXPECT_DOUBLE_EQ(item(f(Tensor(3.0))), 7);
  EXPECT_DOUBLE_EQ(item(f(Tensor(-3.0))), 0);
  EXPECT_DOUBLE_EQ(item(f(Tensor(-20.0))), 380);
}

TEST(Cond, UnconnectedIsNone) {
  const auto f = function([](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(y);
    const Tensor z = cond(
        x > 0, [&] { return x * stop_gradient(y); }, [&] { return x + 1; });
    return Tensor(tape.gradient(z, y).is_none() ? 1.0 : 0.0);
  });
  EXPECT_EQ(item(f(Tensor(1.0), Tensor(2.0))), 1);
}

TEST(Cond, VariablesAreReadAndAssigned) {
  const Variable v(Tensor(1.0)), w(Tensor(10.0));
  const auto f = function([&](const Tensor& x) {
    const Tensor y = cond(
        x > 0,
        [&] {
          v.assign_add(x);
          return v.value() * 2;
        },
        [&] {
          w.assign(v.value() - x);
          return w.value() + 0;
        });
    return y + v.value();
  });
  EXPECT_DOUBLE_EQ(item(f(Tensor(2.0))), 9);
  EXPECT_DOUBLE_EQ(item(v.value()), 3);
  EXPECT_DOUBLE_EQ(item(w.value()), 10);
  EXPECT_DOUBLE_EQ(item(f(Tensor(-1.0))), 7);
  EXPECT_DOUBLE_EQ(item(v.value()), 3);
  EXPECT_DOUBLE_EQ(item(w.value()), 4);
}

TEST(Cond, GradientsReachVariables) {
  const Variable w(Tensor(3.0));
  const auto f = function([&](const Tensor& x) {
    GradientTape tape;
    const Tensor y = cond(
        x > 0, [&] { return w.value() * w.value() * x; }, [&] { return w.value() * x; });
    return tape.gradient(y, w).tensor();
  });
  EXPECT_DOUBLE_EQ(item(f(Tensor(2.0))), 12);
  EXPECT_DOUBLE_EQ(item(f(Tensor(-2.0))), -2);
}

TEST(Cond, SymbolicSizes) {
  const auto f = function([](const Tensor& x) {
    return cond(
        reduce_sum(x) > 0,
        [&] {
          return concat({x, zeros(x.shape(), x.dtype())}, 0) * x.shape()[0];
        },
        [&] {
          return concat({ones(x.shape()), -x}, 0);
        });
  });
  for (std::int64_t n : {3, 5, 8, 4}) {
    const Tensor x = ones({n});
    const Tensor y = f(x), z = f(-x);
    ASSERT_EQ(y.shape(), Shape{2 * n});
    EXPECT_EQ(y.data<float>()[n - 1], static_cast<float>(n));
    EXPECT_EQ(y.data<float>()[n], 0);
    ASSERT_EQ(z.shape(), Shape{2 * n});
    EXPECT_EQ(z.data<float>()[2 * n - 1], 1);
  }
  EXPECT_EQ(f.trace_count(), 2) << f.explain();
}

TEST(Cond, SwitchCaseTakesTheLastWhenOutOfRange) {
  const auto g = [](const Tensor& i, const Tensor& x) {
    const std::vector<std::function<Tensor()>> branches = {
        [&] { return x * 1; }, [&] { return x * 10; }, [&] { return x * 100; }};
    return switch_case(i, branches);
  };
  const auto f = function(g);
  for (int i = -1; i < 5; ++i)
    EXPECT_EQ(item(f(Tensor(i), Tensor(2.0))), item(g(Tensor(i), Tensor(2.0)))) << i;
  EXPECT_EQ(item(f(Tensor(-1), Tensor(2.0))), 200);
}

TEST(Cond, Errors) {
  const Tensor x(1.0);
  const auto bad = [](const char*, auto a, auto b) {
    return message_of([&] {
      function([&](const Tensor& t) {
        return cond(
            t > 0, [&] { return a(t); }, [&] { return b(t); });
      })(Tensor(1.0));
    });
  };
  expect_says(
      bad(
          "", [](Tensor t) { return t; }, [](Tensor t) { return cast(t, float32); }),
      "[cond] result 0 is float64 () in branch true and float32 () in branch false; dtypes and "
      "numbers of axes must agree");
  expect_says(bad(
                  "", [](Tensor t) { return t; }, [](Tensor t) { return reshape(t, {1}); }),
              "result 0 is float64 () in branch true and float64 (1,) in branch false");
  expect_says(message_of([&] {
                cond(
                    x, [] { return Tensor(1); }, [] { return Tensor(2); });
              }),
              "[cond] got float64 of shape (); expected a scalar bool");
}

}  // namespace
}  // namespace gradus
