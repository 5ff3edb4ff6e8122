// Binomial checkpoints: every step is reversed once, from the last to the first, in the memory that
// is there, with as few steps as any choice of checkpoints needs.
#include "control/checkpoint_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

namespace gradus {
namespace {

// The fewest steps run forwards before their reverse, by trying every next checkpoint.
std::int64_t fewest(std::int64_t steps, std::int64_t slots) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  if (steps <= 1) return 0;
  if (slots == 0) return steps * (steps - 1) / 2;
  const auto [at, is_new] = known.try_emplace({steps, slots}, 0);
  if (!is_new) return at->second;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t next = 1; next < steps; ++next)
    best = std::min(best, next + fewest(steps - next, slots - 1) + fewest(next, slots));
  return known[{steps, slots}] = best;
}

struct Outcome {
  std::int64_t run = 0, most_states = 0;
  std::vector<std::int64_t> reversed;
};

Outcome simulate(std::int64_t steps, std::int64_t slots) {
  Outcome outcome;
  std::map<std::int64_t, std::int64_t> before{{0, 0}};  // by state: the step that follows
  reverse_steps(
      steps, slots,
      [&](std::int64_t state, std::int64_t first, std::int64_t last, std::int64_t to) {
        EXPECT_EQ(before.at(state), first);
        EXPECT_LT(first, last);
        EXPECT_GT(to, 0);
        before[to] = last;
        outcome.run += last - first;
        outcome.most_states = std::max(outcome.most_states, to);
      },
      [&](std::int64_t state, std::int64_t first, std::int64_t step) {
        EXPECT_EQ(before.at(state), first);
        outcome.run += step - first;
        outcome.reversed.push_back(step);
      });
  return outcome;
}

TEST(CheckpointSchedule, IsOptimal) {
  for (std::int64_t steps = 0; steps <= 40; ++steps) {
    for (std::int64_t slots = 0; slots <= 6; ++slots) {
      const Outcome outcome = simulate(steps, slots);
      EXPECT_LE(outcome.most_states, slots);
      EXPECT_EQ(outcome.run, fewest(steps, slots)) << steps << " steps, " << slots << " slots";
      ASSERT_EQ(static_cast<std::int64_t>(outcome.reversed.size()), steps);
      for (std::int64_t i = 0; i < steps; ++i)
        EXPECT_EQ(outcome.reversed[static_cast<std::size_t>(i)], steps - 1 - i);
    }
  }
}

TEST(CheckpointSchedule, ManyStepsInLittleMemory) {
  EXPECT_EQ(reversible_steps(9, 3), 286);
  EXPECT_EQ(reversible_steps(1000, 1), 1002);
  EXPECT_EQ(reversible_steps(1'000'000'000, 60), std::numeric_limits<std::int64_t>::max());
  const Outcome outcome = simulate(100'000, 20);
  EXPECT_EQ(outcome.reversed.size(), 100'000u);
  EXPECT_LT(outcome.run, 6 * 100'000);  // C(26, 5) < 100 000 < C(27, 6)
}

}  // namespace
}  // namespace gradus
