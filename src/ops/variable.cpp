#include "gradus/variable.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/host_number.h"
#include "graph/variable_program.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

VariableState& state_of(const Variable& v) {
  if (!v.defined()) fail<FailedPreconditionError>("a variable was used that has no value yet");
  return *v.state();
}

std::string name_of_change(const char* what) { return std::string("Variable.") + what; }

// A new value must have the variable's dtype and shape; plain numbers take the dtype.
Tensor checked(const char* what, const VariableState& v, const Tensor& value) {
  Tensor t = value;
  if (value.impl()->has(kWeak)) t = number_as(name_of_change(what).c_str(), value, v.dtype);
  if (t.dtype() != v.dtype || !(t.shape() == v.shape)) {
    fail<InvalidArgumentError>("[Variable.", what, "] '", v.name, "' has shape ", v.shape,
                               " and dtype ", name_of(v.dtype), "; got shape ", t.shape(),
                               " and dtype ", name_of(t.dtype()));
  }
  return t;
}

}  // namespace

Variable::Variable(const Tensor& initial, VariableOptions options)
    : state_(std::make_shared<VariableState>()) {
  if (!initial.defined()) fail<InvalidArgumentError>("[Variable] the initial value is undefined");
  if (initial.impl()->kind == ValueKind::traced) {
    fail<InvalidArgumentError>("[Variable] the initial value is not known while a function is ",
                               "traced; make the variable before, outside of the function");
  }
  state_->name = std::move(options.name);
  state_->trainable = options.trainable;
  state_->dtype = initial.dtype();
  state_->shape = initial.shape();
  state_->value = initial;
}

std::shared_ptr<VariableTracer> tracer_of(const VariableState& v) {
  if (thread_context.variables) return {std::shared_ptr<void>(), thread_context.variables};
  if (!v.is_declared) return nullptr;
  std::shared_ptr<VariableTracer> program = v.program.lock();
  if (!program) {
    fail<FailedPreconditionError>("the graph program of the variable '", v.name, "' is gone");
  }
  return program;
}

void update_traced(VariableTracer& tracer, VariableState& variable, std::span<const Tensor> with,
                   const VariableProgram::Change& change) {
  if (auto* program = dynamic_cast<VariableProgram*>(&tracer))
    return program->update(variable, with, change);
  tracer.write(variable, change(tracer.read(variable), with));
}

namespace detail {

Tensor read(const Variable& variable) { return variable.value(); }

}  // namespace detail

Tensor Variable::value() const {
  VariableState& state = state_of(*this);
  const auto tracer = tracer_of(state);
  Tensor value = tracer ? tracer->read(state) : state.get();
  return thread_context.observer ? thread_context.observer->read_variable(state, value) : value;
}

const Shape& Variable::shape() const { return state_of(*this).shape; }
DType Variable::dtype() const { return state_of(*this).dtype; }
const std::string& Variable::name() const { return state_of(*this).name; }
bool Variable::trainable() const { return state_of(*this).trainable; }
void Variable::set_trainable(bool trainable) const { state_of(*this).trainable = trainable; }

void Variable::assign(In value) const {
  const OpenCall here;
  VariableState& state = state_of(*this);
  Tensor t = checked("assign", state, value);
  if (const auto tracer = tracer_of(state)) return tracer->write(state, t);
  if (thread_context.observer) thread_context.observer->assigned(state, t);
  // The cell holds plain values: an alias leaves the tape's tracking behind.
  state.set(t.impl()->flags.load() ? make_alias(t) : t);
}

namespace {

// value = value (op) delta, in place if nobody else can see the value.
void update(const Variable& v, const char* what, const Tensor& delta, const Op& op,
            Tensor (*combine)(In, In)) {
  VariableState& state = state_of(v);
  if (const auto tracer = tracer_of(state)) {
    const auto change = [&state, what, combine](const Tensor& now, std::span<const Tensor> with) {
      return checked(what, state, combine(now, with[0]));
    };
    return update_traced(*tracer, state, {&delta, 1}, change);
  }
  Tensor d = delta;
  if (delta.impl()->has(kWeak)) d = number_as(name_of_change(what).c_str(), delta, state.dtype);
  if (!(broadcast_shapes(what, state.shape, d.shape()) == state.shape)) checked(what, state, d);
  if (d.dtype() != state.dtype) checked(what, state, d);
  if (thread_context.observer) thread_context.observer->assigned(state, d);
  state.update([&](Tensor& value) {
    if (!is_unique(value)) {
      Tensor fresh = make_tensor(state.dtype, state.shape);
      const Tensor* in[] = {&value, &d};
      run_kernel(op, nullptr, in, {&fresh, 1});
      value = fresh;
    } else {
      const Tensor* in[] = {&value, &d};
      run_kernel(op, nullptr, in, {&value, 1});
    }
  });
}

}  // namespace

void Variable::assign_add(In delta) const { update(*this, "assign_add", delta, add_op, add); }
void Variable::assign_sub(In delta) const {
  const OpenCall here;
  update(*this, "assign_sub", delta, subtract_op, subtract);
}

}  // namespace gradus
