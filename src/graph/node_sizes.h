// The sizes that a node of a graph speaks of.
#pragma once
#include <vector>

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

// By unknown size: the node that finds it while the program runs, or -1.
inline std::vector<std::int64_t> finders(const Graph& g) {
  std::vector<std::int64_t> found(g.symbols().input_count(), -1);
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Graph::Node& n = g.nodes()[k];
    for (std::uint32_t o = 0; n.op->info.find && o < n.out_count; ++o)
      for (const Size size : g.info(n.first_out + o).aval.shape)
        if (const std::int64_t i = Symbols::input_of(size);
            i >= 0 && found[static_cast<std::size_t>(i)] < 0)
          found[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(k);
  }
  for (const Graph::Value v : g.inputs())  // what an input brings need not be found
    for (const Size size : g.info(v).aval.shape)
      if (const std::int64_t i = Symbols::input_of(size); i >= 0)
        found[static_cast<std::size_t>(i)] = -1;
  return found;
}

}  // namespace gradus
