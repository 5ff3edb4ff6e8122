// The pass that computes products with one left operand together where that is faster: narrow ones,
// as the heads of a model and their gradients are, fill registers better side by side. When that is
// so, the record of the product says (graph/product.h).
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> siblings(const Graph& graph);

}  // namespace gradus
