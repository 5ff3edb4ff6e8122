#include "autodiff/replayed_variables.h"

#include <algorithm>

#include "graph/variable_state.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

FirstValue* find(FirstValues& values, const VariableState& v) {
  const auto found =
      std::ranges::find_if(values, [&](const FirstValue& f) { return f.variable.get() == &v; });
  return found == values.end() ? nullptr : &*found;
}

Tensor value_now(VariableState& v, VariableTracer* tracer) {
  return tracer ? tracer->read(v) : v.get();
}

}  // namespace

const FirstValue* FirstUses::noted(VariableState& v) {
  if (thread_context.variables != tracer_) return nullptr;
  if (const FirstValue* known = find(all, v)) return known;
  all.push_back({v.shared_from_this(), value_now(v, tracer_)});
  return &all.back();
}

void FirstUses::about_to_read(VariableState& v) {
  const FirstValue* first = noted(v);
  if (first && is_differentiable(v.dtype) && !find(read, v)) read.push_back(*first);
}

void FirstUses::about_to_write(VariableState& v) { noted(v); }

FirstValue& ReplayedVariables::entry(VariableState& variable) {
  if (FirstValue* known = find(values_, variable)) return *known;
  values_.push_back({variable.shared_from_this(), value_now(variable, outer_)});
  return values_.back();
}

Tensor ReplayedVariables::read(VariableState& variable) { return entry(variable).value; }

void ReplayedVariables::write(VariableState& variable, const Tensor& value) {
  // As in the cell of a variable: whoever followed the value does not follow what is read later.
  entry(variable).value = value.impl()->flags.load() ? make_alias(value) : value;
  thread_tapes().forget_value(&variable);
}

}  // namespace gradus
