#include "control/checkpoint_schedule.h"

#include <algorithm>
#include <limits>

namespace gradus {

std::int64_t reversible_steps(std::int64_t slots, std::int64_t repeats) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (repeats < 0) return 0;
  std::int64_t steps = 1;  // C(slots + 1 + k, k), exact for every k
  for (std::int64_t k = 1; k <= repeats; ++k) {
    if (steps > most / (slots + 1 + k)) return most;
    steps = steps * (slots + 1 + k) / k;
  }
  return steps;
}

std::int64_t steps_to_checkpoint(std::int64_t steps, std::int64_t slots) {
  std::int64_t repeats = 1;
  while (reversible_steps(slots, repeats) < steps) ++repeats;
  const std::int64_t after =
      std::min(reversible_steps(slots - 1, repeats), steps - reversible_steps(slots, repeats - 2));
  return std::max<std::int64_t>(1, steps - after);
}

}  // namespace gradus
