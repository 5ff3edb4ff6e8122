// Moves out of loops what is the same at every turn.
//
// An op of a loop's body whose operands do not change runs once, before the loop, and its result is
// captured. It must be pure, and either unable to fail or certain to run: a loop of no turns must
// not fail because of what it never did. What a fused loop computes on the way from less than it
// gives (a broadcast, an outer product) stays, as do views: moved, they would be memory to read.
// Inner loops come first, so that ops move through any number of them.
#pragma once
#include "graph/graph.h"

namespace gradus {

// The graph itself if nothing moves.
std::shared_ptr<Graph> hoist(const std::shared_ptr<Graph>& graph);

}  // namespace gradus
