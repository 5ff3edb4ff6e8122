// A graph, or a part of it, copied with changes: a pass is a function from graph to graph that
// walks the old one once and copies what it keeps.
#pragma once
#include "graph/context.h"
#include "graph/graph.h"

namespace gradus {

class GraphCopy {
 public:
  using Value = Graph::Value;

  explicit GraphCopy(const Graph& from);
  // The part of a graph that begins with these values: they are the inputs.
  GraphCopy(const Graph& from, std::span<const Value> inputs);
  // Into a graph that has something already. What stands for inputs is said by `map`.
  GraphCopy(const Graph& from, std::shared_ptr<Graph> to);

  const Graph& from() const { return from_; }
  Graph& to() { return *to_; }

  // What stands for an old value; constants come over when they are first asked for.
  Value operator[](Value old);
  bool has(Value old) const { return now_[old] != kNone; }
  void map(Value old, Value now) { now_[old] = now; }
  void add_input(Value old) { map(old, to_->add_input(from_.info(old).aval)); }

  // Results that something stands for already keep it.
  void copy(const Graph::Node& n);
  void copy_with(const Graph::Node& n, const Held& held);  // other attributes than these stay
  void copy_nodes(const std::vector<bool>& chosen);        // in their order
  // Copies n as another op on new operands.
  void replace(const Graph::Node& n, const Op& op, const void* attrs, std::span<const Value> in);
  // Runs a body on what stands for the operands; its results stand for those of n. False if the
  // body has nothing to say.
  bool inline_body(const Graph::Node& n, BodyFn body);

  std::shared_ptr<Graph> finish() { return finish(from_.outputs()); }
  std::shared_ptr<Graph> finish(std::span<const Value> outputs);  // old ones

 private:
  SmallVector<Value, 8> operands(const Graph::Node& n);

  static constexpr Value kNone = ~0u;
  const Graph& from_;
  std::shared_ptr<Graph> to_;
  TraceScope scope_;
  std::vector<Value> now_;
};

}  // namespace gradus
