// Variables while a function is traced: the first read is an input of the graph, a write changes
// what later reads see, and what is there at the end is an output.
#pragma once
#include <memory>
#include <vector>

#include "base/check.h"
#include "compile/assigned.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/variable_state.h"

namespace gradus {

class TracedVariables final : public VariableTracer {
 public:
  explicit TracedVariables(Graph& graph)
      : graph_(graph), outer_(std::exchange(thread_context.variables, this)) {}
  ~TracedVariables() { thread_context.variables = outer_; }
  TracedVariables(const TracedVariables&) = delete;

  struct Entry {
    std::shared_ptr<VariableState> variable;
    Tensor now;
    bool is_written = false;
    Tensor seen = {};  // what reads gave before the last write, or give since
    bool is_seen = true;
  };

  Tensor read(VariableState& variable) override {
    Entry& e = entry(variable);
    if (!e.is_seen) e.seen = assigned(e.now, e.seen);
    e.is_seen = true;
    return e.seen;
  }
  void write(VariableState& variable, const Tensor& value) override {
    Entry& e = entry(variable);
    e.now = value;
    e.is_written = true;
    e.is_seen = false;
  }
  // In the order of the graph's inputs that follow the arguments.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Entry& entry(VariableState& variable) {
    for (Entry& e : entries_)
      if (e.variable.get() == &variable) return e;
    if (variable.is_declared) {
      fail<InvalidArgumentError>("the variable '", variable.name, "' belongs to a graph program; ",
                                 "a compiled function cannot use it");
    }
    const Graph::Value v = graph_.add_input({variable.dtype, variable.shape});
    const Tensor input = graph_.tensor(v);
    entries_.push_back({variable.shared_from_this(), input, false, input});
    return entries_.back();
  }

  Graph& graph_;
  VariableTracer* outer_;
  std::vector<Entry> entries_;
};

}  // namespace gradus
