// A graph as a picture: Graphviz text, for `dot -Tsvg`.
#pragma once
#include <string>

#include "graph/graph.h"

namespace gradus {

// A box for each op with its line, an edge for each operand with dtype and shape.
std::string to_dot(const Graph& graph, const std::string& title);

}  // namespace gradus
