// Joins ops that are scalar expressions into loops that run once over their elements.
//
// Every value has a stage. An op that can join the group of an operand keeps the operand's stage;
// any other edge leads to a later one. Groups are made of ops of one stage over one domain (shape,
// and once there is a reduction, which trailing axes are a row), so no path leads out of a group
// and back into it, and the whole pass is linear.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> fuse(const Graph& graph);

}  // namespace gradus
