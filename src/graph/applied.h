// An op on values of a graph that is being built, for rules that look at what the operands are.
#pragma once
#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace gradus {

class Applied {
 public:
  Applied(Graph& graph, const Op& op, const void* attrs, std::span<const Graph::Value> in)
      : graph_(graph), op_(op), attrs_(attrs), in_(in) {}

  const Op& op() const { return op_; }
  bool is(std::string_view name) const { return name == op_.name(); }
  std::size_t count() const { return in_.size(); }
  const Aval& aval(std::size_t i) const { return graph_.info(in_[i]).aval; }
  Tensor operand(std::size_t i) const { return graph_.tensor(in_[i]); }
  bool same_operands(std::size_t i, std::size_t j) const { return in_[i] == in_[j]; }
  // The op that made an operand, if it is no input and no constant and has one result.
  std::optional<Applied> made(std::size_t i) const;
  // Whether an operand is a constant all of whose elements are x, with its sign if it is zero.
  bool is_all(std::size_t i, double x) const;
  // An attribute by its name, of the type that the record gives it.
  template <class T>
  const T& attr(std::string_view name) const {
    return *static_cast<const T*>(field(name));
  }
  bool same_attrs(const Applied& other) const {
    return &op_ == &other.op_ && op_.attrs().equal(attrs_, other.attrs_);
  }
  // The same op with the same attributes on another operand.
  Tensor on(const Tensor& x) const;

 private:
  const void* field(std::string_view name) const;

  Graph& graph_;
  const Op& op_;
  const void* attrs_;
  std::span<const Graph::Value> in_;
};

}  // namespace gradus
