#include "compile/graph_copy.h"

#include "base/check.h"

namespace gradus {

GraphCopy::GraphCopy(const Graph& from)
    : from_(from), to_(Graph::make_like(from)), scope_(*to_), now_(from.value_count(), kNone) {
  for (Value v : from.inputs()) now_[v] = to_->add_input(from.info(v).aval);
}

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

void GraphCopy::copy(const Graph::Node& n) {
  SmallVector<Value, 8> in;
  for (Value v : from_.operands(n)) in.push_back((*this)[v]);
  replace(n, *n.op, from_.attrs(n), in);
}

void GraphCopy::copy_with(const Graph::Node& n, const Held& held) {
  SmallVector<Value, 8> in;
  for (Value v : from_.operands(n)) in.push_back((*this)[v]);
  replace(n, *n.op, n.op->attrs().with_held(from_.attrs(n), held).data(), in);
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

std::shared_ptr<Graph> GraphCopy::finish() {
  std::vector<Value> outputs;
  for (Value v : from_.outputs()) outputs.push_back((*this)[v]);
  to_->set_outputs(std::move(outputs));
  return to_;
}

}  // namespace gradus
