#include "graph/needed.h"

#include <algorithm>

#include "graph/node_sizes.h"

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

namespace {

void mark_unknowns(const Graph& g, Size size, std::vector<bool>& spoken) {
  for (std::size_t i = 0; !size.is_known() && i < spoken.size(); ++i)
    spoken[i] = spoken[i] || g.symbols().depends_on(size, i);
}

}  // namespace

Needed needed_with_sizes(const Graph& g, std::span<const Graph::Value> results) {
  const std::vector<std::int64_t> finder = finders(g);
  std::vector<Graph::Value> all(results.begin(), results.end());
  for (;;) {
    Needed needed = needed_for(g, all);
    std::vector<bool> spoken(finder.size(), false);
    for (std::size_t k = 0; k < g.nodes().size(); ++k) {
      if (!needed.nodes[k]) continue;
      const Graph::Node& n = g.nodes()[k];
      each_size_of(g, n, [&](Size size) { mark_unknowns(g, size, spoken); });
      for (Graph::Value v = n.first_out; v < n.first_out + n.out_count; ++v)
        for (const Size size : g.info(v).aval.shape) mark_unknowns(g, size, spoken);
    }
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < spoken.size(); ++i) {
      if (!spoken[i] || finder[i] < 0 || needed.nodes[static_cast<std::size_t>(finder[i])])
        continue;
      all.push_back(g.nodes()[static_cast<std::size_t>(finder[i])].first_out);
    }
    if (all.size() == before) return needed;
  }
}

}  // namespace gradus
