// Functions of the user's (branches, bodies of loops) while they become regions (compile/region.h).
//
// A function is traced first: an open region, which may use tensors and variables of what is around
// it. Then the regions of a node are closed together: what any of them used from outside becomes a
// further input of all.
#pragma once
#include <functional>

#include "compile/region.h"
#include "control/variable_in_trace.h"
#include "graph/context.h"

namespace gradus {

// Variables while a region of the user's is traced: reads go to the trace around it, writes stay
// inside until the region is made and its results say what was written.
class RegionVariables final : public VariableTracer {
 public:
  explicit RegionVariables(std::vector<VariableInTrace> known = {});
  ~RegionVariables() { thread_context.variables = outer_; }
  RegionVariables(const RegionVariables&) = delete;

  Tensor read(VariableState& variable) override;
  void write(VariableState& variable, const Tensor& value) override;
  std::vector<VariableInTrace> take() { return std::move(entries_); }

 private:
  VariableInTrace* find(const VariableState& variable);

  std::vector<VariableInTrace> entries_;
  VariableTracer* outer_;
  Graph* outer_graph_;
  const Mute* outer_mute_;
};

// A function of the user's, traced as a region of `outer` but not yet closed.
struct OpenRegion {
  std::shared_ptr<Graph> graph;
  std::vector<Tensor> out;
  std::vector<VariableInTrace> variables;
  // The graphs that it is a part of, outermost first.
  std::vector<std::shared_ptr<const Graph>> around = {};

  template <class F>
  auto inside(F f) {
    const TraceScope scope(*graph);
    const Mute insides(0);
    return f();
  }
  Aval result(std::size_t i) const { return {out[i].dtype(), out[i].shape()}; }
  std::string print(const Aval& aval) const;  // "float32 (3, n0)"
};
// The last inputs stand for these variables.
OpenRegion open_region(const Graph& outer, std::span<const Aval> inputs,
                       std::span<const std::shared_ptr<VariableState>> variables,
                       const std::function<std::vector<Tensor>(std::vector<Tensor>)>& f);

// Closes regions: all get the same further inputs, one for each tensor in the result, which are
// what any of them used from outside.
std::vector<Tensor> close_regions(std::span<OpenRegion> open,
                                  std::vector<std::shared_ptr<Region>>& closed);

// The value of a variable as the code around a region sees it.
Tensor read_variable(VariableState& variable);
// A tensor without the mark of a number.
Tensor without_mark(const Tensor& t);

}  // namespace gradus
