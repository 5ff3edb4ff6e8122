#include "compile/graph_copy.h"

#include "base/check.h"

namespace gradus {

GraphCopy::GraphCopy(const Graph& from) : GraphCopy(from, from.inputs()) {}

GraphCopy::GraphCopy(const Graph& from, std::span<const Value> inputs)
    : GraphCopy(from, Graph::make_like(from)) {
  for (Value v : inputs) add_input(v);
}

GraphCopy::GraphCopy(const Graph& from, std::shared_ptr<Graph> to)
    : from_(from), to_(std::move(to)), scope_(*to_), now_(from.value_count(), kNone) {}

Graph::Value GraphCopy::operator[](Value old) {
  if (now_[old] == kNone) {
    GRADUS_ASSERT(from_.info(old).constant.defined());
    now_[old] = to_->add_constant(from_.info(old).constant);
  }
  return now_[old];
}

void GraphCopy::replace(const Graph::Node& n, const Op& op, const void* attrs,
                        std::span<const Value> in) {
  const AttributeTo line(n.where);
  const Graph::Node copy = to_->add(op, attrs, in);
  GRADUS_ASSERT(copy.out_count == n.out_count);
  for (std::uint32_t i = 0; i < n.out_count; ++i) now_[n.first_out + i] = copy.first_out + i;
}

SmallVector<Graph::Value, 8> GraphCopy::operands(const Graph::Node& n) {
  SmallVector<Value, 8> in;
  for (Value v : from_.operands(n)) in.push_back((*this)[v]);
  return in;
}

void GraphCopy::copy(const Graph::Node& n) {
  const AttributeTo line(n.where);
  const Graph::Node copy = to_->add(*n.op, from_.attrs(n), operands(n));
  for (std::uint32_t i = 0; i < n.out_count; ++i)
    if (!has(n.first_out + i)) map(n.first_out + i, copy.first_out + i);
}

void GraphCopy::copy_with(const Graph::Node& n, const Held& held) {
  replace(n, *n.op, n.op->attrs().with_held(from_.attrs(n), held).data(), operands(n));
}

void GraphCopy::copy_nodes(const std::vector<bool>& chosen) {
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (chosen[k]) copy(from_.nodes()[k]);
}

bool GraphCopy::inline_body(const Graph::Node& n, BodyFn body) {
  const AttributeTo line(n.where);
  SmallVector<Tensor, 8> in;
  for (Value v : from_.operands(n)) in.push_back(to_->tensor((*this)[v]));
  const Tensors out = body(from_.attrs(n), in);
  if (out.empty()) return false;
  GRADUS_ASSERT(out.size() == n.out_count);
  for (std::uint32_t i = 0; i < n.out_count; ++i) now_[n.first_out + i] = to_->value(out[i]);
  return true;
}

std::shared_ptr<Graph> GraphCopy::finish(std::span<const Value> outputs) {
  std::vector<Value> now;
  for (Value v : outputs) now.push_back((*this)[v]);
  to_->set_outputs(std::move(now));
  return to_;
}

}  // namespace gradus
