// States that a while keeps as it runs, for its derivative.
//
// How often the loop will turn is not known. So its carries are kept after every so many turns, the
// stride; where there is no more room, every second of these states is dropped and the stride
// doubles. At the end they lie evenly over all turns, and half of the room at least is in use.
// Which they are follows from the number of turns alone.
#pragma once
#include "control/loop.h"

namespace gradus {

// A copy of all carries of a loop in one piece of memory.
struct StateLayout {
  explicit StateLayout(std::span<const View> carries);  // only dtypes and shapes are looked at

  using Pointers = SmallVector<void*, 16>;  // by carry
  Pointers at(void* state) const;
  void copy(std::span<void* const> from, std::span<void* const> to) const;

  SmallVector<std::size_t, 16> sizes, offsets;  // by carry
  std::int64_t bytes = 0;
};

class KeptStates {
 public:
  // Room for none, or not for one, is no mistake: then nothing is kept.
  KeptStates(const StateLayout& layout, void* memory, std::int64_t bytes);

  // While the loop runs: after how many turns it shall be asked again, and the asking.
  std::int64_t turns_to_next(std::int64_t done) const;
  void offer(std::int64_t done, std::span<void* const> carries);

  // After `count` turns: states are there from before the first turn on, `stride` turns apart,
  // which is 0 if there is only that one.
  std::int64_t stride_after(std::int64_t count) const;
  StateLayout::Pointers before_turn(std::int64_t turn, std::int64_t stride) const;

 private:
  char* slot(std::int64_t i) const { return memory_ + i * layout_.bytes; }

  const StateLayout& layout_;
  char* memory_;
  std::int64_t slots_, stride_;
};

// A quarter of the loop's limit, but room for some states at least and not for more than are of
// use. Where sizes are symbols it is the quarter.
std::int64_t bytes_for_states(std::int64_t memory_limit, std::span<const Aval> carries);

// What a derivative asks a while for: its states, as bytes; nothing if it has no limit. The node
// itself is a wish and gives none. Where the loop is in the same program, `clean` lets it be a
// keeping_while, which fulfils it.
Tensor kept_states(const WhileLoop& loop, std::span<const Tensor> operands);
}  // namespace gradus
