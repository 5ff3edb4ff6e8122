// The sizes that a node of a graph speaks of.
#pragma once
#include "graph/graph.h"
#include "graph/op.h"

namespace gradus {

// f(size) for every number among a node's attributes that may be a size, known or not.
template <class F>
void each_size_of(const Graph& g, const Graph::Node& n, const F& f) {
  for (const AttrField& field : n.op->attrs().fields) {
    const std::byte* at = static_cast<const std::byte*>(g.attrs(n)) + field.offset;
    if (field.kind == AttrKind::ints)
      for (const Size size : *reinterpret_cast<const Ints*>(at)) f(size);
    if (field.kind == AttrKind::size) f(*reinterpret_cast<const Size*>(at));
  }
}

}  // namespace gradus
