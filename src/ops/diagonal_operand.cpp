#include "ops/diagonal_operand.h"

#include "gradus/shaping.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "ops/records.h"

namespace gradus {
Tensor diagonal_seed(const Tensor& diagonal) {
  Graph* const graph = thread_context.graph;
  const bool is_constant = graph && is_concrete(diagonal);
  return diagonal_seed_op(is_constant ? graph->tensor(graph->value(diagonal)) : diagonal);
}

Tensor diagonal_of(const Tensor& operand) {
  const Shape& shape = operand.shape();
  if (shape.rank() < 2 || !shape.is_known() || shape[0] != shape.back()) return {};
  if (shape.num_elements() == 0 || operand.impl()->kind != ValueKind::traced) return {};
  const std::int64_t n = shape[0], others = shape.num_elements() / (n * n);
  Graph& graph = *operand.impl()->extra()->graph;
  Graph::Value value = operand.impl()->extra()->value;
  const auto maker = [&] { return graph.info(value).node; };
  const auto node = [&]() -> const Graph::Node& {
    return graph.nodes()[static_cast<std::size_t>(maker())];
  };
  const auto skip_views = [&] {
    while (maker() >= 0 && node().op->info.is_view) value = graph.operands(node())[0];
  };
  skip_views();
  if (others > 1) {
    if (maker() < 0 || !node().op->info.permutation) return {};
    if (!(node().op->info.permutation(graph.attrs(node())) == Ints{1, 0, 2})) return {};
    value = graph.operands(node())[0];
    if (!(graph.info(value).aval.shape == Shape{others, n, n})) return {};
  }
  if (maker() < 0 || node().op != &diagonal_seed_op) return {};
  const Tensor diagonal = graph.tensor(graph.operands(node())[0]);
  if (diagonal.shape().num_elements() != others * n || diagonal.shape().back() != n) return {};
  return reshape(diagonal, {others, n});
}

}  // namespace gradus
