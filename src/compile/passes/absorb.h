// The pass that lets products read transposed operands where they lie, and write a result that is
// transposed next where it will lie, if the copies would cost as much as the product: batches of
// small matrices in the middle of an array, as einsum makes them.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> absorb(const Graph& graph);

}  // namespace gradus
