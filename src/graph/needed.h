// The part of a graph that some values are computed from.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gradus {

struct Needed {
  std::vector<bool> values, nodes;
};

enum class Effects : bool { left_out, kept };  // nodes that do something besides computing

// By operands. `given` are there already: nobody need compute them. Only the first `nodes` nodes
// are looked at.
Needed needed_for(const Graph& g, std::span<const Graph::Value> results,
                  std::span<const Graph::Value> given = {}, Effects effects = Effects::left_out,
                  std::size_t nodes = std::numeric_limits<std::size_t>::max());

// The same with what finds the sizes that these nodes speak of.
Needed needed_with_sizes(const Graph& g, std::span<const Graph::Value> results);

}  // namespace gradus
