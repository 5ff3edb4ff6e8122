// Drops what no output and no effect needs, computes what is constant, and looks through views that
// change nothing.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> clean(const Graph& graph);

}  // namespace gradus
