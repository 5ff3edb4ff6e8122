#include "graph/graph.h"

#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "gradus/type_error.h"
#include "graph/ambient_graph.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "tensor/tensor_impl.h"

namespace gradus {

TraceScope::TraceScope(Graph& graph)
    : symbols_(graph.symbols()), saved_(std::exchange(thread_context.graph, &graph)) {}
TraceScope::~TraceScope() { thread_context.graph = saved_; }

Graph::Graph(std::shared_ptr<Symbols> symbols)
    : symbols_(std::move(symbols)), level_(next_level()) {}

std::shared_ptr<Graph> Graph::make_like(const Graph& other) {
  return std::shared_ptr<Graph>(new Graph(other.symbols_));
}

std::shared_ptr<Graph> Graph::make_beside_trace() {
  const Graph* trace = thread_context.graph ? thread_context.graph : ambient_graph;
  return trace ? std::shared_ptr<Graph>(new Graph(trace->symbols_)) : make();
}

Graph::Value Graph::add_input(const Aval& aval) {
  values_.push_back({aval, -1, {}});
  inputs_.push_back(static_cast<Value>(values_.size() - 1));
  return inputs_.back();
}

Graph::Value Graph::add_constant(const Tensor& value) {
  const auto [entry, is_new] = constants_.try_emplace(value.impl(), values_.size());
  if (is_new) values_.push_back({{value.dtype(), value.shape()}, -2, value});
  return entry->second;
}

void Graph::set_inputs(std::vector<Value> inputs) {
  inputs_ = std::move(inputs);
  for (Value v : inputs_) {
    values_[v].node = -1;
    values_[v].constant = {};
  }
}

std::uint64_t Graph::hash_of(const Op& op, const void* attrs, std::span<const Value> in) const {
  std::uint64_t h = hash_mix(reinterpret_cast<std::uintptr_t>(&op), op.attrs().hash(attrs));
  for (Value v : in) h = hash_mix(h, v);
  return h;
}

const Graph::Node* Graph::find(std::uint64_t hash, const Op& op, const void* attrs,
                               std::span<const Value> in) const {
  const std::uint32_t found = numbering_.find(hash, [&](std::uint32_t k) {
    const Node& n = nodes_[k];
    return n.op == &op && std::ranges::equal(operands(n), in) &&
           op.attrs().equal(this->attrs(n), attrs);
  });
  return found == NodeTable::kNone ? nullptr : &nodes_[found];
}

const Graph::Node& Graph::add(const Op& op, const void* attrs, std::span<const Value> in) {
  const std::uint64_t hash = hash_of(op, attrs, in);
  if (!op.info.stateful && merges_) {
    if (const Node* same = find(hash, op, attrs, in)) return *same;
  }
  SmallVector<View, 4> views;
  for (Value v : in) views.push_back({nullptr, &values_[v].aval.shape, values_[v].aval.dtype});
  Avals out;
  infer_outputs({op, attrs, views}, out);

  Node node{.op = &op,
            .attrs = static_cast<std::uint32_t>(attr_bytes_.size()),
            .first_in = static_cast<std::uint32_t>(operands_.size()),
            .in_count = static_cast<std::uint32_t>(in.size()),
            .first_out = static_cast<Value>(values_.size()),
            .out_count = static_cast<std::uint32_t>(out.size()),
            .where = thread_context.where};
  const auto* bytes = static_cast<const std::byte*>(attrs);
  attr_bytes_.insert(attr_bytes_.end(), bytes, bytes + op.attrs().bytes);
  attr_bytes_.resize((attr_bytes_.size() + 7) / 8 * 8);
  if (op.attrs().holds) held_.push_back(op.attrs().held(attrs));
  operands_.insert(operands_.end(), in.begin(), in.end());
  for (const Aval& aval : out) {
    values_.push_back({aval, static_cast<std::int32_t>(nodes_.size()), {}});
  }
  if (merges_) numbering_.add(hash, static_cast<std::uint32_t>(nodes_.size()));
  nodes_.push_back(node);
  return nodes_.back();
}

Tensor Graph::tensor(Value v) {
  if (values_[v].node == -2) return values_[v].constant;
  Tensor t = make_placeholder(ValueKind::traced, values_[v].aval.dtype, values_[v].aval.shape);
  t.impl()->extra()->graph = shared_from_this();
  t.impl()->extra()->value = v;
  t.impl()->extra()->level = level_;
  return t;
}

Graph::Value Graph::value(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  if (impl->kind == ValueKind::traced) {
    const Graph* owner = impl->extra()->graph.get();
    if (!owner->open_) {
      fail<TypeError>("a traced tensor of shape ", impl->shape,
                      " was used after its function had been traced: it is out of scope here; "
                      "return it from the function instead of keeping it");
    }
    if (owner == this) return impl->extra()->value;
  }
  return add_constant(t);
}

}  // namespace gradus
