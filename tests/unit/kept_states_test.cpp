// States that a loop of unknown length keeps as it runs, and gradients from them: the same bits as
// those of a loop that keeps everything.
#include "control/kept_states.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compile/passes/clean.h"
#include "gradus/control.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/gradient.h"
#include "gradus/host_call.h"
#include "gradus/loop_memory.h"
#include "gradus/memory.h"
#include "gradus/ops.h"
#include "gradus/vmap.h"

namespace gradus {
namespace {

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()), 0) << a << "\n" << b;
}

Tensor ramp(std::int64_t size) { return cast(iota(size), float32) * 0.01f + 0.2f; }

TEST(KeptStates, AreEvenlySpacedWhateverTheCount) {
  const Shape scalar{}, three{3};
  const View carries[] = {{nullptr, &scalar, int64}, {nullptr, &three, float32}};
  const StateLayout layout(carries);
  EXPECT_EQ(layout.bytes, 128);
  for (std::int64_t slots : {1, 2, 5, 8, 64}) {
    for (std::int64_t count : {1, 2, 3, 4, 5, 8, 9, 17, 100, 1000, 4097}) {
      std::vector<char> memory(static_cast<std::size_t>(slots * layout.bytes));
      const auto bytes = static_cast<std::int64_t>(memory.size());
      KeptStates states(layout, memory.data(), bytes);
      std::int64_t turn = 0;
      float value[3] = {};
      void* const now[] = {&turn, value};
      while (turn < count) {
        turn += std::min(states.turns_to_next(turn), count - turn);
        value[2] = static_cast<float>(turn);
        if (turn < count) states.offer(turn, now);
      }
      const KeptStates kept(layout, memory.data(), bytes);
      const std::int64_t stride = kept.stride_after(count), used = (count - 1) / stride;
      EXPECT_LE(used, slots);
      if (stride > std::max<std::int64_t>(1, slots / 16)) {
        EXPECT_GE(used, slots / 2);
      }
      for (std::int64_t k = 1; k <= used; ++k) {
        const auto at = kept.before_turn(k * stride, stride);
        EXPECT_EQ(*static_cast<std::int64_t*>(at[0]), k * stride);
        EXPECT_EQ(static_cast<float*>(at[1])[2], static_cast<float>(k * stride));
      }
    }
  }
}

TEST(KeptStates, NoRoomIsNoState) {
  const Shape scalar{};
  const View carries[] = {{nullptr, &scalar, int64}};
  const StateLayout layout(carries);
  for (std::int64_t bytes : {0, 63}) {
    const KeptStates none(layout, nullptr, bytes);
    EXPECT_EQ(none.stride_after(1000), 0);
    EXPECT_GT(none.turns_to_next(7), 1 << 30);
  }
}

TEST(KeptStates, TakeAQuarterOfTheLimit) {
  const Aval carries[] = {{int64, {}}, {float32, {1000}}};  // 4096 bytes
  EXPECT_EQ(bytes_for_states(1 << 20, carries), 1 << 18);
  EXPECT_EQ(bytes_for_states(1, carries), 4 * 4096);
  EXPECT_EQ(bytes_for_states(std::int64_t{1} << 40, carries), 1024 * 4096);
}

// Of the loop and of the wish for its states, one node is left.
TEST(KeptStates, AreAskedOfTheLoopThatRunsAnyway) {
  const LoopMemoryLimit limit(1000);
  const auto graph = Graph::make();
  {
    const TraceScope scope(*graph);
    const Tensor x = graph->tensor(graph->add_input({float32, {3}}));
    const Tensor n = graph->tensor(graph->add_input({int32, {}}));
    const Tensor gradient = grad([&](const Tensor& t) {
      const auto [i, h] =
          while_loop([&](Tensor k, Tensor) { return k < n; },
                     [&](Tensor k, Tensor g) { return std::tuple(k + 1, sin(g) * t); },
                     std::tuple(Tensor(0), t));
      return reduce_sum(h);
    })(x);
    graph->set_outputs({graph->value(gradient)});
  }
  std::map<std::string, int> ops;
  const auto cleaned = clean(*graph);
  for (const Graph::Node& node : cleaned->nodes()) ++ops[node.op->name()];
  EXPECT_EQ(ops.at("keeping_while"), 1);
  EXPECT_EQ(ops.at("while_derivative"), 1);
  EXPECT_FALSE(ops.contains("while") || ops.contains("kept_states"));
}

using Program = std::function<Tensor(const Tensor& x, const Tensor& n)>;

// A function of x and a number that only the program knows: its gradient with everything kept, and
// under limits from "one row" to "nearly all".
void check(const Program& f, const Tensor& x, std::initializer_list<int> counts) {
  const auto gradient = [&](const Tensor& t, const Tensor& n) {
    return grad([&](const Tensor& u) { return f(u, n); })(t);
  };
  const auto whole = function(gradient);
  for (std::int64_t bytes : {1, 300, 1000, 5000, 100'000}) {
    const LoopMemoryLimit limit(bytes);
    const auto bounded = function(gradient);
    for (int n : counts) expect_same_bits(bounded(x, Tensor(n)), whole(x, Tensor(n)));
  }
}

Tensor until(const Tensor& x, const Tensor& n) {
  const auto [i, h] =
      while_loop([&](Tensor k, Tensor) { return k < n; },
                 [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * x + 0.1f * h); },
                 std::tuple(Tensor(0), x));
  return reduce_sum(h * h);
}

TEST(KeptStates, GiveTheSameGradient) { check(until, ramp(6), {0, 1, 2, 3, 7, 64, 65, 400, 1333}); }

TEST(KeptStates, WhereAConditionStops) {
  check(
      [](const Tensor& x, const Tensor& n) {
        const auto [h, most] =
            while_loop([&](Tensor h, Tensor) { return reduce_max(h) < 2.0f; },
                       [&](Tensor h, Tensor c) {
                         return std::tuple(h + 0.05f * x / cast(n, float32), tanh(c) + x);
                       },
                       std::tuple(x, x));
        return reduce_sum(h * most);
      },
      ramp(6), {1, 5, 30});
}

TEST(KeptStates, WhereTurnsAreLimited) {
  for (std::int64_t most : {0, 1, 2, 9, 10, 100}) {
    check(
        [&](const Tensor& x, const Tensor& n) {
          const auto [i, h] =
              while_loop([&](Tensor k, Tensor) { return k < n; },
                         [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * x); },
                         std::tuple(Tensor(0), x), {.maximum_iterations = most});
          return reduce_sum(h);
        },
        ramp(6), {0, 1, 10, 70});
  }
}

TEST(KeptStates, OfCarriesThatChangePlaces) {
  check(
      [](const Tensor& x, const Tensor& n) {
        const auto [i, a, b] =
            while_loop([&](Tensor k, Tensor, Tensor) { return k < n; },
                       [&](Tensor k, Tensor p, Tensor q) {
                         return std::tuple(k + 1, q, sin(p) * x + cast(k, float32) * 0.01f);
                       },
                       std::tuple(Tensor(0), x, x * 2.0f));
        return reduce_sum(a * b);
      },
      ramp(7), {0, 1, 2, 101, 500});
}

TEST(KeptStates, OfLoopsInLoops) {
  check(
      [](const Tensor& x, const Tensor& n) {
        const auto [i, h] = while_loop(
            [&](Tensor k, Tensor) { return k < n; },
            [&](Tensor k, Tensor h) {
              const auto [j, inner] = while_loop(
                  [&](Tensor m, Tensor) { return m < floormod(k, 40); },
                  [&](Tensor m, Tensor g) { return std::tuple(m + 1, tanh(g * x + 0.1f)); },
                  std::tuple(Tensor(0), h));
              return std::tuple(k + 1, inner + x);
            },
            std::tuple(Tensor(0), x));
        return reduce_sum(h);
      },
      ramp(4), {0, 1, 50, 170});
}

// The loop runs with its effects once, and its states are kept then.
TEST(KeptStates, OfLoopsWithEffects) {
  int calls = 0;
  const auto gradient = [&](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) {
      const auto [i, h] = while_loop([&](Tensor k, Tensor) { return k < n; },
                                     [&](Tensor k, Tensor h) {
                                       host_call({.name = "count",
                                                  .run =
                                                      [&](const auto&) {
                                                        ++calls;
                                                        return std::vector<Tensor>();
                                                      }},
                                                 {k}, {});
                                       return std::tuple(k + 1, sin(h) * t);
                                     },
                                     std::tuple(Tensor(0), t));
      return reduce_sum(h);
    })(x);
  };
  const auto whole = function(gradient);
  const Tensor expected = whole(ramp(5), Tensor(300));
  EXPECT_EQ(calls, 300);
  const LoopMemoryLimit limit(1000);
  const auto bounded = function(gradient);
  expect_same_bits(bounded(ramp(5), Tensor(300)), expected);
  EXPECT_EQ(calls, 600);
}

TEST(KeptStates, SizesThatChange) {
  const auto gradient = [](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) { return until(t, n); })(x);
  };
  const auto whole = function(gradient);
  for (std::int64_t bytes : {10, 20'000}) {
    const LoopMemoryLimit limit(bytes);
    const auto bounded = function(gradient);
    for (int size : {5, 9, 60, 3})
      for (int n : {0, 3, 800})
        expect_same_bits(bounded(ramp(size), Tensor(n)), whole(ramp(size), Tensor(n)));
  }
}

TEST(KeptStates, HaveSecondDerivatives) {
  const Tensor x = cast(ramp(3), float64), v = cos(x);
  const auto f = [](const Tensor& t, const Tensor& n) {
    const auto [i, h] =
        while_loop([&](Tensor k, Tensor) { return k < n; },
                   [&](Tensor k, Tensor h) { return std::tuple(k + 1, sin(h) * t + 0.1 * h); },
                   std::tuple(Tensor(0), t));
    return reduce_sum(h);
  };
  const auto product = [&](const Tensor& t, const Tensor& n) {
    return hvp([&](const Tensor& u) { return f(u, n); }, t, v);
  };
  const auto twice = [&](const Tensor& t, const Tensor& n) {
    const auto first = grad([&](const Tensor& u) { return f(u, n); });
    return grad([&](const Tensor& u) { return reduce_sum(first(u) * v); })(t);
  };
  for (int n : {0, 1, 60}) {
    const Tensor expected = product(x, Tensor(n));
    const LoopMemoryLimit limit(100);
    for (const Program& second : {Program(product), Program(twice)}) {
      const Tensor found = function(second)(x, Tensor(n));
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(found.data<double>()[i], expected.data<double>()[i],
                    1e-10 * (1 + std::abs(expected.data<double>()[i])));
    }
  }
}

TEST(KeptStates, GradientsOfExamples) {
  const auto each = [](const Tensor& xs, const Tensor& n) {
    return vmap(
        [&](const Tensor& x) { return grad([&](const Tensor& t) { return until(t, n); })(x); })(xs);
  };
  const Tensor xs = reshape(ramp(12), {3, 4});
  const Tensor whole = function(each)(xs, Tensor(90));
  const LoopMemoryLimit limit(500);
  expect_same_bits(function(each)(xs, Tensor(90)), whole);
}

// A million turns: 64 MB of rows, and the program does not know how many.
TEST(KeptStates, MemoryIsBounded) {
  const auto gradient = [](const Tensor& x, const Tensor& n) {
    return grad([&](const Tensor& t) {
      const auto [i, h] =
          while_loop([&](Tensor k, Tensor) { return k < n; },
                     [&](Tensor k, Tensor h) { return std::tuple(k + 1, h * 0.9f + t); },
                     std::tuple(Tensor(0), t));
      return reduce_sum(h);
    })(x);
  };
  const LoopMemoryLimit limit(256 << 10);
  const auto bounded = function(gradient);
  reset_peak_memory();
  const auto before = memory_stats().live;
  const Tensor found = bounded(ramp(16), Tensor(1'000'000));
  EXPECT_LT(memory_stats().peak - before, 400'000u);
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(found.data<float>()[i], 10.0f, 1e-3f);
}

}  // namespace
}  // namespace gradus
