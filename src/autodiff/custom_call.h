// A call of a function that has rules of its own, as one op. docs/design/006-custom-rules.md
#pragma once
#include <vector>

#include "gradus/variable.h"
#include "graph/op.h"

namespace gradus {

class CustomCall : public Held {
 public:
  // The results. Called once, by call_custom, unless the call is a graph.
  virtual Tensors run(std::span<const Tensor> in) = 0;
  // Tangents of the results from those of the inputs; undefined ones are zero.
  virtual Tensors push(const Site& site, std::span<const Tensor> tangents) = 0;
  // Cotangents of the inputs (all, whether wanted or not) from those of the results.
  virtual SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) = 0;
  virtual Reads reads() const = 0;

  // What the user wrote, from which the engine made the rest: pull, push, or only run.
  enum class Rule : std::uint8_t { pull, push, none };
  virtual Rule rule() const = 0;
  // Variables that were read by run; pull gives their gradients after those of the inputs.
  virtual std::vector<Variable> variables() const { return {}; }
  // Only calls that are graphs are nodes of graphs, run more than once, and know their shapes.
  virtual bool is_graph() const { return false; }
  virtual void infer(const Call& call, Avals& out) const;

 protected:
  // push for calls that have only pull: the map from cotangents to gradients is linear, and its
  // transpose maps tangents.
  Tensors push_by_transpose(const Site& site, std::span<const Aval> outputs,
                            std::span<const Tensor> tangents);
};

// Runs the call; whoever follows an input sees it as one op. On traced inputs it becomes a node of
// their graph, and keeps its rules there.
Tensors call_custom(CustomCall& call, std::span<const Tensor> in);

// Whether a tensor is a name in a graph, or one example of such a tensor.
bool is_traced(const Tensor& t);

// Traces a call into a graph of its own, rules included. `operands` are the inputs; appended to
// them is what else the function uses: variables, and values of its surroundings.
std::shared_ptr<CustomCall> traced_call(const Op& op, CustomCall& call,
                                        std::vector<Tensor>& operands);

}  // namespace gradus
