// The one IR: a flat list of op applications in the order in which they were made.
//
// Values are 32-bit numbers; a node has a contiguous range of operands and makes a contiguous range
// of values, so every walk is a loop over indices and freeing a graph is freeing arrays. Building
// is value-numbered: the same op on the same operands with the same attributes is one node.
//
// A traced Tensor is a name (graph, value). Ops on traced tensors append here through dispatch, so
// any function over tensors, rules included, builds graphs without knowing it.
#pragma once
#include <memory>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/level.h"
#include "graph/node_table.h"
#include "graph/op.h"
#include "graph/symbols.h"

namespace gradus {

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  using Value = std::uint32_t;

  struct Node {
    const Op* op;
    std::uint32_t attrs;  // offset into attribute bytes
    std::uint32_t first_in, in_count;
    Value first_out;
    std::uint32_t out_count;
    std::source_location where;
  };
  struct ValueInfo {
    Aval aval;
    std::int32_t node;  // who makes it; -1: an input, -2: a constant
    Tensor constant;
  };

  static std::shared_ptr<Graph> make() { return std::shared_ptr<Graph>(new Graph); }
  // An empty graph whose sizes have the same names.
  static std::shared_ptr<Graph> make_like(const Graph& other);
  static std::shared_ptr<Graph> make_with(std::shared_ptr<Symbols> symbols) {
    return std::shared_ptr<Graph>(new Graph(std::move(symbols)));
  }
  // An empty graph for values that are used beside those of what this thread traces: sizes are
  // names of the same table, so that new ones that either makes mean the same to both.
  static std::shared_ptr<Graph> make_beside_trace();
  Graph(const Graph&) = delete;

  // Building.
  Value add_input(const Aval& aval);
  Value add_constant(const Tensor& value);
  // Applies an op; the shape rule runs here. Returns the first of its outputs.
  const Node& add(const Op& op, const void* attrs, std::span<const Value> in);
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }
  // The inputs in another order, or further ones that were constants so far.
  void set_inputs(std::vector<Value> inputs);

  // The traced tensor that names a value, and the value of any tensor (others become constants).
  Tensor tensor(Value v);
  Value value(const Tensor& t);

  const std::vector<Node>& nodes() const { return nodes_; }
  const ValueInfo& info(Value v) const { return values_[v]; }
  std::size_t value_count() const { return values_.size(); }
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  std::span<const Value> operands(const Node& n) const {
    return {operands_.data() + n.first_in, n.in_count};
  }
  const void* attrs(const Node& n) const { return attr_bytes_.data() + n.attrs; }
  Symbols& symbols() { return *symbols_; }
  const Symbols& symbols() const { return *symbols_; }
  // Inner graphs, made later, see values of outer ones as constants.
  Level level() const { return level_; }
  // A region of another graph takes every op that is traced while it is, also those that only use
  // values of outer graphs: they run when the region does.
  void make_region() { is_region_ = true; }
  bool is_region() const { return is_region_; }
  // A program that is built by hand (session/graph_program.h): any value may be fed, so equal nodes
  // are not merged before it is known what is.
  void make_program() {
    is_program_ = true;
    keep_equal_nodes();
  }
  bool is_program() const { return is_program_; }
  void keep_equal_nodes() { merges_ = false; }  // apart: each is a node of its own
  // No more ops: traced tensors that outlive the trace are told so when they are used.
  void close() { open_ = false; }

  std::string print() const;            // graph/text.h
  std::string describe(Value v) const;  // "float32 (s0, 3)"

 private:
  explicit Graph(std::shared_ptr<Symbols> symbols = std::make_shared<Symbols>());
  std::uint64_t hash_of(const Op& op, const void* attrs, std::span<const Value> in) const;
  const Node* find(std::uint64_t hash, const Op& op, const void* attrs,
                   std::span<const Value> in) const;

  std::vector<Node> nodes_;
  std::vector<ValueInfo> values_;
  std::vector<Value> operands_, inputs_, outputs_;
  std::vector<std::byte> attr_bytes_;
  std::vector<std::shared_ptr<const Held>> held_;  // what attributes refer to
  NodeTable numbering_;
  std::unordered_map<const TensorImpl*, Value> constants_;
  std::shared_ptr<Symbols> symbols_;
  Level level_;
  bool open_ = true;
  bool is_region_ = false;
  bool is_program_ = false;
  bool merges_ = true;  // equal nodes
};

// Makes a graph the one that this thread traces into.
class TraceScope {
 public:
  explicit TraceScope(Graph& graph);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;

 private:
  SymbolScope symbols_;
  Graph* saved_;
};

}  // namespace gradus
