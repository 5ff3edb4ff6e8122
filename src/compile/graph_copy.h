// A pass is a function from graph to graph. It walks the old one once and copies what it keeps.
#pragma once
#include "graph/context.h"
#include "graph/graph.h"

namespace gradus {

class GraphCopy {
 public:
  using Value = Graph::Value;

  explicit GraphCopy(const Graph& from);

  const Graph& from() const { return from_; }
  Graph& to() { return *to_; }

  // What stands for an old value; constants come over when they are first asked for.
  Value operator[](Value old);
  void map(Value old, Value now) { now_[old] = now; }

  void copy(const Graph::Node& n);
  void copy_with(const Graph::Node& n, const Held& held);  // other attributes than these stay
  // Copies n as another op on new operands.
  void replace(const Graph::Node& n, const Op& op, const void* attrs, std::span<const Value> in);
  // Runs a body on what stands for the operands; its results stand for those of n. False if the
  // body has nothing to say.
  bool inline_body(const Graph::Node& n, BodyFn body);

  std::shared_ptr<Graph> finish();  // outputs are those of the old graph

 private:
  static constexpr Value kNone = ~0u;
  const Graph& from_;
  std::shared_ptr<Graph> to_;
  TraceScope scope_;
  std::vector<Value> now_;
};

}  // namespace gradus
