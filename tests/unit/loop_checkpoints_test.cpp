// Gradients of loops that may keep only some bytes: the same bits as those that keep everything.
#include <gtest/gtest.h>

#include <cstring>

#include "gradus/control.h"
#include "gradus/error.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/loop_memory.h"
#include "gradus/memory.h"
#include "gradus/ops.h"

namespace gradus {
namespace {

using Fn = std::function<Tensor(const Tensor&)>;

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()), 0) << a << "\n" << b;
}

// Gradients with everything kept, and under limits from "one row" to "nearly all".
void check(const Fn& f, const Tensor& x) {
  const auto gradient = [&](const Tensor& t) { return grad(f)(t); };
  const Tensor whole = function(gradient)(x);
  for (std::int64_t bytes : {1, 300, 1000, 5000}) {
    const LoopMemoryLimit limit(bytes);
    expect_same_bits(function(gradient)(x), whole);
  }
}

Tensor ramp(const Shape& shape) {
  return reshape(cast(iota(shape.num_elements()), float32), shape) * 0.01f + 0.2f;
}

TEST(LoopCheckpoints, OfCarriesAndCaptures) {
  for (int n : {0, 1, 2, 3, 50, 333}) {
    check(
        [&](const Tensor& x) {
          const auto [i, h, same] = while_loop(
              [&](Tensor k, Tensor, Tensor) { return k < n; },
              [&](Tensor k, Tensor h, Tensor c) { return std::tuple(k + 1, tanh(x * h + c), c); },
              std::tuple(Tensor(0), ones({2, 5}), sin(x)));
          return reduce_sum(h * h);
        },
        ramp({5}));
  }
}

TEST(LoopCheckpoints, OfCarriesThatChangePlaces) {
  check(
      [](const Tensor& x) {
        const auto [i, a, b] =
            while_loop([](Tensor k, Tensor, Tensor) { return k < 101; },
                       [&](Tensor k, Tensor p, Tensor q) {
                         return std::tuple(k + 1, q, sin(p) * x + cast(k, float32) * 0.01f);
                       },
                       std::tuple(Tensor(0), x, x * 2.0f));
        return reduce_sum(a * b);
      },
      ramp({7}));
}

TEST(LoopCheckpoints, OfStacks) {
  for (bool reverse : {false, true}) {
    check(
        [&](const Tensor& x) {
          const auto [last, all] = scan(
              [&](const Tensor& c, const Tensor& row) {
                const Tensor next = tanh(matmul(expand_dims(c, 0), reshape(row, {3, 3})));
                return std::pair(reshape(next, {3}) + gather(x, Tensor(1)), c * row.shape()[0]);
              },
              ones({3}), reshape(concat({x, x * 0.5f, x + 1.0f, x * x}, 0), {12, 9}),
              {.reverse = reverse});
          return reduce_sum(last) + reduce_sum(all * all);
        },
        ramp({27}));
  }
}

// A product must not write over its own operand where no stack keeps them apart.
TEST(LoopCheckpoints, OfProductsThatAreCarriesAndRows) {
  const auto gradient = [](const Tensor& x) {
    return grad([](const Tensor& t) {
      const auto [last, all] = scan(
          [&](const Tensor& c, const Tensor&) {
            const Tensor next = matmul(c, t);
            return std::pair(next, next);
          },
          ones({40, 40}), ones({60, 1}));
      return reduce_sum(all * all) + reduce_sum(last);
    })(x);
  };
  const Tensor x = sin(ramp({40, 40}) * 30.0f) * 0.1f;
  const Tensor whole = function(gradient)(x);
  for (std::int64_t bytes : {1, 50'000}) {
    const LoopMemoryLimit limit(bytes);
    expect_same_bits(function(gradient)(x), whole);
  }
}

TEST(LoopCheckpoints, OfARunTimeCount) {
  const auto gradient = [](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) {
      const auto [i, h] =
          while_loop([&](Tensor k, Tensor) { return k < n; },
                     [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * t + h); },
                     std::tuple(Tensor(0), t));
      return reduce_sum(h);
    })(x);
  };
  const auto whole = function(gradient);
  const LoopMemoryLimit limit(2000);
  const auto bounded = function(gradient);
  for (int n : {0, 1, 7, 400})
    expect_same_bits(bounded(ramp({6}), Tensor(n)), whole(ramp({6}), Tensor(n)));
}

TEST(LoopCheckpoints, SizesThatChange) {
  const auto gradient = [](const Tensor& x) {
    return grad([](const Tensor& t) {
      const auto [last, all] = scan(
          [](const Tensor& c, const Tensor& row) {
            const Tensor next = sin(c * row) + row;
            return std::pair(next, next);
          },
          ones({3}), t);
      return reduce_sum(all * last);
    })(x);
  };
  const auto whole = function(gradient);
  const LoopMemoryLimit limit(200);
  const auto bounded = function(gradient);
  for (int n : {5, 9, 60, 3}) expect_same_bits(bounded(ramp({n, 3})), whole(ramp({n, 3})));
}

TEST(LoopCheckpoints, HaveDerivatives) {
  const auto f = [](const Tensor& x) {
    const auto [i, h] =
        while_loop([](Tensor k, Tensor) { return k < 60; },
                   [&](Tensor k, Tensor t) { return std::tuple(k + 1, sin(t) * x + 0.1 * t); },
                   std::tuple(Tensor(0), x));
    return reduce_sum(h);
  };
  const Tensor x = cast(ramp({3}), float64), v = cos(x);
  const auto product = [&](const Tensor& t) { return hvp(f, t, v); };
  const auto twice = [&](const Tensor& t) {
    return grad([&](const Tensor& u) { return reduce_sum(grad(f)(u) * v); })(t);
  };
  const Tensor expected = product(x);
  const LoopMemoryLimit limit(100);
  for (const Fn& second : {Fn(product), Fn(twice)}) {
    const Tensor found = function(second)(x);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(found.data<double>()[i], expected.data<double>()[i],
                  1e-10 * (1 + std::abs(expected.data<double>()[i])));
  }
}

TEST(LoopCheckpoints, MemoryIsBounded) {
  const std::int64_t steps = 20000, width = 100;  // 8 MB of states
  const auto gradient = [&](const Tensor& x) {
    return grad([&](const Tensor& t) {
      const auto [i, h] =
          while_loop([&](Tensor k, Tensor) { return k < steps; },
                     [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * 0.9f + t); },
                     std::tuple(Tensor(0), t));
      return reduce_sum(h);
    })(x);
  };
  const auto peak_of = [&](const auto& f) {
    reset_peak_memory();
    const auto before = memory_stats().live;
    f(ramp({width}));
    return memory_stats().peak - before;
  };
  const auto whole = function(gradient);
  EXPECT_GT(peak_of(whole), 8'000'000u);
  const LoopMemoryLimit limit(256 << 10);
  const auto bounded = function(gradient);
  EXPECT_LT(peak_of(bounded), 600'000u);
  expect_same_bits(bounded(ramp({width})), whole(ramp({width})));
}

TEST(LoopCheckpoints, ALimitIsANumberOfBytes) {
  EXPECT_THROW(LoopMemoryLimit(0), InvalidArgumentError);
  EXPECT_EQ(LoopMemoryLimit::of_thread(), 0);
  {
    const LoopMemoryLimit outer(100);
    {
      const LoopMemoryLimit inner(50);
      EXPECT_EQ(LoopMemoryLimit::of_thread(), 50);
    }
    EXPECT_EQ(LoopMemoryLimit::of_thread(), 100);
  }
  EXPECT_EQ(LoopMemoryLimit::of_thread(), 0);
}

}  // namespace
}  // namespace gradus
