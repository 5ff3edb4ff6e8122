// Which states to keep when a chain of steps is gone through backwards and not all can be kept.
//
// Binomial checkpoints: if c states fit besides the first one, and no step is run forwards more
// than r times, C(c + 1 + r, r) steps can be reversed. Each new state is kept where the steps on
// both sides are within what the rest of the memory allows, which is optimal in the total number of
// steps that are run.
#pragma once
#include <cstdint>
#include <vector>

namespace gradus {

// Steps that can be reversed: C(slots + 1 + repeats, repeats), or the largest number there is.
std::int64_t reversible_steps(std::int64_t slots, std::int64_t repeats);
// How many of `steps` come before the next state to keep; steps > 1, slots > 0.
std::int64_t steps_to_checkpoint(std::int64_t steps, std::int64_t slots);

// Reverses `steps` steps. The states are numbered like a stack: 0 is the one before the first step,
// and there are at most `slots` others.
//   advance(state, first, last, to)   runs steps [first, last) from a state and keeps state `to`
//   reverse(state, first, step)       runs [first, step) from a state, then reverses `step`
template <class Advance, class Reverse>
void reverse_steps(std::int64_t steps, std::int64_t slots, Advance advance, Reverse reverse) {
  std::vector<std::int64_t> kept{0};  // before which step
  for (std::int64_t end = steps; end > 0;) {
    for (;;) {
      const std::int64_t rest = end - kept.back();
      const auto state = static_cast<std::int64_t>(kept.size()) - 1, free = slots - state;
      if (rest == 1 || free == 0) break;
      const std::int64_t next = kept.back() + steps_to_checkpoint(rest, free);
      advance(state, kept.back(), next, state + 1);
      kept.push_back(next);
    }
    --end;
    reverse(static_cast<std::int64_t>(kept.size()) - 1, kept.back(), end);
    if (end == kept.back()) kept.pop_back();
  }
}

}  // namespace gradus
