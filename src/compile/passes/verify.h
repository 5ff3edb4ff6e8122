// Checks what every pass may rely on: operands come before their users, shapes and dtypes are what
// the shape rules say, outputs exist.
#pragma once
#include "graph/graph.h"

namespace gradus {

// Throws InternalError that names the pass and the node.
void verify(const Graph& graph, const char* after);

}  // namespace gradus
