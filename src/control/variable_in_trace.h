// A variable while a function is traced: what it holds, and what reads of it give.
//
// Reading a variable is reading that variable, whatever was assigned to it: derivatives go to the
// variable, as if it were an argument, and not through the assignment to what the assigned value
// was computed from. So it is when ops run one by one, and so it is in TensorFlow.
#pragma once
#include <memory>

#include "graph/variable_state.h"

namespace gradus {

class VariableInTrace {
 public:
  VariableInTrace(VariableState& variable, const Tensor& value)
      : variable_(variable.shared_from_this()), now_(value), seen_(value) {}

  const std::shared_ptr<VariableState>& variable() const { return variable_; }
  const Tensor& now() const { return now_; }  // as computed
  bool is_written() const { return is_written_; }

  // The elements of what was written last, with the derivatives of what reads gave before.
  Tensor read();
  void write(const Tensor& value);

 private:
  std::shared_ptr<VariableState> variable_;
  Tensor now_, seen_;  // what reads gave before the last write, or give since
  bool is_written_ = false, is_seen_ = true;
};

}  // namespace gradus
