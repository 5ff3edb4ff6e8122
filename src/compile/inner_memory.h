// Memory that a program takes besides its arena: that of the programs inside, the regions of loops
// and branches. They keep it between runs, as the program does its own, so it adds up.
#pragma once
#include "compile/region.h"

namespace gradus {

// What the attributes of a node with programs inside hold.
class TakesMemory {
 public:
  // While it runs on operands of these shapes, besides operands and results.
  virtual std::int64_t inner_bytes(const Call& call) const = 0;
  // The same whose programs, each by computing values again, take about this part of what they do;
  // null: it cannot say.
  virtual std::shared_ptr<Held> with_less_memory(const Call&, double) const { return nullptr; }

 protected:
  ~TakesMemory() = default;
};

std::int64_t inner_bytes(const Graph& graph, const Sizes& sizes);
// The graph with other programs inside; null: they are as they were.
std::shared_ptr<Graph> with_less_inner_memory(const Graph& graph, const Sizes& sizes, double part);

// Of carries that an iteration cannot write over themselves: they lie in two places by turns, if
// not in a stack.
std::int64_t second_places(const Region& body, std::span<const View> carries);

}  // namespace gradus
