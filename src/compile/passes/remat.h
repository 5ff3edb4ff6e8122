// Values that are computed again instead of kept, so that a program fits into less memory.
//
// A value that is used early and late, as what a forward pass leaves for the backward pass, lies in
// memory in between. Here it may get two lives: it is dropped after its last early use, and the op
// that made it runs once more right before the first late one. What nobody uses early is only made
// later. What that op reads is alive then
// anyway, or comes back in the same way; such a chain of values that come back together is a
// segment. Ops with effects, and ops on variables that were overwritten meanwhile, run once.
#pragma once
#include "compile/buffers.h"

namespace gradus {

struct Rematerialised {
  std::shared_ptr<Graph> graph;              // null: as it was
  std::int64_t bytes_before = 0, bytes = 0;  // of the arena
  std::size_t repeated = 0;                  // ops that run twice
  double flops = 0;                          // of these
};

// Takes values with the most bytes per operation first and stops as soon as the arena has at most
// `limit` bytes at these sizes. If that cannot be reached, the graph with the smallest arena.
Rematerialised rematerialise(const Graph& graph, const Sizes& sizes,
                             std::span<const Donation> donations, std::int64_t limit);

}  // namespace gradus
