#include <gtest/gtest.h>

#include "gradus/control.h"
#include "gradus/error.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/ops.h"
#include "gradus/vmap.h"

namespace gradus {
namespace {

double item(const Tensor& t) { return cast(t, float64).item<double>(); }

Tensor power(const Tensor& x, const Tensor& n) {
  const auto [i, y] = while_loop([&](Tensor k, Tensor) { return k < n; },
                                 [&](Tensor k, Tensor p) { return std::tuple(k + 1, p * x); },
                                 std::tuple(Tensor(0), ones(x.shape(), x.dtype())));
  return y + cast(i, x.dtype());
}

TEST(WhileLoop, EagerAndCompiledAgree) {
  const auto f = function(power);
  for (int n : {0, 1, 2, 7, 30})
    EXPECT_DOUBLE_EQ(item(f(Tensor(1.5), Tensor(n))), item(power(Tensor(1.5), Tensor(n)))) << n;
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(WhileLoop, ManyIterationsAndLimits) {
  const auto f = function([](const Tensor& x) {
    return while_loop([](Tensor i) { return i < 1000000; }, [](Tensor i) { return i + 1; }, x);
  });
  EXPECT_EQ(item(f(Tensor(3))), 1000000);
  const auto g = function([](const Tensor& x) {
    return while_loop([](Tensor i) { return i < 1000000; }, [](Tensor i) { return i + 1; }, x,
                      {.maximum_iterations = 5});
  });
  EXPECT_EQ(item(g(Tensor(3))), 8);
}

// How often such a loop runs is not known before a call is.
TEST(WhileLoop, TestsThatReadASize) {
  const auto f = function([](const Tensor& x) {
    return std::get<1>(
        while_loop([&](Tensor i, Tensor) { return i < reshape(shape(x), {}); },
                   [&](Tensor i, Tensor s) { return std::tuple(i + 1, s + reduce_sum(x)); },
                   std::tuple(Tensor(0), Tensor(0.0))));
  });
  for (int n : {5, 3, 7, 0, 1}) EXPECT_EQ(item(f(ones({n}, float64))), n * n) << n;
}

TEST(WhileLoop, NestedWithVariables) {
  const Variable v(Tensor(0));
  const auto f = function([&](const Tensor& n) {
    while_loop([&](Tensor i) { return i < n; },
               [&](Tensor i) {
                 while_loop([&](Tensor j) { return j < i; },
                            [&](Tensor j) {
                              v.assign_add(1);
                              return j + 1;
                            },
                            Tensor(0));
                 return i + 1;
               },
               Tensor(0));
    return v.value() + 0;
  });
  EXPECT_EQ(item(f(Tensor(5))), 10);
  EXPECT_EQ(item(f(Tensor(3))), 13);
  EXPECT_EQ(item(v.value()), 13);
}

TEST(WhileLoop, SaysWhatChanged) {
  try {
    function([](const Tensor& x) {
      return while_loop([](Tensor t) { return reduce_sum(t) < 10; },
                        [](Tensor t) {
                          return stack({t, t}, 0);
                        },
                        x);
    })(ones({2}));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("loop variable 0 is float32 (2,) before the body and "
                                         "float32 (2, 2) after it"),
              std::string::npos)
        << e.what();
  }
}

TEST(WhileLoop, TheTestIsNotMadeAfterTheLastTurnThatIsAllowed) {
  const auto f = [](const Tensor& x, std::int64_t most) {
    return while_loop([&](Tensor k) { return gather(x, k) > 0; },  // an error beyond the end
                      [](Tensor k) { return k + 1; }, Tensor(0), {.maximum_iterations = most});
  };
  for (std::int64_t most : {0, 1, 2, 3}) {
    const auto compiled = function([&](const Tensor& x) { return f(x, most); });
    EXPECT_EQ(compiled(Tensor{1.0, 2.0, 3.0}).item<int>(), most);
    EXPECT_EQ(compiled(Tensor{1.0, -2.0, 3.0}).item<int>(), std::min<std::int64_t>(most, 1));
  }
  EXPECT_THROW(function([&](const Tensor& x) { return f(x, -1); })(Tensor{1.0, 2.0}),
               InvalidArgumentError);
}

// How often, and to what, each example runs.
Tensor collatz(const Tensor& start) {
  const auto [n, steps] = while_loop(
      [](Tensor n, Tensor) { return n > 1; },
      [](Tensor n, Tensor steps) {
        return std::tuple(where(equal(floormod(n, 2), 0), floordiv(n, 2), 3 * n + 1), steps + 1);
      },
      std::tuple(start, Tensor(0)));
  return steps;
}

TEST(WhileLoop, ExamplesStopAtDifferentTimes) {
  const Tensor starts = {6, 1, 27, 2};
  const std::vector<int> expected = {8, 0, 111, 1};
  EXPECT_EQ(vmap(collatz)(starts).to_vector<int>(), expected);
  const auto compiled = function([](const Tensor& t) { return vmap(collatz)(t); });
  EXPECT_EQ(compiled(starts).to_vector<int>(), expected);
  EXPECT_EQ(vmap(function(collatz))(starts).to_vector<int>(), expected);
  // Examples that end where others go on do not go on.
  const auto limited = [](const Tensor& t) {
    return while_loop([](Tensor k) { return k < 10; }, [](Tensor k) { return k + 3; }, t,
                      {.maximum_iterations = 2});
  };
  EXPECT_EQ(vmap(limited)(Tensor{1, 5, 20}).to_vector<int>(), (std::vector<int>{7, 11, 20}));
  EXPECT_EQ(function([&](const Tensor& t) { return vmap(limited)(t); })(Tensor{1, 5, 20})
                .to_vector<int>(),
            (std::vector<int>{7, 11, 20}));
}

TEST(WhileLoop, GradientsOfEachExample) {
  const Tensor x = {{0.5, 0.1}, {1.5, 0.2}, {0.9, -0.4}}, n = {3, 0, 5};
  const auto f = [](const Tensor& t, const Tensor& count) {
    const auto [i, h] =
        while_loop([&](Tensor k, Tensor) { return k < count; },
                   [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * t); },
                   std::tuple(Tensor(0), t));
    return reduce_sum(h);
  };
  const auto each = [&](const Tensor& t, const Tensor& count) {
    return grad([&](const Tensor& u) { return f(u, count); })(t);
  };
  std::vector<Tensor> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(each(gather(x, Tensor(i)), gather(n, Tensor(i))));
  const std::vector<double> expected = stack(rows, 0).to_vector<double>();
  const auto expect_same = [&](const Tensor& found) {
    const auto values = found.to_vector<double>();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
  };
  const auto of_all = [&](const Tensor& t, const Tensor& count) {  // a tape around the vmap
    return grad([&](const Tensor& u) { return reduce_sum(vmap(f)(u, count)); })(t);
  };
  expect_same(vmap(each)(x, n));
  expect_same(of_all(x, n));
  expect_same(function(of_all)(x, n));
  expect_same(
      function([&](const Tensor& t, const Tensor& count) { return vmap(each)(t, count); })(x, n));
}

TEST(WhileLoop, StacksOfExamples) {
  const auto f = [](const Tensor& rows, const Tensor& start) {
    const auto [last, all] = scan(
        [](const Tensor& c, const Tensor& row) {
          const Tensor next = c * 0.5 + row;
          return std::pair(next, next * row);
        },
        start, rows);
    return std::pair(last, all);
  };
  const Tensor rows = reshape(cast(iota(24), float64), {2, 4, 3}),
               start = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  const auto mapped = [&](const Tensor& r, const Tensor& s) { return vmap(f)(r, s); };
  const auto [last, all] = mapped(rows, start);
  const auto [compiled_last, compiled_all] = function(mapped)(rows, start);
  EXPECT_EQ(compiled_all.shape(), Shape({2, 4, 3}));
  EXPECT_EQ(compiled_last.to_vector<double>(), last.to_vector<double>());
  EXPECT_EQ(compiled_all.to_vector<double>(), all.to_vector<double>());
}

}  // namespace
}  // namespace gradus
