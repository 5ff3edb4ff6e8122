#include "graph/evaluate.h"

#include <algorithm>

#include "base/check.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/needed.h"

namespace gradus {
namespace {

// Runs a node that finds sizes, and binds them. In a trace they are unknowns there too.
Tensors find(const Graph& graph, const Graph::Node& n, std::span<const Tensor> in, Sizes& sizes,
             std::vector<BrokenGuard::Found>& found) {
  const bool now = std::ranges::all_of(in, is_concrete);
  for (std::uint32_t o = 0; o < n.out_count && !now; ++o)
    for (const Size size : graph.info(n.first_out + o).aval.shape)
      if (const std::int64_t i = Symbols::input_of(size);
          i >= 0 && is_same(sizes[static_cast<std::size_t>(i)], kUnbound))
        sizes[static_cast<std::size_t>(i)] = current_symbols().fresh();
  alignas(16) std::byte attrs[512];
  std::copy_n(static_cast<const std::byte*>(graph.attrs(n)), n.op->attrs().bytes, attrs);
  if (!now) bind_attrs(graph.symbols(), sizes, n.op->attrs(), attrs);
  Tensors out = n.op->run(in, attrs);
  for (std::uint32_t o = 0; o < n.out_count; ++o)
    bind_found(graph, n.first_out + o, out[o].shape(), sizes, found);
  try {
    check_guards(graph, sizes);
  } catch (BrokenGuard& e) {
    e.found.insert(e.found.end(), found.begin(), found.end());
    throw;
  }
  return out;
}

template <class IsRun>
std::vector<Tensor> run_nodes(Graph& graph, std::span<const Tensor> inputs,
                              std::span<const Graph::Value> wanted, const IsRun& is_run) {
  std::optional<Sizes> sizes = bind_sizes(graph, inputs);
  if (!sizes) fail<InvalidArgumentError>("[evaluate] the inputs do not have the traced shapes");
  std::vector<Tensor> values(graph.value_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  for (Graph::Value v = 0; v < values.size(); ++v) {
    if (graph.info(v).constant.defined()) values[v] = graph.info(v).constant;
  }
  std::vector<BrokenGuard::Found> found;
  alignas(16) std::byte attrs[512];
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    if (!is_run(k)) continue;
    const Graph::Node n = graph.nodes()[k];  // a copy: the graph may grow
    GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
    std::copy_n(static_cast<const std::byte*>(graph.attrs(n)), n.op->attrs().bytes, attrs);
    bind_attrs(graph.symbols(), *sizes, n.op->attrs(), attrs);
    SmallVector<Tensor, 8> in;
    for (Graph::Value v : graph.operands(n)) in.push_back(values[v]);
    const AttributeTo line(n.where);
    Tensors out;
    if (n.op->info.find) {
      out = find(graph, n, in, *sizes, found);
    } else if (thread_context.graph &&
               (in.empty() || n.op->info.stateful || names_sizes(n.op->attrs(), attrs)) &&
               std::all_of(in.begin(), in.end(), is_concrete)) {
      // No operand says that it belongs to the trace.
      Graph& now = *thread_context.graph;
      SmallVector<Graph::Value, 8> operands;
      for (const Tensor& t : in) operands.push_back(now.value(t));
      const Graph::Node copy = now.add(*n.op, attrs, operands);
      for (std::uint32_t i = 0; i < n.out_count; ++i) out.push_back(now.tensor(copy.first_out + i));
    } else {
      out = n.op->run(in, attrs);
    }
    for (std::uint32_t i = 0; i < n.out_count; ++i) values[n.first_out + i] = std::move(out[i]);
  }
  std::vector<Tensor> results;
  for (Graph::Value v : wanted) results.push_back(values[v]);
  return results;
}

}  // namespace

std::vector<Tensor> evaluate(Graph& graph, std::span<const Tensor> inputs) {
  return evaluate(graph, inputs, graph.outputs(), graph.nodes().size());
}

std::vector<Tensor> evaluate(Graph& graph, std::span<const Tensor> inputs,
                             std::span<const Graph::Value> wanted, std::size_t nodes) {
  return run_nodes(graph, inputs, wanted, [&](std::size_t k) { return k < nodes; });
}

std::vector<Tensor> evaluate_needed(Graph& graph, std::span<const Tensor> inputs,
                                    std::span<const Graph::Value> wanted) {
  const Needed needed = needed_with_sizes(graph, wanted);
  return run_nodes(graph, inputs, wanted, [&](std::size_t k) { return needed.nodes[k]; });
}

std::shared_ptr<Graph> trace(const std::function<Tensors(std::span<const Tensor>)>& f,
                             std::span<const Aval> inputs, std::shared_ptr<Graph> into) {
  auto graph = into ? std::move(into) : Graph::make();
  const TraceScope scope(*graph);
  SmallVector<Tensor, 8> in;
  for (const Aval& aval : inputs) in.push_back(graph->tensor(graph->add_input(aval)));
  std::vector<Graph::Value> outputs;
  for (const Tensor& t : f(in)) outputs.push_back(graph->value(t));
  graph->set_outputs(std::move(outputs));
  return graph;
}

}  // namespace gradus
