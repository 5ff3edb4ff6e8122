// A node as the functions of its record see it: one application of the op, without data.
#pragma once
#include "graph/graph.h"

namespace gradus {

namespace detail {
struct NodeViews {
  SmallVector<View, 4> views;
};
}  // namespace detail

class NodeCall : detail::NodeViews, public Call {
 public:
  NodeCall(const Graph& g, const Graph::Node& n) : Call{*n.op, g.attrs(n), {}} {
    for (Graph::Value v : g.operands(n))
      views.push_back({nullptr, &g.info(v).aval.shape, g.info(v).aval.dtype});
    in = views;
  }
  NodeCall(const NodeCall&) = delete;
};

}  // namespace gradus
