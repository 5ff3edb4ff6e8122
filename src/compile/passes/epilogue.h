#pragma once
#include "graph/graph.h"

namespace gradus {

// Joins ops that can hand out their result block by block (graph/block_kernels.h) with the fused
// loop that reads it. The loop moves up to where the result is made, as far as its other operands
// and those who read what it may be written over allow.
std::shared_ptr<Graph> epilogue(const Graph& graph);

}  // namespace gradus
