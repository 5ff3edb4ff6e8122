// What a node is besides an application of its op: attributes can hold something (graph/attrs.h)
// that has a role, as a class that it derives from. Passes ask for roles, not for ops.
#pragma once
#include "graph/graph.h"

namespace gradus {

template <class Role>
const Role* held_as(const Graph& g, const Graph::Node& n) {
  if (!n.op->attrs().holds) return nullptr;
  return dynamic_cast<const Role*>(n.op->attrs().held(g.attrs(n)).get());
}

}  // namespace gradus
