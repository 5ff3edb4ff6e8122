// The graph program that a thread builds outside of any scope: sizes of its tensors are names there
// too, e.g. when a slice of one is asked for.
#pragma once
#include "graph/graph.h"

namespace gradus {

extern constinit thread_local Graph* ambient_graph;

}  // namespace gradus
