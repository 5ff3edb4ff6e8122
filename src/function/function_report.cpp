// What a compiled function says of itself: its traces, its graph as text and as a picture, its
// cost; and the function as data, to be saved.
#include <cstdio>
#include <sstream>

#include "base/check.h"
#include "compile/inner_memory.h"
#include "compile/machine_rates.h"
#include "function/trace_cache.h"
#include "graph/bind.h"
#include "graph/cost.h"
#include "graph/picture.h"
#include "graph/text.h"

namespace gradus::detail {

std::string FunctionCore::explain() const {
  const std::lock_guard lock(state_->mutex);
  std::ostringstream text;
  text << state_->options.name << ": " << state_->count << " trace"
       << (state_->count == 1 ? "" : "s") << "\n";
  for (const std::string& line : state_->log) text << line << "\n";
  return text.str();
}

namespace {

const Graph& graph_of(const std::list<std::shared_ptr<Trace>>& traces, const std::string& name,
                      bool optimised) {
  if (traces.empty()) {
    fail<FailedPreconditionError>("[", name, "] was not called yet, so there is nothing to show");
  }
  return optimised ? traces.front()->program->graph() : *traces.front()->graph;
}

}  // namespace

std::string FunctionCore::text(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return graph_of(state_->traces, state_->options.name, optimised).print();
}

std::string FunctionCore::dot(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return to_dot(graph_of(state_->traces, state_->options.name, optimised), state_->options.name);
}

std::string FunctionCore::html(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return to_html(graph_of(state_->traces, state_->options.name, optimised), state_->options.name);
}

std::string FunctionCore::report() const {
  const std::lock_guard lock(state_->mutex);
  graph_of(state_->traces, state_->options.name, true);
  return to_string(std::span<const PassReport>(state_->traces.front()->passes));
}

Estimate FunctionCore::estimate(const std::vector<Tensor>& in, const Body& body,
                                const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  const std::shared_ptr<Trace> trace = state_->find(in, body, key);
  if (!trace) {
    fail<InvalidArgumentError>("[", state_->options.name,
                               "] uses values of a trace or vmap around it; estimate that instead");
  }
  const Graph& graph = trace->program->graph();
  const Sizes sizes = *bind_sizes(*trace->graph, in);
  const Cost cost = cost_of(graph, sizes);
  Estimate e{.flops = cost.flops,
             .bytes = cost.bytes,
             .seconds = machine_rates().seconds(cost.flops, cost.bytes),
             .temporary_bytes = trace->program->arena_bytes(sizes) + inner_bytes(graph, sizes),
             .steps = static_cast<int>(trace->program->step_count())};
  const auto bytes = [&](Graph::Value v) {
    const Aval& aval = graph.info(v).aval;
    return bind_shape(graph.symbols(), sizes, aval.shape).num_elements() *
           static_cast<std::int64_t>(size_of(aval.dtype));
  };
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    (i < in.size() ? e.argument_bytes : e.variable_bytes) += bytes(graph.inputs()[i]);
  for (Graph::Value v = 0; v < graph.value_count(); ++v)
    if (graph.info(v).constant.defined()) e.constant_bytes += bytes(v);
  for (std::size_t i = 0; i < trace->result_count; ++i) e.result_bytes += bytes(graph.outputs()[i]);
  return e;
}

SavedFunction FunctionCore::saved() const {
  const std::lock_guard lock(state_->mutex);
  const Graph& graph = graph_of(state_->traces, state_->options.name, false);
  const Trace& trace = *state_->traces.front();
  std::ostringstream text;
  SavedFunction saved;
  text << "gradus function 1\nresults " << trace.result_count << "\n";
  for (const Trace::VariableUse& use : trace.variables) {
    text << "variable " << in_quotes(use.variable->name) << " -> " << use.output << "\n";
    saved.variables.push_back(use.variable->get());
    saved.sources.emplace_back(use.variable);
  }
  for (const std::optional<std::int64_t>& hint : graph.symbols().hints())
    text << "size " << hint.value_or(-1) << "\n";
  for (const Guard& g : graph.symbols().guards()) {
    const bool equal = g.question == Guard::Question::equal;
    text << "guard " << graph.symbols().print(g.a)
         << (equal ? (g.answer ? " == " : " != ") : (g.answer ? " < " : " >= "))
         << graph.symbols().print(g.b) << "\n";
  }
  text << to_text(graph, &saved.constants);
  saved.text = text.str();
  (void)LoadedFunction(saved);  // says what cannot be saved
  return saved;
}

int FunctionCore::trace_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->count;
}

}  // namespace gradus::detail

namespace gradus {

std::string to_string(const Estimate& e) {
  const auto mb = [](auto bytes) { return 1e-6 * static_cast<double>(bytes); };
  char text[600];
  std::snprintf(text, sizeof text,
                "%d steps, %.3f MFLOP, %.3f MB moved: at least %.1f us on one thread\n"
                "peak %.3f MB: arguments %.3f, variables %.3f, constants %.3f, results %.3f, "
                "temporaries %.3f\n",
                e.steps, 1e-6 * e.flops, 1e-6 * e.bytes, 1e6 * e.seconds, mb(e.peak_bytes()),
                mb(e.argument_bytes), mb(e.variable_bytes), mb(e.constant_bytes),
                mb(e.result_bytes), mb(e.temporary_bytes));
  return text;
}

}  // namespace gradus
