// Composites without a kernel become their bodies, and ops that have a form in simpler ops take it:
// afterwards every op has a kernel, and what can be fused is visible.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> expand(const Graph& graph);

}  // namespace gradus
