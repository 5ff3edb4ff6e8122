// Gradients of a graph that is there already: a tape is told of its nodes as if they were just
// being made.
#include <algorithm>

#include "base/check.h"
#include "session/graph_program.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;

Graph& graph_of(const Tensor& t) {
  if (!t.defined() || t.impl()->kind != ValueKind::traced) {
    fail<InvalidArgumentError>("[gradients] got a value that no node of a graph program makes");
  }
  return *t.impl()->extra()->graph;
}

// Tells the tape of what lies between sources and targets.
class Replay {
 public:
  Replay(GradientTape& tape, std::span<const Tensor> ys, std::span<const Source> xs,
         std::span<const Tensor> stops)
      : graph_(graph_of(ys[0])),
        names_(graph_.value_count()),
        is_stop_(graph_.value_count(), false) {
    for (const Tensor& t : stops) is_stop_[value_of(t)] = true;
    // A source has one name, under which the tape knows it.
    for (const Source& x : xs) {
      if (x.is_variable()) {
        tape.watch(x.variable());
        variables_.push_back(x.variable().state());
      } else {
        is_source_.push_back(value_of(x.tensor()));
      }
    }
    const std::vector<bool> leads = leading_to(ys);
    for (Value v : is_source_)
      if (graph_.info(v).node < 0 || is_stop_[v]) watch(tape, v);
    for (std::size_t k = 0; k < leads.size(); ++k)
      if (leads[k]) tell(tape, graph_.nodes()[k]);
    for (Value v : is_source_)
      if (!names_[v].defined()) watch(tape, v);  // leads to no target
  }

  Tensor name(const Tensor& t) { return name(value_of(t)); }

 private:
  Value value_of(const Tensor& t) {
    if (&graph_of(t) != &graph_) {
      fail<InvalidArgumentError>("[gradients] the tensors belong to different programs");
    }
    return t.impl()->extra()->value;
  }

  Tensor name(Value v) {
    if (!names_[v].defined()) names_[v] = graph_.tensor(v);
    return names_[v];
  }

  void watch(GradientTape& tape, Value v) { tape.watch(name(v)); }

  std::vector<bool> leading_to(std::span<const Tensor> ys) {
    std::vector<bool> leads(graph_.nodes().size(), false);
    std::vector<Value> open;
    for (const Tensor& y : ys) open.push_back(value_of(y));
    while (!open.empty()) {
      const Value v = open.back();
      open.pop_back();
      const std::int32_t node = graph_.info(v).node;
      if (node < 0 || is_stop_[v] || leads[static_cast<std::size_t>(node)]) continue;
      leads[static_cast<std::size_t>(node)] = true;
      for (Value in : graph_.operands(graph_.nodes()[static_cast<std::size_t>(node)]))
        open.push_back(in);
    }
    return leads;
  }

  void tell(GradientTape& tape, Graph::Node n) {
    Observer& observer = *thread_context.observer;
    const AttributeTo line(n.where);
    if (n.op == &read_variable_op) {
      VariableState& v = *variable_use(graph_.attrs(n)).variable;
      if (std::ranges::count(variables_, &v))
        names_[n.first_out] = observer.read_variable(v, graph_.tensor(n.first_out));
    } else if (n.op != &write_variable_op && n.out_count > 0) {
      SmallVector<Tensor, 8> in;
      std::uint16_t flags = 0;
      for (Value v : graph_.operands(n)) {
        in.push_back(name(v));
        flags |= in.back().impl()->flags.load(std::memory_order_relaxed);
      }
      if (flags & (kTracked | kHasTangent)) {
        SmallVector<const Tensor*, 8> operands;
        for (const Tensor& t : in) operands.push_back(&t);
        SmallVector<Tensor, 4> out;
        for (std::uint32_t i = 0; i < n.out_count; ++i)
          out.push_back(graph_.tensor(n.first_out + i));
        observer.observe(*n.op, graph_.attrs(n), operands, out);
        for (std::uint32_t i = 0; i < n.out_count; ++i)
          if (!is_stop_[n.first_out + i]) names_[n.first_out + i] = out[i];
      }
    }
    for (Value v : is_source_)
      if (v >= n.first_out && v < n.first_out + n.out_count) watch(tape, v);
  }

  Graph& graph_;
  std::vector<Tensor> names_;  // by value: as the tape knows it
  std::vector<bool> is_stop_;
  std::vector<Value> is_source_;
  std::vector<const VariableState*> variables_;
};

std::vector<Source> renamed(Replay& replay, std::span<const Source> xs) {
  std::vector<Source> sources;
  for (const Source& x : xs)
    sources.push_back(x.is_variable() ? x : Source(replay.name(x.tensor())));
  return sources;
}

}  // namespace

std::vector<Gradient> gradients(const std::vector<Tensor>& ys, const std::vector<Source>& xs,
                                const GraphGradientOptions& options) {
  if (ys.empty()) fail<InvalidArgumentError>("[gradients] got no targets");
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size()) {
    fail<InvalidArgumentError>("[gradients] got ", options.grad_ys.size(), " gradients for ",
                               ys.size(), " targets");
  }
  // The nodes are told to this tape only, so what comes out would look like constants to another.
  for (const Tensor& y : ys)
    if (thread_context.observer && (y.impl()->flags.load(std::memory_order_relaxed) & kTracked)) {
      fail<UsageError>(
          "[gradients] a GradientTape records here, which could not differentiate the result: take "
          "the inner derivative with a GradientTape, too");
    }
  const TraceScope scope(graph_of(ys[0]));
  GradientTape tape({.watch_accessed_variables = false});
  Replay replay(tape, ys, xs, options.stop_gradients);
  std::vector<Tensor> targets;
  for (const Tensor& y : ys) targets.push_back(replay.name(y));
  std::vector<Gradient> found =
      tape.gradient(targets, renamed(replay, xs),
                    {.output_gradients = options.grad_ys, .unconnected = options.unconnected});
  Graph& graph = graph_of(ys[0]);
  for (Gradient& g : found) {  // one that depends on nothing is a node all the same
    if (g.is_none() || g.is_rows() || !is_concrete(g.values())) continue;
    const Value v = graph.value(g.values());
    g = Gradient(graph.tensor(graph.add(graph_constant_op, nullptr, {&v, 1}).first_out));
  }
  return found;
}

Tensor graph_jacobian(const Tensor& y, const Source& x) {
  const TraceScope scope(graph_of(y));
  GradientTape tape({.watch_accessed_variables = false});
  Replay replay(tape, {&y, 1}, {&x, 1}, {});
  return tape.jacobian(replay.name(y), renamed(replay, {&x, 1}), Unconnected::zero)[0];
}

}  // namespace gradus
