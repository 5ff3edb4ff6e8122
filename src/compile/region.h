// Functions inside a graph: the branches of a cond, the body of a loop.
//
// A region is a graph of its own, without free names: what it used of the surroundings became its
// inputs, after those that it was traced with. It keeps the names of the sizes of the graph around
// it. Derivatives of regions are regions, found by running their nodes under a private tape.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "compile/executable.h"
#include "compile/served_sizes.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/inner_graphs.h"
#include "graph/variable_state.h"

namespace gradus {

// What a node with an effect says of running it again, which derivatives of regions do.
class Repeatable {
 public:
  virtual bool may_repeat() const = 0;  // it draws no random numbers, say
  // The same without printing and the like; null: there is nothing of that in it.
  virtual std::shared_ptr<const Held> without_effects() const { return nullptr; }

 protected:
  ~Repeatable() = default;
};

class Region {
 public:
  explicit Region(std::shared_ptr<Graph> graph);  // which has its inputs and outputs

  Graph& graph() const { return *graph_; }
  std::size_t input_count() const { return graph_->inputs().size(); }
  std::size_t output_count() const { return graph_->outputs().size(); }
  const Aval& input(std::size_t i) const { return graph_->info(graph_->inputs()[i]).aval; }
  const Aval& output(std::size_t i) const { return graph_->info(graph_->outputs()[i]).aval; }
  HasGraphs::Inner inner() const { return {graph_.get(), graph_->outputs()}; }
  bool is_stateful() const;  // draws random numbers or prints, say
  bool may_repeat() const;
  // The region for derivatives, without nodes that only have an effect; null: it has none.
  std::shared_ptr<Region> without_effects() const;

  // Results for inputs like these, whose sizes may be symbols of the current trace.
  void infer(std::span<const View> in, Avals& out) const;
  // The same, where kUnbound stands for sizes that are found inside; guards are not looked at.
  void results(std::span<const View> in, Avals& out) const;
  // Op by op, through dispatch.
  Tensors operator()(std::span<const Tensor> in) const;
  // As a program, on tensors with values, which are given away: what nobody else holds may be
  // written over. BrokenGuard if it does not serve their sizes.
  Tensors run(std::vector<Tensor> in) const;
  // Compiled, when first asked for.
  Executable& program() const;
  // What the program takes on inputs like these, with the programs inside of it.
  std::int64_t memory_bytes(std::span<const Aval> in) const;
  std::int64_t memory_bytes(const Sizes& sizes) const;
  // The region whose program takes about this part of it, by computing values again.
  std::shared_ptr<Region> with_less_memory(std::span<const Aval> in, double part) const;
  // A region on the same inputs has the same limit.
  void limit_as(const Region& other) {
    memory_limit_ = other.memory_limit_;
    sizes_ = other.sizes_;
  }

 private:
  std::shared_ptr<Graph> graph_;
  std::int64_t memory_limit_ = 0;  // of the program, at these sizes
  Sizes sizes_;
  mutable std::once_flag compiled_;
  mutable std::unique_ptr<Executable> program_;
  mutable ServedSizes served_;
};

// Derivatives run what they are derivatives of again.
void require_repeatable(bool may_repeat);

// A region while it is built by the engine: inputs first, then any number of calls of `inside`.
class RegionBuilder {
 public:
  // Sizes have the names that they have in `like`.
  explicit RegionBuilder(const Graph& like) : graph_(Graph::make_like(like)) {}
  Graph& graph() { return *graph_; }
  Tensor add_input(const Aval& aval) { return graph_->tensor(graph_->add_input(aval)); }
  template <class F>
  auto inside(F f) {
    const TraceScope scope(*graph_);
    return f();
  }
  std::shared_ptr<Region> finish(std::span<const Tensor> out);

 private:
  std::shared_ptr<Graph> graph_;
};

// Variables while a region of the user's is traced: reads go to the trace around it, writes stay
// inside until the region is made and its results say what was written.
class RegionVariables final : public VariableTracer {
 public:
  struct Entry {
    std::shared_ptr<VariableState> variable;
    Tensor now;
    bool is_written = false;
    Tensor seen = {};  // what reads gave before the last write, or give since

    bool is_seen = true;
    Tensor read();
  };

  explicit RegionVariables(std::vector<Entry> known = {});
  ~RegionVariables() { thread_context.variables = outer_; }
  RegionVariables(const RegionVariables&) = delete;

  Tensor read(VariableState& variable) override;
  void write(VariableState& variable, const Tensor& value) override;
  std::vector<Entry> take() { return std::move(entries_); }

 private:
  Entry* find(const VariableState& variable);

  std::vector<Entry> entries_;
  VariableTracer* outer_;
  Graph* outer_graph_;
  const Mute* outer_mute_;
};

// A function of the user's, traced as a region of `outer` but not yet closed.
struct OpenRegion {
  std::shared_ptr<Graph> graph;
  std::vector<Tensor> out;
  std::vector<RegionVariables::Entry> variables;
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
