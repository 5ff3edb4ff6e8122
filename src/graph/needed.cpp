#include "graph/needed.h"

#include <algorithm>

namespace gradus {

Needed needed_for(const Graph& g, std::span<const Graph::Value> results,
                  std::span<const Graph::Value> given, Effects effects, std::size_t nodes) {
  Needed needed{std::vector<bool>(g.value_count(), false),
                std::vector<bool>(g.nodes().size(), false)};
  std::vector<bool> is_given(g.value_count(), false);
  for (Graph::Value v : given) is_given[v] = true;
  for (Graph::Value v : results) needed.values[v] = true;
  for (std::size_t k = std::min(nodes, g.nodes().size()); k-- > 0;) {
    const Graph::Node& n = g.nodes()[k];
    bool is_needed = effects == Effects::kept && n.op->info.stateful;
    for (Graph::Value v = n.first_out; v < n.first_out + n.out_count; ++v)
      is_needed = is_needed || (needed.values[v] && !is_given[v]);
    needed.nodes[k] = is_needed;
    if (!is_needed) continue;
    for (Graph::Value v : g.operands(n)) needed.values[v] = true;
  }
  return needed;
}

}  // namespace gradus
