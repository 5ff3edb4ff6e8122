// Functions inside a graph: the branches of a cond, the body of a loop.
//
// A region is a graph of its own, without free names: what it used of the surroundings became its
// inputs, after those that it was traced with. It keeps the names of the sizes of the graph around
// it. Derivatives of regions are regions, found by running their nodes under a private tape.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "compile/executable.h"
#include "compile/roles.h"
#include "compile/served_sizes.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/inner_graphs.h"

namespace gradus {

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
  // written over. BrokenGuard if it does not serve their sizes. A program is laid out for each set
  // of sizes; that pays if they come again or are large. Others run op by op.
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
  bool is_worth_a_layout(const Sizes& sizes, std::span<const Tensor> in) const;
  Tensors run_once(const Sizes& sizes, std::span<const Tensor> in) const;

  std::shared_ptr<Graph> graph_;
  std::int64_t memory_limit_ = 0;  // of the program, at these sizes
  Sizes sizes_;
  mutable std::once_flag compiled_;
  mutable std::unique_ptr<Executable> program_;
  mutable ServedSizes served_;
  mutable std::mutex last_mutex_;
  mutable Sizes last_;  // sizes that it ran at
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

}  // namespace gradus
