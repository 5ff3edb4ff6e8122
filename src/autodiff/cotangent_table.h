// The cotangents of a reverse sweep, by value number. A slot is taken when a first contribution
// arrives and given back when the sweep has passed the value, so memory follows what is alive, not
// the length of the tape.
#pragma once
#include <vector>

#include "graph/cotangent.h"

namespace gradus {

class CotangentTable {
 public:
  explicit CotangentTable(std::size_t values) : slot_of_(values, 0) {}

  bool has(std::uint32_t value) const { return slot_of_[value] != 0; }
  // The first contribution is stored as it is, later ones are added, in place where that is safe.
  void add(std::uint32_t value, Cotangent ct);
  Cotangent take(std::uint32_t value);
  const Cotangent& peek(std::uint32_t value) const { return slots_[slot_of_[value] - 1]; }
  // A dense sum that only this table can see, or null. One that others see too is copied: a sum
  // inside a kernel is rounded in another way, and results must not depend on who holds a tensor.
  const Tensor* accumulator(std::uint32_t value);

 private:
  std::vector<std::uint32_t> slot_of_;  // 0: none, else index + 1
  std::vector<Cotangent> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace gradus
