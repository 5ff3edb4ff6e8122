// A graph as a picture: Graphviz text, for `dot -Tsvg`, or a page to walk through in a browser.
#pragma once
#include <string>

#include "graph/graph.h"

namespace gradus {

// A box for each op with its line, an edge for each operand with dtype and shape.
std::string to_dot(const Graph& graph, const std::string& title);

// One file that needs nothing else: zoom, move, collapse the ops of a line of the program, click
// for shape, dtype, bytes, FLOPs and line.
std::string to_html(const Graph& graph, const std::string& title);

}  // namespace gradus
