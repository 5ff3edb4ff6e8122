// Recordings that are long, wide, shared between threads or accumulated into.
#include "autodiff/recording.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "autodiff/tape.h"
#include "gradus/gradus.h"

namespace gradus {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kScale = 20;
#else
constexpr int kScale = 1;
#endif

double seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Records n ops, differentiates and frees them. Gives the bytes per op of the recording itself.
double run_chain(int n) {
  const Tensor x(1.0), half(0.5);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < n; ++i) y = y * half + x;
  const double bytes = static_cast<double>(tape.state().recording->own_bytes()) / (2.0 * n);
  EXPECT_NEAR(tape.gradient(y, x).tensor().item<double>(), 2, 1e-9);
  return bytes;
}

TEST(Recording, AMillionOpsInARowInLinearTime) {
  const std::size_t live = memory_stats().live;
  const int n = 500000 / kScale;
  run_chain(n / 10);  // the memory is new
  const double small = seconds([&] { run_chain(n / 10); });
  double bytes = 0;
  const double large = seconds([&] { bytes = run_chain(n); });  // 2 ops each
  EXPECT_LT(large, 10 * 8 * small);
  EXPECT_LE(bytes, 112);  // docs/design/005: 56, and operands, results, shapes, a saved pointer
  RecordProperty("bytes_per_op", std::to_string(bytes));
  EXPECT_LE(memory_stats().live, live + 4096);
}

TEST(Recording, AFanOutOfAHundredThousand) {
  const int n = 100000 / kScale;
  const auto run = [](int uses) {
    const Tensor x = {1.0, 2.0};
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> targets;
    for (int i = 0; i < uses; ++i) targets.push_back(x * 2.0);
    const Gradient g = tape.gradient(targets, {x})[0];
    EXPECT_EQ(g.tensor().data<double>()[1], 2.0 * uses);
  };
  run(n);
  const double small = seconds([&] { run(n / 10); });
  EXPECT_LT(seconds([&] { run(n); }), 10 * 8 * small);
}

TEST(Recording, AnOpMayHaveAHundredThousandOperands) {
  const std::size_t n = 100000 / kScale;
  const Tensor x = {1.0};
  GradientTape tape;
  tape.watch(x);
  const Tensor y = concat(std::vector<Tensor>(n, x), 0);
  const Recording& recording = *tape.state().recording;
  EXPECT_EQ(recording.edges(recording.node(recording.node_count() - 1)).size(), n);
}

TEST(Recording, TapesInSeveralThreadsShareTensorsAndVariables) {
  const Tensor x = {1.0, 2.0, 3.0};
  const Variable w(Tensor{4.0, 5.0, 6.0});
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const double factor = static_cast<double>(t + 1);
      for (int round = 0; round < 50; ++round) {
        GradientTape outer, tape;
        outer.watch(x);
        tape.watch(x);
        const Tensor y = reduce_sum(x * x * w * factor);
        const Tensor dx = tape.gradient(y, x);
        const auto [ddx, dw] = outer.gradient(reduce_sum(dx), x, w);
        right[t] += dx.data<double>()[2] == 36 * factor &&
                    ddx.tensor().data<double>()[1] == 10 * factor &&
                    dw.tensor().data<double>()[0] == 2 * factor;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, std::vector<int>(4, 50));
}

TEST(Recording, MicroBatchesNeedNoSecondCopyOfTheGradients) {
  const Variable w(ones({512, 512}, float32));
  const Tensor x = ones({4, 512}, float32);
  std::vector<GradientBuffer> buffers;
  const auto micro_batch = [&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(matmul(x, w)));
    tape.gradient({loss}, {w}, {.into = &buffers});
  };
  micro_batch();
  const float once = buffers[0].value().tensor().data<float>()[7];
  const void* place = buffers[0].value().values().raw_data();
  const std::size_t before = memory_stats().live;
  reset_peak_memory();
  micro_batch();
  EXPECT_LT(memory_stats().peak - before, w.value().num_bytes() / 2);
  EXPECT_EQ(buffers[0].value().values().raw_data(), place);
  EXPECT_EQ(buffers[0].value().tensor().data<float>()[7], 2 * once);
}

TEST(Recording, AssigningAVariableDoesNotChangeWhatWasSaved) {
  const Variable w(Tensor{2.0, 3.0});
  GradientTape tape({.persistent = true});
  const Tensor y = w * w;
  w.assign(Tensor{100.0, 100.0});
  w.assign_add(Tensor{1.0, 1.0});
  const Tensor z = w * w;
  EXPECT_EQ(tape.gradient(y, w).tensor().to_vector<double>(), (std::vector<double>{4, 6}));
  EXPECT_EQ(tape.gradient(z, w).tensor().to_vector<double>(), (std::vector<double>{202, 202}));
}

// d/dx (x * d/dy (x + y)) is 1; a system that confuses the two perturbations gives 2.
TEST(Recording, NoPerturbationConfusion) {
  const Tensor one(1.0);
  const auto reverse = [](auto f, const Tensor& at) { return grad(f)(at); };
  const auto forward = [&](auto f, const Tensor& at) { return jvp(f, at, one).second; };
  const auto check = [&](auto outer, auto inner) {
    const auto f = [&](const Tensor& x) {
      return x * inner([&](const Tensor& y) { return x + y; }, one);
    };
    EXPECT_EQ(outer(f, one).template item<double>(), 1);
  };
  check(reverse, reverse);
  check(reverse, forward);
  check(forward, reverse);
  check(forward, forward);
}

TEST(Recording, ThirdDerivativesInEveryMixOfModes) {
  const Tensor x(0.7), one(1.0);
  const double expected = -std::cos(0.7);
  const auto d = [&](bool by_reverse, auto f) {
    return [=](const Tensor& at) { return by_reverse ? grad(f)(at) : jvp(f, at, one).second; };
  };
  for (int mix = 0; mix < 8; ++mix) {
    const auto f = [](const Tensor& at) { return sin(at); };
    const Tensor third = d(mix & 1, d(mix & 2, d(mix & 4, f)))(x);
    EXPECT_NEAR(third.item<double>(), expected, 1e-14) << mix;
  }
}

}  // namespace
}  // namespace gradus
