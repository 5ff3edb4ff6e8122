#include <gtest/gtest.h>

#include "gradus/control.h"
#include "gradus/error.h"
#include "gradus/function.h"
#include "gradus/ops.h"

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
                          return concat({t, t}, 0);
                        },
                        x);
    })(ones({2}));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("loop variable 0 is float32 (2,) before the body and "
                                         "float32 (4,) after it"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace gradus
