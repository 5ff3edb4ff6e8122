// Kernels with one long row look at the interrupt flag on their way: they stop well before their
// end.
#include "gradus/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "gradus/gradus.h"

namespace gd = gradus;

namespace {

using Clock = std::chrono::steady_clock;

// How long a run goes on after the flag is raised, as a part of a whole run.
double part_after_flag(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  const auto whole = Clock::now() - start;
  Clock::time_point raised;
  std::thread raise([&] {
    std::this_thread::sleep_for(whole / 10);
    raised = Clock::now();
    gd::request_interrupt();
  });
  EXPECT_THROW(work(), gd::CancelledError);
  const auto stopped = Clock::now();
  raise.join();
  gd::clear_interrupt();
  return std::chrono::duration<double>(stopped - raised).count() /
         std::chrono::duration<double>(whole).count();
}

TEST(Interrupt, OneLongRowStopsOnItsWay) {
  const gd::Tensor x = gd::random::uniform({1 << 22}, {.seed = 1});
  EXPECT_LT(part_after_flag([&] { gd::sort(x); }), 0.6);
  EXPECT_LT(part_after_flag([&] { gd::argsort(x); }), 0.6);
  EXPECT_LT(part_after_flag([&] { gd::unique(x); }), 0.6);
  EXPECT_LT(part_after_flag([&] { gd::top_k(x, 1 << 21); }), 0.6);
}

TEST(Interrupt, ManyBestOnesAreThoseOfASortedRow) {
  const gd::Tensor x = gd::floor(gd::random::uniform({2, 200'000}, {.seed = 2}) * 1000);
  const auto [values, places] = gd::top_k(x, 100'000);
  const gd::Tensor sorted = gd::sort(x, -1, gd::Direction::descending);
  const gd::Tensor order = gd::argsort(x, -1, gd::Direction::descending);
  EXPECT_TRUE(
      gd::reduce_all(gd::equal(values, gd::slice(sorted, {0, 0}, {2, 100'000}))).item<bool>());
  EXPECT_TRUE(
      gd::reduce_all(gd::equal(places, gd::slice(order, {0, 0}, {2, 100'000}))).item<bool>());
}

}  // namespace
