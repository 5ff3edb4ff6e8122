// Variables in a function that runs a second time for its gradient (recompute_grad). The second run
// must see what the first one saw and leave nothing behind: it reads the values that the variables
// had when the first run came to them, its writes go no further than itself, and the states of
// random generators, which are variables, give the same numbers again.
#pragma once
#include <memory>
#include <vector>

#include "autodiff/thread_tapes.h"
#include "gradus/variable.h"

namespace gradus {

struct FirstValue {
  std::shared_ptr<VariableState> variable;
  Tensor value;
};
using FirstValues = std::vector<FirstValue>;

// Notes the value of every variable before it is read or written for the first time, and those that
// were read and could have a gradient.
class FirstUses final : public VariableListener {
 public:
  FirstUses() : tracer_(thread_context.variables) { thread_tapes().add_listener(this); }
  ~FirstUses() { thread_tapes().remove_listener(this); }
  FirstUses(const FirstUses&) = delete;

  void about_to_read(VariableState& v) override;
  void about_to_write(VariableState& v) override;

  FirstValues all;
  FirstValues read;

 private:
  const FirstValue* noted(VariableState& v);
  VariableTracer* tracer_;  // whoever else is one traces or replays a part of the function
};

// While it lives, variables begin with these values.
class ReplayedVariables final : public VariableTracer {
 public:
  explicit ReplayedVariables(FirstValues values)
      : values_(std::move(values)), outer_(std::exchange(thread_context.variables, this)) {}
  ~ReplayedVariables() { thread_context.variables = outer_; }
  ReplayedVariables(const ReplayedVariables&) = delete;

  Tensor read(VariableState& variable) override;
  void write(VariableState& variable, const Tensor& value) override;

 private:
  FirstValue& entry(VariableState& variable);
  FirstValues values_;
  VariableTracer* outer_;
};

}  // namespace gradus
