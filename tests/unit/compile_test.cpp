// The compiler against the plain executor: random graphs, training steps, memory.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compile/executable.h"
#include "compile/memory_plan.h"
#include "compile/passes/pipeline.h"
#include "gradus/gradus.h"
#include "graph/evaluate.h"

namespace gradus {
namespace {

// A random program over a few matrices: elementwise ops, reductions along both axes, views,
// products, comparisons.
Tensors random_program(std::mt19937& rng, std::span<const Tensor> in) {
  std::vector<Tensor> full(in.begin(), in.end()), rows, columns;
  const auto pick = [&](std::vector<Tensor>& from) -> Tensor { return from[rng() % from.size()]; };
  const auto n = in[0].shape()[0], m = in[0].shape()[1];
  for (int i = 0; i < 25; ++i) {
    switch (rng() % 12) {
      case 0:
        full.push_back(pick(full) + pick(full));
        break;
      case 1:
        full.push_back(pick(full) * 0.5 - pick(full));
        break;
      case 2:
        full.push_back(tanh(pick(full)));
        break;
      case 3:
        rows.push_back(reduce_sum(pick(full) * 0.1, {1}, rng() % 2 == 0));
        break;
      case 4:
        columns.push_back(reduce_mean(pick(full), {0}));
        break;
      case 5:
        if (!rows.empty()) full.push_back(pick(full) * sigmoid(reshape(pick(rows), {n, 1})));
        break;
      case 6:
        if (!columns.empty()) full.push_back(pick(full) + pick(columns));
        break;
      case 7:
        full.push_back(nn::softmax(pick(full)));
        break;
      case 8:
        full.push_back(where(greater(pick(full), 0), pick(full), pick(full) * 0.1));
        break;
      case 9: {
        const Tensor w = matmul(pick(full), pick(full), {.transpose_a = true});
        full.push_back(matmul(pick(full), tanh(w * 0.1)));
        break;
      }
      case 10:
        full.push_back(broadcast_to(reduce_max(pick(full), {1}, true), {n, m}));
        break;
      default:
        if (!rows.empty()) rows.push_back(exp(negative(square(reshape(pick(rows), {n, 1})))));
    }
  }
  Tensors out{full.back(), pick(full), reduce_sum(pick(full))};
  if (!rows.empty()) out.push_back(rows.back());
  if (!columns.empty()) out.push_back(columns.back());
  return out;
}

void expect_same(const Tensor& a, const Tensor& b, double tolerance, unsigned seed) {
  ASSERT_EQ(a.shape(), b.shape()) << "seed " << seed;
  for (std::int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    ASSERT_NEAR(x, y, tolerance * (1 + std::abs(y))) << "seed " << seed << " element " << i;
  }
}

TEST(Compile, RandomGraphsAndTheirGradientsAgreeWithThePlainExecutor) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto body = [seed](std::span<const Tensor> in) {
      std::mt19937 rng(seed);
      if (seed % 2 == 0) return random_program(rng, in);
      GradientTape tape;
      for (const Tensor& t : in) tape.watch(t);
      const Tensors out = random_program(rng, in);
      Tensors all;
      std::vector<Tensor> targets(out.begin(), out.end());
      for (const Gradient& g : tape.gradient(targets, std::vector<Source>(in.begin(), in.end()),
                                             {.unconnected = Unconnected::zero}))
        all.push_back(g.tensor());
      return all;
    };
    auto graph = Graph::make();
    // Every fourth with rows that are summed inside loops.
    const std::int64_t cols = seed % 4 == 3 ? 34 : 4, few = seed % 4 == 3 ? 37 : 5;
    std::vector<Aval> avals(3, Aval{float64, {few, cols}});
    if (seed % 3 == 0) {
      const Size n = graph->symbols().fresh();
      for (Aval& a : avals) a.shape[0] = n;
    }
    graph = trace(body, avals, graph);
    Executable program(optimise(graph));
    for (std::int64_t n : {few, seed % 3 == 0 ? 9 : few}) {
      std::vector<Tensor> in;
      for (int i = 0; i < 3; ++i)
        in.push_back(
            random::stateless_normal({n, cols}, Tensor({int(seed), i}), {.dtype = float64}));
      const std::vector<Tensor> expected = evaluate(*graph, in);
      for (int repeat = 0; repeat < 2; ++repeat) {  // a frame that was used before
        std::vector<Tensor> out(expected.size());
        std::vector<Tensor> given = in;
        program.run(given, out);
        for (std::size_t i = 0; i < out.size(); ++i) expect_same(out[i], expected[i], 1e-9, seed);
      }
    }
  }
}

TEST(Compile, FusesAChainIntoOneStep) {
  const std::vector<Aval> avals(2, Aval{float32, {8, 16}});
  const auto graph = trace(
      [](std::span<const Tensor> in) {
        const Tensor y = tanh(in[0] * in[1] + 1) - in[0];
        return Tensors{y / reduce_sum(exp(y), {1}, true)};
      },
      avals);
  const auto optimised = optimise(graph);
  EXPECT_EQ(optimised->nodes().size(), 1u) << optimised->print();
  EXPECT_EQ(optimise(graph, {"fuse"})->nodes().size(), 7u);
}

TEST(Compile, DerivativesDoNotSeeThatOperandsDependOnEachOther) {
  const auto body = [](const Tensor& x) {
    const ForwardAccumulator a({{x, Tensor(1.0)}});
    GradientTape tape;
    tape.watch(x);
    const Tensor e = exp(x), y = x * x + x * e + pow(x, e);
    return std::pair(a.jvp(y).tensor(), tape.gradient(y, x).tensor());
  };
  const auto [jvp, gradient] = function(body)(Tensor(2.0));
  const auto [expected_jvp, expected_gradient] = body(Tensor(2.0));
  EXPECT_DOUBLE_EQ(jvp.item<double>(), expected_jvp.item<double>());
  EXPECT_DOUBLE_EQ(gradient.item<double>(), expected_gradient.item<double>());
  const auto square = function([](const Tensor& x) {
    const ForwardAccumulator a({{x, Tensor(1.0)}});
    return a.jvp(x * x).tensor();
  });
  EXPECT_DOUBLE_EQ(square(Tensor(2.0)).item<double>(), 4);
}

TEST(Compile, ATrainingStepIsTheEagerStep) {
  const auto train = [](bool compiled) {
    random::set_seed(3);
    keras::Dense hidden(6, 16, "relu"), out(16, 4);
    keras::Adam adam({.learning_rate = 0.01});
    const auto variables = keras::variables(hidden, out);
    const auto body = [&](const Tensor& x, const Tensor& y) {
      GradientTape tape;
      const Tensor loss = keras::sparse_categorical_crossentropy(y, out(hidden(x)));
      adam.minimize(tape, loss, variables);
      return loss;
    };
    const auto step = function(body);
    std::vector<double> losses;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t batch = i % 4 == 3 ? 5 : 8;
      const Tensor x = random::stateless_normal({batch, 6}, Tensor({1, i}));
      const Tensor y = random::stateless_uniform({batch}, Tensor({2, i}),
                                                 {.minval = 0, .maxval = 4, .dtype = int32});
      losses.push_back((compiled ? step(x, y) : body(x, y)).item<double>());
    }
    if (compiled) {
      EXPECT_EQ(step.trace_count(), 2) << step.explain();
    }
    EXPECT_EQ(adam.iterations(), 20);
    return losses;
  };
  const auto eager = train(false), compiled = train(true);
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_NEAR(eager[i], compiled[i], 2e-6) << i;
  EXPECT_LT(eager.back(), eager.front());
}

// What nobody reads is not computed: the gradient wants only the statistics of the rows.
TEST(Compile, NormalisationIsFusedAndItsUnreadResultIsDropped) {
  std::vector<float> numbers(3 * 70 + 70);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i % 13) - 0.3f * static_cast<float>(i % 7);
  const Tensor all = Tensor::from(numbers), x = reshape(slice(all, {0}, {210}), {3, 70});
  const Tensor scale = slice(all, {210}, {70}), offset = slice(all, {100}, {70});
  const auto both = function([](const Tensor& x, const Tensor& scale, const Tensor& offset) {
    return nn::relu(nn::layer_normalization(x * 2, scale, offset)) + 1;
  });
  const Tensor want = nn::relu(nn::layer_normalization(x * 2, scale, offset)) + 1;
  EXPECT_EQ(both(x, scale, offset).to_vector<float>(), want.to_vector<float>());
  EXPECT_NE(both.text().find("[multiply, layer_normalization, relu, add]"), std::string::npos)
      << both.text();

  const auto body = [](const Tensor& x, const Tensor& scale, const Tensor& offset) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reduce_sum(nn::layer_normalization(x, scale, offset) * x), x).tensor();
  };
  const auto gradient = function(body);
  EXPECT_EQ(gradient(x, scale, offset).to_vector<float>(),
            body(x, scale, offset).to_vector<float>());
  const auto unread = function([](const Tensor& x, const Tensor& scale, const Tensor& offset) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reduce_sum(nn::layer_normalization(x, scale, offset)), x).tensor();
  });
  unread(x, scale, offset);
  EXPECT_NE(unread.text().find("loop=[layer_normalization]) : float32 (3,), float32 (3,)"),
            std::string::npos)
      << unread.text();
}

// Sums over rows: as eagerly, and the same bits with any number of threads and in every run.
TEST(Compile, SumsOverRowsInALoopAreTheEagerOnes) {
  const auto body = [](const Tensor& x, const Tensor& w) {
    const Tensor centred = x - reduce_mean(x, {1}, true);
    const Tensor loss = reduce_sum(centred * w);
    return std::tuple(reduce_sum(centred * w, {0}), reduce_mean(square(x), {0}, true), loss,
                      tanh(centred));
  };
  const auto f = function(body);
  const int threads = thread_count();
  for (const std::int64_t rows : {40, 1, 0, 33, 200}) {
    const Tensor x = random::stateless_normal({rows, 77}, Tensor({1, 2}), {});
    const Tensor w = random::stateless_normal({rows, 77}, Tensor({3, 4}), {});
    const auto want = body(x, w);
    set_thread_count(1);
    const auto one = f(x, w);
    set_thread_count(3);
    const auto three = f(x, w);
    const auto compare = [&](const Tensor& e, const Tensor& a, const Tensor& b) {
      ASSERT_EQ(e.shape(), a.shape());
      EXPECT_EQ(to_string(a), to_string(b)) << rows;
      for (std::int64_t i = 0; i < e.num_elements(); ++i) {
        const float y = e.data<float>()[i];
        EXPECT_EQ(a.data<float>()[i] == a.data<float>()[i], y == y) << rows;
        if (y == y) {
          EXPECT_NEAR(a.data<float>()[i], y, 1e-5 * (10 + std::abs(y))) << rows;
        }
        EXPECT_EQ(std::memcmp(a.data<float>() + i, b.data<float>() + i, 4), 0) << rows;
      }
    };
    compare(std::get<0>(want), std::get<0>(one), std::get<0>(three));
    compare(std::get<1>(want), std::get<1>(one), std::get<1>(three));
    compare(std::get<2>(want), std::get<2>(one), std::get<2>(three));
    compare(std::get<3>(want), std::get<3>(one), std::get<3>(three));
  }
  set_thread_count(threads);
  EXPECT_NE(f.text().find("reduce_sum, "), std::string::npos) << f.text();
  EXPECT_EQ(f.text().find("= reduce_sum"), std::string::npos) << f.text();
}

TEST(Compile, ALongSumOverRowsKeepsItsDigits) {
  const auto f = function([](const Tensor& x) { return reduce_sum(x * 1.5, {0}); });
  const Tensor sums = f(ones({100000, 32}));
  EXPECT_NE(f.text().find("[multiply, reduce_sum]"), std::string::npos) << f.text();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(sums.data<float>()[i], 150000);
}

TEST(Compile, ReductionsOfNothingAreTheirNeutralElements) {
  const auto f = function([](const Tensor& x) {
    const Tensor y = x * 2;
    return std::pair(reduce_sum(y, {1}), reduce_max(y + 1, {1}));
  });
  const auto [sum, max] = f(zeros({3, 0}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sum.data<float>()[i], 0);
    EXPECT_EQ(max.data<float>()[i], -std::numeric_limits<float>::infinity());
  }
}

TEST(MemoryPlan, BuffersThatLiveTogetherDoNotOverlap) {
  std::mt19937 rng(1);
  std::vector<Lifetime> buffers;
  for (std::uint32_t i = 0; i < 500; ++i)
    buffers.push_back({static_cast<std::int64_t>(rng() % 5000), i / 2,
                       i / 2 + static_cast<std::uint32_t>(rng() % 20)});
  const MemoryPlan plan = plan_memory(buffers);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    total += buffers[i].bytes;
    EXPECT_EQ(plan.offsets[i] % 64, 0);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together =
          buffers[j].last >= buffers[i].first && buffers[i].last >= buffers[j].first;
      if (!together || buffers[i].bytes == 0 || buffers[j].bytes == 0) continue;
      EXPECT_TRUE(plan.offsets[i] >= plan.offsets[j] + buffers[j].bytes ||
                  plan.offsets[j] >= plan.offsets[i] + buffers[i].bytes)
          << i << " and " << j;
    }
  }
  EXPECT_LT(plan.bytes, total / 5);
}

}  // namespace
}  // namespace gradus
