#include "ops/diagonal_operand.h"

#include <cstring>

#include "gradus/shaping.h"
#include "graph/graph.h"
#include "ops/records.h"

namespace gradus {
namespace {

// The diagonal of a constant (n, others, n); looks no further than the first element beside it.
Tensor diagonal_of_constant(const Tensor& constant, std::int64_t n, std::int64_t others) {
  const std::size_t item = size_of(constant.dtype());
  const auto* at = static_cast<const char*>(constant.raw_data());
  Tensor diagonal = make_tensor(constant.dtype(), {others, n});
  static constexpr char zero[16] = {};
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t other = 0; other < others; ++other) {
      for (std::int64_t column = 0; column < n; ++column, at += item) {
        if (row == column) {
          std::memcpy(
              mutable_data<char>(diagonal) + static_cast<std::size_t>(other * n + row) * item, at,
              item);
        } else if (std::memcmp(at, zero, item) != 0) {
          return {};
        }
      }
    }
  }
  return diagonal;
}

}  // namespace

Tensor diagonal_of(const Tensor& operand) {
  const Shape& shape = operand.shape();
  if (shape.rank() < 2 || shape[0] != shape.back() || shape.is_symbolic()) return {};
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
  if (graph.info(value).constant.defined())
    return diagonal_of_constant(graph.info(value).constant, n, others);
  if (others > 1) {
    if (maker() < 0 || !node().op->info.permutation) return {};
    if (!(node().op->info.permutation(graph.attrs(node())) == Ints{1, 0, 2})) return {};
    value = graph.operands(node())[0];
    if (!(graph.info(value).aval.shape == Shape{others, n, n})) return {};
  }
  if (maker() < 0 || node().op != &matrix_diag_op) return {};
  const Tensor diagonal = graph.tensor(graph.operands(node())[0]);
  if (diagonal.shape().num_elements() != others * n || diagonal.shape().back() != n) return {};
  return reshape(diagonal, {others, n});
}

}  // namespace gradus
