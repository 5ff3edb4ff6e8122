// What a graph costs to run, from the facts on the records: floating-point operations, and bytes
// that are read and written.
#pragma once
#include <optional>

#include "graph/bind.h"
#include "graph/graph.h"

namespace gradus {

struct Cost {
  double flops = 0, bytes = 0;
};

// None if it depends on sizes that are symbols.
std::optional<Cost> cost_of(const Graph& graph, const Graph::Node& node);

// With these sizes for the symbols: of one node, of all.
Cost cost_of(const Graph& graph, const Graph::Node& node, const Sizes& sizes);
Cost cost_of(const Graph& graph, const Sizes& sizes);

}  // namespace gradus
