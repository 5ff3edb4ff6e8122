// Variables while a function is traced: the first read is an input of the graph, a write changes
// what later reads see, and what is there at the end is an output.
#pragma once
#include <memory>
#include <vector>

#include "base/check.h"
#include "control/variable_in_trace.h"
#include "graph/context.h"
#include "graph/graph.h"

namespace gradus {

class TracedVariables final : public VariableTracer {
 public:
  explicit TracedVariables(Graph& graph)
      : graph_(graph), outer_(std::exchange(thread_context.variables, this)) {}
  ~TracedVariables() { thread_context.variables = outer_; }
  TracedVariables(const TracedVariables&) = delete;

  Tensor read(VariableState& variable) override { return entry(variable).read(); }
  void write(VariableState& variable, const Tensor& value) override {
    entry(variable).write(value);
  }
  // In the order of the graph's inputs that follow the arguments.
  const std::vector<VariableInTrace>& entries() const { return entries_; }

 private:
  VariableInTrace& entry(VariableState& variable) {
    for (VariableInTrace& known : entries_)
      if (known.variable().get() == &variable) return known;
    if (variable.is_declared) {
      fail<InvalidArgumentError>("the variable '", variable.name, "' belongs to a graph program; ",
                                 "a compiled function cannot use it");
    }
    const Graph::Value v = graph_.add_input({variable.dtype, variable.shape});
    return entries_.emplace_back(variable, graph_.tensor(v));
  }

  Graph& graph_;
  VariableTracer* outer_;
  std::vector<VariableInTrace> entries_;
};

}  // namespace gradus
