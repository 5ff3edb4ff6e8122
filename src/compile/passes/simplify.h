// Applications that are known to equal something simpler become that (ops/identities.h). One walk:
// operands are simple when their users are looked at.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> simplify(const Graph& graph);

}  // namespace gradus
