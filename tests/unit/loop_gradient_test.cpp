// Derivatives of loops inside traced functions, against those of the same loop run at once.
#include <gtest/gtest.h>

#include <cmath>

#include "control/loop.h"
#include "gradus/control.h"
#include "gradus/error.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/gradient.h"
#include "gradus/host_call.h"
#include "gradus/ops.h"

namespace gradus {
namespace {

using Fn = std::function<Tensor(const Tensor&)>;

void expect_near(const char* what, const Tensor& a, const Tensor& b, double tolerance = 1e-9) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = cast(a, float64), y = cast(b, float64);
  for (std::int64_t i = 0; i < x.num_elements(); ++i) {
    const double p = x.data<double>()[i], q = y.data<double>()[i];
    EXPECT_NEAR(p, q, tolerance * (1 + std::abs(q))) << what << ", element " << i;
  }
}

// Value, gradient, tangent and Hessian-vector product of a scalar function: compiled, compiled and
// then differentiated, and all at once.
void check(const Fn& f, const Tensor& x) {
  const Tensor v = sin(x + 1.0);
  const auto gradient = [&](const Tensor& t) { return grad(f)(t); };
  const auto tangent = [&](const Tensor& t) { return jvp(f, t, v).second; };
  const auto product = [&](const Tensor& t) { return hvp(f, t, v); };
  expect_near("value", function(f)(x), f(x));
  expect_near("gradient", function(gradient)(x), gradient(x));
  expect_near("tangent", function(tangent)(x), tangent(x));
  expect_near("Hessian times vector", function(product)(x), product(x));
  const auto compiled = function(f);
  compiled(x);
  expect_near("through the compiled", grad([&](const Tensor& t) { return compiled(t); })(x),
              gradient(x));
  // The gradient of a gradient, both in reverse.
  const auto twice = [&](const Tensor& t) {
    return grad([&](const Tensor& u) { return reduce_sum(grad(f)(u) * v); })(t);
  };
  expect_near("reverse over reverse", function(twice)(x), twice(x));
}

Tensor ramp(const Shape& shape) {
  return reshape(cast(iota(shape.num_elements()), float64), shape) * 0.1 + 0.2;
}

TEST(LoopGradient, OfACarry) {
  check(
      [](const Tensor& x) {
        const auto [i, h] =
            while_loop([](Tensor k, Tensor) { return k < 5; },
                       [](Tensor k, Tensor t) { return std::tuple(k + 1, sin(t) * t); },
                       std::tuple(Tensor(0), x));
        return reduce_sum(h);
      },
      ramp({3}));
}

TEST(LoopGradient, OfCaptures) {
  check(
      [](const Tensor& x) {
        const auto [i, h] =
            while_loop([](Tensor k, Tensor) { return k < 7; },
                       [&](Tensor k, Tensor t) { return std::tuple(k + 1, tanh(x * t + x)); },
                       std::tuple(Tensor(0), ones({2, 3}, float64)));
        return reduce_sum(h * h);
      },
      ramp({3}));
}

TEST(LoopGradient, CountersDecideAndCount) {
  check(
      [](const Tensor& x) {  // the position is used as a number
        const auto [i, s] =
            while_loop([](Tensor k, Tensor) { return k < 4; },
                       [&](Tensor k, Tensor t) {
                         return std::tuple(k + 1, t + gather(x, k) * cast(k, float64) * x);
                       },
                       std::tuple(Tensor(0), zeros({4}, float64)));
        return reduce_sum(s * s);
      },
      ramp({4}));
}

TEST(LoopGradient, CarriesThatOnlyLaterMatter) {
  check(
      [](const Tensor& x) {  // only c is returned, and at first only a depends on x
        const auto [i, a, b, c] =
            while_loop([](Tensor k, Tensor, Tensor, Tensor) { return k < 6; },
                       [](Tensor k, Tensor p, Tensor q, Tensor r) {
                         return std::tuple(k + 1, p * 1.1, q + sin(p), r * 0.5 + q * q);
                       },
                       std::tuple(Tensor(0), x, zeros({2}, float64), zeros({2}, float64)));
        return reduce_sum(c);
      },
      ramp({2}));
}

TEST(LoopGradient, SwappedAndUnchangedCarries) {
  check(
      [](const Tensor& x) {
        const auto [i, a, b, c] = while_loop(
            [](Tensor k, Tensor, Tensor, Tensor) { return k < 5; },
            [](Tensor k, Tensor p, Tensor q, Tensor r) { return std::tuple(k + 1, q * r, p, r); },
            std::tuple(Tensor(0), x, x * x, exp(x)));
        return reduce_sum(a + 2.0 * b + c);
      },
      ramp({2}));
}

TEST(LoopGradient, Products) {
  check(
      [](const Tensor& w) {
        const auto [i, h] = while_loop(
            [](Tensor k, Tensor) { return k < 4; },
            [&](Tensor k, Tensor t) { return std::tuple(k + 1, tanh(matmul(t, w)) + 0.1 * t); },
            std::tuple(Tensor(0), ramp({2, 3})));
        return reduce_sum(square(h));
      },
      ramp({3, 3}));
}

TEST(LoopGradient, NestedLoops) {
  check(
      [](const Tensor& x) {
        const auto [i, h] =
            while_loop([](Tensor k, Tensor) { return k < 3; },
                       [&](Tensor k, Tensor t) {
                         const auto [j, u] = while_loop(
                             [](Tensor m, Tensor) { return m < 2; },
                             [&](Tensor m, Tensor s) { return std::tuple(m + 1, sin(s) * x + t); },
                             std::tuple(Tensor(0), t));
                         return std::tuple(k + 1, u);
                       },
                       std::tuple(Tensor(0), x));
        return reduce_sum(h);
      },
      ramp({2}));
}

TEST(LoopGradient, BranchesInLoopsAndLoopsInBranches) {
  check(
      [](const Tensor& x) {
        const auto [i, h] = while_loop([](Tensor k, Tensor) { return k < 5; },
                                       [&](Tensor k, Tensor t) {
                                         const Tensor next = cond(
                                             equal(floormod(k, 2), 0), [&] { return t * x; },
                                             [&] { return sin(t); });
                                         return std::tuple(k + 1, next);
                                       },
                                       std::tuple(Tensor(0), x));
        return cond(
            reduce_sum(h) < 100,
            [&] {
              const auto [j, u] =
                  while_loop([](Tensor k, Tensor) { return k < 3; },
                             [](Tensor k, Tensor t) { return std::tuple(k + 1, t * t); },
                             std::tuple(Tensor(0), h + x));
              return reduce_sum(u);
            },
            [&] { return reduce_sum(h); });
      },
      ramp({2}));
}

TEST(LoopGradient, ArraysThatAreWrittenAndRead) {
  check(
      [](const Tensor& x) {
        const auto [i, a] = while_loop(
            [](Tensor k, Tensor) { return k < 4; },
            [&](Tensor k, Tensor t) {
              return std::tuple(k + 1, set_row(t, k + 1, gather(t, k) * sin(gather(x, k))));
            },
            std::tuple(Tensor(0), ones({5}, float64)));
        return reduce_sum(a * a);
      },
      ramp({4}));
}

TEST(LoopGradient, NoIterations) {
  check(
      [](const Tensor& x) {
        const auto [i, h] = while_loop([](Tensor k, Tensor) { return k < 0; },
                                       [&](Tensor k, Tensor t) { return std::tuple(k + 1, t * x); },
                                       std::tuple(Tensor(0), x * x));
        return reduce_sum(h);
      },
      ramp({3}));
}

TEST(LoopGradient, Scan) {
  for (bool reverse : {false, true}) {
    check(
        [&](const Tensor& x) {
          const auto [last, all] = scan(
              [&](const Tensor& c, const Tensor& row) {
                const Tensor next = sin(c) * row + gather(x, Tensor(0));
                return std::pair(next, next * row);
              },
              ones({2}, float64), x, {.reverse = reverse});
          return reduce_sum(last) + reduce_sum(all * all);
        },
        ramp({4, 2}));
  }
}

TEST(LoopGradient, UnconnectedIsNone) {
  const auto f = function([](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(y);
    const auto [i, a, b] =
        while_loop([](Tensor k, Tensor, Tensor) { return k < 3; },
                   [](Tensor k, Tensor p, Tensor q) { return std::tuple(k + 1, p * 2.0, q * 3.0); },
                   std::tuple(Tensor(0), x, y));
    const auto [dx, dy] = tape.gradient(reduce_sum(a), x, y);
    EXPECT_TRUE(dy.is_none());
    return dx.tensor();
  });
  expect_near("gradient", f(ramp({2}), ramp({2})), fill({2}, 8.0));
}

// The number of iterations depends on data.
Tensor until(const Tensor& x, const Tensor& n) {
  const auto [i, h, same] = while_loop(
      [&](Tensor k, Tensor t, Tensor) { return logical_and(k < n, reduce_sum(t) < 1e3); },
      [&](Tensor k, Tensor t, Tensor c) { return std::tuple(k + 1, t * x + c, c); },
      std::tuple(Tensor(0), x, sin(x)));
  return reduce_sum(h * same);
}

TEST(LoopGradient, RunTimeCount) {
  const Tensor x = ramp({3}) + 1.0, v = cos(x);
  const auto gradient = [](const Tensor& t, const Tensor& n) {
    return grad([&](const Tensor& u) { return until(u, n); })(t);
  };
  const auto tangent = [&](const Tensor& t, const Tensor& n) {
    return jvp([&](const Tensor& u) { return until(u, n); }, t, v).second;
  };
  const auto compiled = function(gradient);
  const auto pushed = function(tangent);
  const auto value = function(until);
  for (int n : {0, 1, 2, 5, 9, 40}) {
    expect_near("gradient", compiled(x, Tensor(n)), gradient(x, Tensor(n)));
    expect_near("tangent", pushed(x, Tensor(n)), tangent(x, Tensor(n)));
    value(x, Tensor(n));
    expect_near("through the compiled",
                grad([&](const Tensor& u) { return value(u, Tensor(n)); })(x),
                gradient(x, Tensor(n)));
  }
  EXPECT_EQ(compiled.trace_count(), 1);
}

// Second and third derivatives of a loop with a run-time count, in every order of modes.
TEST(LoopGradient, RunTimeCountToAnyOrder) {
  const Tensor x = ramp({3}) + 1.0, v = cos(x);
  using Of = std::function<Tensor(const Tensor&)>;
  const auto pulled = [&](const Of& f) {
    return Of([=](const Tensor& t) {
      return grad([&](const Tensor& u) { return reduce_sum(f(u) * v); })(t);
    });
  };
  const auto pushed = [&](const Of& f) {
    return Of([=](const Tensor& t) { return jvp(f, t, v).second; });
  };
  const std::vector<std::function<Of(const Of&)>> orders = {
      [&](const Of& f) { return pulled(pulled(f)); },
      [&](const Of& f) { return pushed(pulled(f)); },
      [&](const Of& f) { return pulled(pushed(f)); },
      [&](const Of& f) { return pulled(pulled(pulled(f))); },
      [&](const Of& f) { return pushed(pushed(pulled(f))); },
      [&](const Of& f) { return pulled(pushed(pulled(f))); },
  };
  for (const auto& order : orders) {
    const auto derivative = [&](const Tensor& t, const Tensor& n) {
      return order([&](const Tensor& u) { return until(u, n); })(t);
    };
    const auto compiled = function(derivative);
    for (int n : {0, 1, 4})
      expect_near("derivative", compiled(x, Tensor(n)), derivative(x, Tensor(n)), 1e-8);
    EXPECT_EQ(compiled.trace_count(), 1);
  }
}

TEST(LoopGradient, SecondDerivativesThatAreNoneStayNone) {
  const auto f = function([](const Tensor& x, const Tensor& y, const Tensor& n) {
    GradientTape outer;
    outer.watch(x);
    outer.watch(y);
    GradientTape tape;
    tape.watch(x);
    const auto [i, a] =
        while_loop([&](Tensor k, Tensor) { return k < n; },
                   [&](Tensor k, Tensor p) { return std::tuple(k + 1, p * 2.0 + y); },
                   std::tuple(Tensor(0), x * x));
    const Tensor dx = tape.gradient(reduce_sum(a), x).tensor();
    const auto [again, by_y] = outer.gradient(dx, x, y);
    EXPECT_TRUE(by_y.is_none());
    return again.tensor();
  });
  expect_near("second", f(ramp({2}), ramp({2}), Tensor(3)), fill({2}, 16.0));
}

TEST(LoopGradient, RunTimeCountsInside) {
  const auto f = [](const Tensor& x, const Tensor& n) {
    const auto [i, h] = while_loop(
        [&](Tensor k, Tensor) { return k < 4; },
        [&](Tensor k, Tensor t) { return std::tuple(k + 1, t + 0.1 * until(x * 0.5, k * n)); },
        std::tuple(Tensor(0), zeros({}, float64)));
    return h * h;
  };
  const auto gradient = [&](const Tensor& t, const Tensor& n) {
    return grad([&](const Tensor& u) { return f(u, n); })(t);
  };
  for (int n : {0, 2})
    expect_near("gradient", function(gradient)(ramp({2}), Tensor(n)),
                gradient(ramp({2}), Tensor(n)));
}

// What a derivative traces and compiles it keeps, also where effects were left out of the body.
TEST(LoopGradient, RunTimeCountsTraceNothingAtTheNextRun) {
  int calls = 0;
  const HostFunction count{.name = "count", .run = [&](const auto&) {
                             ++calls;
                             return std::vector<Tensor>();
                           }};
  const auto f = [&](const Tensor& x, const Tensor& n) {
    const auto [i, h] = while_loop(
        [&](Tensor k, Tensor) { return k < n; },
        [&](Tensor k, Tensor h) {
          host_call(count, {k}, {});
          return std::tuple(k + 1,
                            sin(h) * x + reduce_sum(matmul(ones({3, 3}), expand_dims(h, 1)), {1}));
        },
        std::tuple(Tensor(0), x));
    return reduce_sum(h);
  };
  const auto gradient = [&](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) { return f(t, n); })(x);
  };
  const auto twice = [&](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) { return reduce_sum(gradient(t, n)); })(x);
  };
  using Program = std::function<Tensor(const Tensor&, const Tensor&)>;
  for (const Program& derivative : {Program(gradient), Program(twice)}) {
    const auto program = function(derivative);
    const Tensor x{0.1f, 0.2f, 0.3f};
    program(x, Tensor(5));
    calls = 0;
    const std::uint64_t loops = CountedLoop().id;
    program(x, Tensor(7));
    EXPECT_EQ(CountedLoop().id, loops + 1);
    EXPECT_EQ(calls, 7);
  }
}

TEST(LoopGradient, AMillionSteps) {
  const auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const auto [i, h] =
        while_loop([](Tensor k, Tensor) { return k < 1000000; },
                   [&](Tensor k, Tensor t) { return std::tuple(k + 1, t * 0.999 + x); },
                   std::tuple(Tensor(0), zeros({}, float64)));
    return tape.gradient(h, x).tensor();
  });
  EXPECT_NEAR(f(Tensor(1.0)).item<double>(), 1000, 1e-6);
}

}  // namespace
}  // namespace gradus
