#include "graph/cost.h"

#include <algorithm>

#include "base/check.h"

namespace gradus {

Cost cost_of(const Graph& graph, const Graph::Node& n, const Sizes& sizes) {
  if (n.op->info.is_view) return {};
  SmallVector<Shape, 8> shapes;
  shapes.reserve(n.in_count + n.out_count);  // views point to them
  SmallVector<View, 8> views;
  Cost cost;
  double most = 0;
  const auto add = [&](const Aval& aval) {
    shapes.push_back(bind_shape(graph.symbols(), sizes, aval.shape));
    const auto elements = static_cast<double>(shapes.back().num_elements());
    cost.bytes += elements * static_cast<double>(size_of(aval.dtype));
    most = std::max(most, elements);
  };
  for (Graph::Value v : graph.operands(n)) {
    add(graph.info(v).aval);
    views.push_back({nullptr, &shapes.back(), graph.info(v).aval.dtype});
  }
  for (std::uint32_t i = 0; i < n.out_count; ++i) add(graph.info(n.first_out + i).aval);
  alignas(16) std::byte attrs[512];
  GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
  std::copy_n(static_cast<const std::byte*>(graph.attrs(n)), n.op->attrs().bytes, attrs);
  bind_attrs(graph.symbols(), sizes, n.op->attrs(), attrs);
  cost.flops = n.op->info.flops ? n.op->info.flops({*n.op, attrs, views}) : most;
  return cost;
}

std::optional<Cost> cost_of(const Graph& graph, const Graph::Node& node) {
  for (Graph::Value v : graph.operands(node))
    if (!graph.info(v).aval.shape.is_known()) return {};
  for (std::uint32_t i = 0; i < node.out_count; ++i)
    if (!graph.info(node.first_out + i).aval.shape.is_known()) return {};
  return cost_of(graph, node, Sizes());
}

Cost cost_of(const Graph& graph, const Sizes& sizes) {
  Cost total;
  for (const Graph::Node& n : graph.nodes()) {
    const Cost cost = cost_of(graph, n, sizes);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  return total;
}

}  // namespace gradus
