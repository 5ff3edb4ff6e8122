// Variables: named cells that hold a tensor and can be assigned.
//
//   gd::Variable w(gd::zeros({784, 10}), {.name = "w"});
//   w.assign_sub(0.1 * dw);
//
// A Variable is a handle; copies refer to the same cell. Assigning replaces the value: tensors read
// before, and what a tape saved, keep the old one. The old memory is reused when nobody else has
// it.
#pragma once
#include <memory>
#include <string>

#include "gradus/in.h"
#include "gradus/tensor.h"

namespace gradus {

struct VariableState;

struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true;
};

class Variable {
 public:
  Variable() = default;
  explicit Variable(const Tensor& initial, VariableOptions options = {});
  explicit Variable(std::shared_ptr<VariableState> state) : state_(std::move(state)) {}

  Tensor value() const;  // watched by tapes that watch variables
  operator Tensor() const { return value(); }
  const Shape& shape() const;
  DType dtype() const;
  const std::string& name() const;
  bool trainable() const;
  void set_trainable(bool trainable) const;  // functions that are traced already keep what they saw
  bool defined() const { return state_ != nullptr; }

  // The shape and dtype of a variable never change.
  void assign(In value) const;
  void assign_add(In delta) const;
  void assign_sub(In delta) const;
  // Rows of axis 0: indices of any integer dtype; repeated indices all count (update: the last
  // one).
  void scatter_add(In indices, In updates) const;
  void scatter_sub(In indices, In updates) const;
  void scatter_update(In indices, In updates) const;
  void scatter_mul(In indices, In updates) const;
  void scatter_div(In indices, In updates) const;
  void scatter_max(In indices, In updates) const;
  void scatter_min(In indices, In updates) const;

  VariableState* state() const { return state_.get(); }
  friend bool operator==(const Variable& a, const Variable& b) { return a.state_ == b.state_; }

 private:
  std::shared_ptr<VariableState> state_;
};

}  // namespace gradus
