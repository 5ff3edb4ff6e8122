// Tracing and compiling takes time in proportion to the program, however it is shaped. Ratios of
// best times of this thread, because machines differ and are busy.
#include <gtest/gtest.h>

#include <ctime>

#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "compile/passes/remat.h"
#include "gradus/gradus.h"
#include "graph/evaluate.h"

namespace gradus {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kFew = 1000;  // sanitizers are ten times slower
#else
constexpr int kFew = 10000;
#endif
constexpr int kMany = 10 * kFew;
// Times as long for ten times as much: about 14 where the larger program leaves the caches, 100 for
// anything quadratic.
constexpr double kLinear = 40;

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Body = std::function<Tensors(std::span<const Tensor>, int)>;

// Nodes of the traced graph, and seconds to make and compile it.
std::pair<std::size_t, double> time_once(const Body& body, int count) {
  const double start = thread_seconds();
  const auto graph = trace([&](std::span<const Tensor> in) { return body(in, count); },
                           std::vector<Aval>{{float32, {4, 4}}});
  Executable program(optimise(graph));
  program.arena_bytes({});
  return {graph->nodes().size(), thread_seconds() - start};
}

void expect_linear(const Body& body) {
  const auto best = [&](int count, int repeats) {
    std::pair<std::size_t, double> found = time_once(body, count);
    for (int i = 1; i < repeats; ++i)
      found.second = std::min(found.second, time_once(body, count).second);
    return found;
  };
  const auto [few, short_time] = best(kFew, 3);
  double ratio = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {  // one quiet moment is enough
    const auto [many, long_time] = best(kMany, 1);
    EXPECT_GT(many, 9 * few);
    ratio = long_time / short_time;
    if (ratio < kLinear) return;
  }
  ADD_FAILURE() << "ten times as many nodes took " << ratio << " times as long";
}

TEST(CompileTime, AChainWithItsGradient) {
  expect_linear([](std::span<const Tensor> in, int count) {
    GradientTape tape;
    tape.watch(in[0]);
    Tensor x = in[0];
    for (int i = 0; i < count / 4; ++i)
      x = i % 5 == 4 ? matmul(x, in[0]) : tanh(x) + static_cast<float>(i % 7);
    return Tensors{tape.gradient(reduce_sum(x), in[0]).tensor()};
  });
}

TEST(CompileTime, AWideFan) {
  expect_linear([](std::span<const Tensor> in, int count) {
    std::vector<Tensor> all;
    for (int i = 0; i < count / 2; ++i) all.push_back(in[0] * static_cast<float>(i));
    while (all.size() > 1) {
      std::vector<Tensor> half;
      for (std::size_t i = 0; i + 1 < all.size(); i += 2) half.push_back(all[i] + all[i + 1]);
      if (all.size() % 2) half.push_back(all.back());
      all = std::move(half);
    }
    return Tensors{all[0]};
  });
}

TEST(CompileTime, ManyResultsOfProducts) {
  expect_linear([](std::span<const Tensor> in, int count) {
    Tensors out;
    for (int i = 0; i < count / 2; ++i) out.push_back(matmul(in[0] * static_cast<float>(i), in[0]));
    return out;
  });
}

TEST(CompileTime, ManyBranchesAndLoops) {
  // A region costs what a hundred nodes do.
  const auto body = [](std::span<const Tensor> in, int count) {
    Tensor x = in[0];
    for (int i = 0; i < count / 100; ++i) {
      x = cond(
          reduce_sum(x) > static_cast<float>(i), [&] { return x * 2; }, [&] { return tanh(x); });
      x = while_loop([](const std::vector<Tensor>& v) { return v[0] < 3; },
                     [&](const std::vector<Tensor>& v) {
                       return std::vector<Tensor>{v[0] + 1, v[1] * static_cast<float>(i)};
                     },
                     std::vector<Tensor>{zeros({}, int32), x})[1];
    }
    return Tensors{x};
  };
  double ratio = 0;
  const auto seconds = [&](int count) { return time_once(body, count).second; };
  const double few = std::min(seconds(kFew), seconds(kFew));
  for (int attempt = 0; attempt < 3; ++attempt) {
    ratio = seconds(kMany) / few;
    if (ratio < kLinear) return;
  }
  ADD_FAILURE() << "ten times as many regions took " << ratio << " times as long";
}

// A limit that cannot be kept: everything is tried.
TEST(CompileTime, MemoryLimits) {
  const auto body = [](std::span<const Tensor> in, int count) {
    GradientTape tape;
    tape.watch(in[0]);
    Tensor x = in[0];
    for (int i = 0; i < count / 40; ++i) x = tanh(matmul(x, in[0]));
    return Tensors{tape.gradient(reduce_sum(x), in[0]).tensor()};
  };
  const auto seconds = [&](int count) {
    const auto graph = optimise(trace([&](std::span<const Tensor> in) { return body(in, count); },
                                      std::vector<Aval>{{float32, {4, 4}}}));
    const double start = thread_seconds();
    EXPECT_NE(rematerialise(*graph, {}, {}, 1).graph, nullptr);
    return thread_seconds() - start;
  };
  double ratio = 0;
  const double few = std::min(seconds(kFew), seconds(kFew));
  for (int attempt = 0; attempt < 3; ++attempt) {
    ratio = seconds(kMany) / few;
    if (ratio < kLinear) return;
  }
  ADD_FAILURE() << "ten times as many nodes took " << ratio << " times as long";
}

}  // namespace
}  // namespace gradus
