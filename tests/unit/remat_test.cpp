// Values that are computed again: the same bits in less memory, never an effect twice.
#include "compile/passes/remat.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "gradus/gradus.h"
#include "gradus/host_call.h"
#include "gradus/memory.h"
#include "graph/evaluate.h"
#include "graph/text.h"

namespace gradus {
namespace {

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  ASSERT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()), 0) << what;
}

// A deep network: its gradient needs what every layer gave.
Tensor deep(const Tensor& x, const std::vector<Tensor>& weights) {
  Tensor h = x;
  for (const Tensor& w : weights) h = tanh(matmul(h, w));
  return reduce_sum(h * h);
}

std::vector<Tensor> make_weights(int layers, std::int64_t width) {
  std::vector<Tensor> weights;
  for (int i = 0; i < layers; ++i)
    weights.push_back(random::stateless_normal({width, width}, Tensor({3, i})) * 0.2f);
  return weights;
}

TEST(Remat, TheGradientOfADeepChainFitsIntoAThirdOfItsMemory) {
  const std::vector<Tensor> weights = make_weights(32, 16);
  const auto gradient = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(deep(x, weights), x).tensor();
  };
  const Tensor x = random::stateless_normal({256, 16}, Tensor({1, 2}));
  const auto plain = function(gradient);
  const std::int64_t before = plain.estimate(x).temporary_bytes;
  const std::int64_t limit = before * 2 / 5;
  const auto small = function(gradient, {.memory_limit = limit});
  EXPECT_LE(small.estimate(x).temporary_bytes, limit) << small.explain();
  expect_same_bits(small(x), plain(x), "gradient");
  EXPECT_NE(small.explain().find("is kept"), std::string::npos) << small.explain();
  EXPECT_NE(small.report().find("ops run again"), std::string::npos) << small.report();
  // Work for memory: not more than the forward pass once more.
  EXPECT_LT(small.estimate(x).flops, 1.5 * plain.estimate(x).flops);

  const auto peak_of_first_call = [&](const auto& f) {
    reset_peak_memory();
    const std::size_t live = memory_stats().live;
    f(x);
    return static_cast<std::int64_t>(memory_stats().peak - live);
  };
  const auto fresh = function(gradient), fresh_small = function(gradient, {.memory_limit = limit});
  (void)fresh.estimate(x);  // traced before, so that only the call is measured
  (void)fresh_small.estimate(x);
  const std::int64_t most = peak_of_first_call(fresh), least = peak_of_first_call(fresh_small);
  EXPECT_GE(most, before);
  EXPECT_LT(least, limit + static_cast<std::int64_t>(x.num_bytes()) + 4096);
}

// The programs of loops and branches count, and are made smaller in the same way.
TEST(Remat, LoopsAndBranchesTakePart) {
  const std::vector<Tensor> weights = make_weights(24, 16);
  const auto inner_gradient = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(deep(x, weights), x).tensor();
  };
  const Tensor x = random::stateless_normal({256, 16}, Tensor({1, 2}));
  using Program = std::function<Tensor(const Tensor&, const Tensor&)>;
  const Program in_while = [&](const Tensor& t, const Tensor& n) {
    return std::get<1>(while_loop(
        [&](Tensor k, Tensor) { return k < n; },
        [&](Tensor k, Tensor h) { return std::tuple(k + 1, h + 0.1f * inner_gradient(h)); },
        std::tuple(Tensor(0), t)));
  };
  const Program in_scan = [&](const Tensor& t, const Tensor& n) {
    return scan([&](const Tensor& h,
                    const Tensor& row) { return std::pair(h + 0.1f * inner_gradient(h), row); },
                t, zeros({3}) + cast(n, float32))
        .first;
  };
  const Program in_branch = [&](const Tensor& t, const Tensor& n) {
    return cond(
        n > 2, [&] { return inner_gradient(t); }, [&] { return t; });
  };
  for (const Program& program : {in_while, in_scan, in_branch}) {
    const auto plain = function(program);
    const std::int64_t before = plain.estimate(x, Tensor(3)).temporary_bytes;
    EXPECT_GT(before, 20 * 256 * 16 * 4);
    const std::int64_t limit = before * 3 / 5;
    const auto small = function(program, {.memory_limit = limit});
    EXPECT_LE(small.estimate(x, Tensor(3)).temporary_bytes, limit) << small.explain();
    EXPECT_NE(small.report().find("of these in loops and branches"), std::string::npos);
    EXPECT_NE(small.explain().find("is kept"), std::string::npos) << small.explain();
    expect_same_bits(small(x, Tensor(3)), plain(x, Tensor(3)), "gradient in a loop");

    const auto peak_of_first_call = [&](std::int64_t bytes) {
      const auto fresh = function(program, {.memory_limit = bytes});
      (void)fresh.estimate(x, Tensor(3));
      reset_peak_memory();
      const std::size_t live = memory_stats().live;
      fresh(x, Tensor(3));
      return static_cast<std::int64_t>(memory_stats().peak - live);
    };
    // Besides: the result, what fused loops work in, and headers.
    const auto others = static_cast<std::int64_t>(x.num_bytes()) + 16384;
    EXPECT_LT(peak_of_first_call(limit), limit + others);
    EXPECT_GT(peak_of_first_call(0), limit + others);
  }
}

TEST(Remat, WhatCannotBeReachedStillRunsAndIsSaid) {
  const std::vector<Tensor> weights = make_weights(8, 16);
  const auto loss = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(deep(x, weights), x).tensor();
  };
  const Tensor x = random::stateless_normal({64, 16}, Tensor({1, 2}));
  const auto plain = function(loss), small = function(loss, {.memory_limit = 1});
  expect_same_bits(small(x), plain(x), "gradient");
  EXPECT_NE(small.explain().find("not reached"), std::string::npos) << small.explain();
  EXPECT_LT(small.estimate(x).temporary_bytes, plain.estimate(x).temporary_bytes);
}

TEST(Remat, CanBeSkipped) {
  const std::vector<Tensor> weights = make_weights(8, 16);
  const auto f = function([&](const Tensor& x) { return deep(x, weights); },
                          {.memory_limit = 1, .skip_passes = {"remat"}});
  f(random::stateless_normal({64, 16}, Tensor({1, 2})));
  EXPECT_EQ(f.explain().find("temporaries"), std::string::npos) << f.explain();
}

TEST(Remat, ATrainingStepIsTheSame) {
  const auto train = [](std::int64_t limit) {
    random::set_seed(5);
    std::vector<keras::Dense> layers;
    for (int i = 0; i < 10; ++i) layers.emplace_back(24, 24, "tanh");
    std::vector<Variable> variables;
    for (const keras::Dense& layer : layers)
      for (const Variable& v : keras::variables(layer)) variables.push_back(v);
    keras::Adam adam({.learning_rate = 0.01});
    const auto step = function(
        [&](const Tensor& x) {
          GradientTape tape;
          Tensor h = x;
          for (const keras::Dense& layer : layers)  // and a dropout written by hand
            h = layer(h) * cast(random::uniform({96, 24}) > 0.1, float32);
          const Tensor loss = reduce_mean(square(h - x));
          adam.minimize(tape, loss, variables);
          return loss;
        },
        {.memory_limit = limit});
    std::vector<Tensor> losses;
    for (int i = 0; i < 4; ++i)
      losses.push_back(step(random::stateless_normal({96, 24}, Tensor({9, i}))));
    for (const Variable& v : variables) losses.push_back(v.value());
    return std::pair(losses, step.explain());
  };
  const auto [plain, unused] = train(0);
  const auto [small, explained] = train(150000);
  EXPECT_NE(explained.find("ops run again"), std::string::npos) << explained;
  EXPECT_EQ(explained.find(" 0 ops run again"), std::string::npos) << explained;
  ASSERT_EQ(plain.size(), small.size());
  for (std::size_t i = 0; i < plain.size(); ++i)
    expect_same_bits(plain[i], small[i], "result " + std::to_string(i));
}

TEST(Remat, EffectsHappenOnce) {
  int calls = 0;
  const std::vector<Tensor> weights = make_weights(12, 16);
  const auto f = function(
      [&](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        const Tensor noisy = x + random::normal({64, 16});
        const auto count = [&](const std::vector<Tensor>&) {
          ++calls;
          return std::vector<Tensor>();
        };
        host_call({.name = "count", .run = count}, {noisy}, {});
        return tape.gradient(deep(noisy, weights), x).tensor();
      },
      {.memory_limit = 1});
  f(random::stateless_normal({64, 16}, Tensor({1, 2})));
  EXPECT_EQ(calls, 1);
}

// Random programs with many values that live long.
Tensors random_program(std::mt19937& rng, std::span<const Tensor> in) {
  std::vector<Tensor> all(in.begin(), in.end());
  const auto pick = [&] { return all[rng() % all.size()]; };
  for (int i = 0; i < 40; ++i) {
    switch (rng() % 6) {
      case 0:
        all.push_back(matmul(pick(), tanh(matmul(pick(), pick(), {.transpose_a = true}) * 0.1)));
        break;
      case 1:
        all.push_back(pick() * sigmoid(reduce_sum(pick(), {1}, true)));
        break;
      case 2:
        all.push_back(reshape(transpose(reshape(pick(), {4, 12})), {12, 4}));
        break;
      case 3: {
        const std::vector<Tensor> parts = split(pick(), 2, 1);
        all.push_back(concat({parts[1], parts[0]}, 1));
        break;
      }
      default:
        all.push_back(tanh(pick() + pick() * 0.5));
    }
  }
  return {all.back(), pick(), reduce_sum(pick())};
}

TEST(Remat, RandomGraphsKeepEveryBit) {
  int smaller = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto body = [seed](std::span<const Tensor> in) {
      std::mt19937 rng(seed);
      GradientTape tape;
      for (const Tensor& t : in) tape.watch(t);
      const Tensors out = random_program(rng, in);
      Tensors all(out.begin(), out.end());
      for (const Gradient& g : tape.gradient(std::vector<Tensor>(out.begin(), out.end()),
                                             std::vector<Source>(in.begin(), in.end()),
                                             {.unconnected = Unconnected::zero}))
        all.push_back(g.tensor());
      return all;
    };
    auto graph = Graph::make();
    std::vector<Aval> avals(2, Aval{float32, {12, 4}});
    graph = optimise(trace(body, avals, graph));
    Executable plain(graph);
    const std::int64_t before = plain.arena_bytes({});
    for (const int percent : {80, 50, 10}) {
      const Rematerialised made = rematerialise(*graph, {}, {}, before * percent / 100);
      EXPECT_EQ(made.bytes_before, before);
      if (!made.graph) continue;
      Executable program(made.graph);
      EXPECT_EQ(program.arena_bytes({}), made.bytes);
      EXPECT_LT(made.bytes, before);
      ++smaller;
      std::vector<Tensor> in, again, a(graph->outputs().size()), b(a.size());
      for (int i = 0; i < 2; ++i)
        in.push_back(random::stateless_normal({12, 4}, Tensor({int(seed), i})));
      again = in;
      plain.run(in, a);
      program.run(again, b);
      for (std::size_t i = 0; i < a.size(); ++i)
        expect_same_bits(a[i], b[i], "seed " + std::to_string(seed));
    }
  }
  EXPECT_GT(smaller, 20);
}

}  // namespace
}  // namespace gradus
