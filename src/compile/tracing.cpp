#include "gradus/tracing.h"

#include <utility>

#include "compile/executable.h"
#include "graph/context.h"
#include "graph/dynamic_size.h"
#include "graph/graph.h"

namespace gradus {

bool is_tracing() noexcept { return thread_context.graph != nullptr; }

bool is_tracing_region() noexcept {
  return thread_context.graph != nullptr && thread_context.graph->is_region();
}

bool is_symbolic(const Tensor& t) noexcept {
  return t.defined() && t.impl()->kind == ValueKind::traced;
}

std::string traced_name(const Tensor& t) {
  const TensorExtra& extra = *t.impl()->extra();
  const Graph::ValueInfo& info = extra.graph->info(extra.value);
  if (info.node < 0) return "Placeholder";
  return extra.graph->nodes()[static_cast<std::size_t>(info.node)].op->name();
}

std::optional<std::source_location> take_failed_line() noexcept {
  return std::exchange(failed_line, std::nullopt);
}

PauseTracing::PauseTracing() noexcept
    : graph_(std::exchange(thread_context.graph, nullptr)),
      variables_(std::exchange(thread_context.variables, nullptr)) {}

PauseTracing::~PauseTracing() {
  thread_context.graph = graph_;
  thread_context.variables = variables_;
}

std::optional<Tensor> value_before_call(const Tensor& t) {
  if (!is_symbolic(t)) return t;
  Graph& graph = *t.impl()->extra()->graph;
  // The nodes that the value needs, in their order; none of them may lead to an input.
  std::vector<bool> needed(graph.nodes().size());
  std::vector<Graph::Value> open = {t.impl()->extra()->value};
  while (!open.empty()) {
    const Graph::ValueInfo& info = graph.info(open.back());
    open.pop_back();
    if (info.constant.defined()) continue;
    if (info.node < 0) return {};
    const auto at = static_cast<std::size_t>(info.node);
    if (needed[at]) continue;
    needed[at] = true;
    if (graph.nodes()[at].op == &dynamic_size_op) return {};
    for (Graph::Value v : graph.operands(graph.nodes()[at])) open.push_back(v);
  }
  const PauseTracing pause;
  std::vector<Tensor> values(graph.value_count());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Graph::Node& n = graph.nodes()[i];
    SmallVector<Tensor, 8> in;
    for (Graph::Value v : graph.operands(n))
      in.push_back(graph.info(v).constant.defined() ? graph.info(v).constant : values[v]);
    Tensors out = n.op->run(in, graph.attrs(n));
    for (std::uint32_t k = 0; k < n.out_count; ++k) values[n.first_out + k] = std::move(out[k]);
  }
  return values[t.impl()->extra()->value];
}

}  // namespace gradus
