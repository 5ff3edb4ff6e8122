// Memory that a program takes besides its arena: that of the programs inside, the regions of loops
// and branches. They keep it between runs, as the program does its own, so it adds up.
#pragma once
#include <memory>

#include "graph/graph.h"

namespace gradus {

std::int64_t inner_bytes(const Graph& graph, const Sizes& sizes);
// The graph with other programs inside; null: they are as they were.
std::shared_ptr<Graph> with_less_inner_memory(const Graph& graph, const Sizes& sizes, double part);

}  // namespace gradus
