#include "gradus/custom.h"

#include <algorithm>

#include "autodiff/custom_call.h"
#include "autodiff/replayed_variables.h"
#include "autodiff/rules.h"
#include "autodiff/tape.h"
#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "gradus/forward.h"
#include "gradus/ops.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/symbols.h"
#include "ops/seed_log.h"

namespace gradus::detail {
namespace {

using Variables = std::vector<Variable>;

// Collects the variables that are read while it lives and could have a gradient.
class ReadVariables final : public VariableListener {
 public:
  ReadVariables() { thread_tapes().add_listener(this); }
  ~ReadVariables() { thread_tapes().remove_listener(this); }
  ReadVariables(const ReadVariables&) = delete;

  void about_to_read(VariableState& v) override {
    const Variable variable(v.shared_from_this());
    if (is_differentiable(v.dtype) && v.trainable && std::ranges::count(found, variable) == 0)
      found.push_back(variable);
  }
  Variables found;
};

Tensors as_tensors(const std::vector<Tensor>& v) { return Tensors(v.begin(), v.end()); }
std::vector<Tensor> as_vector(std::span<const Tensor> t) { return {t.begin(), t.end()}; }

// A call whose results were computed before it became an op.
class ReadyCall : public CustomCall {
 public:
  explicit ReadyCall(const std::vector<Tensor>& results) : results_(as_tensors(results)) {
    for (const Tensor& t : results) outputs_.push_back({t.dtype(), t.shape()});
  }
  Tensors run(std::span<const Tensor>) override { return std::exchange(results_, {}); }

 protected:
  SmallVector<Aval, 4> outputs_;

 private:
  Tensors results_;
};

// All cotangents of the results, zeros in place of none.
std::vector<Tensor> whole_cotangents(std::span<const Tensor> cts, std::span<const Aval> outputs) {
  std::vector<Tensor> whole;
  for (std::size_t i = 0; i < cts.size(); ++i) {
    whole.push_back(cts[i].defined() ? cts[i] : zeros(outputs[i].shape, outputs[i].dtype));
  }
  return whole;
}

class GradientCall final : public ReadyCall {
 public:
  GradientCall(CustomForward forward, Variables variables)
      : ReadyCall(forward.value),
        backward_(std::move(forward.backward)),
        variables_(std::move(variables)) {}

  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    const auto given = backward_(whole_cotangents(cts, outputs_), variables_);
    if (given.size() != site.args.size()) {
      fail<InvalidArgumentError>("[custom_gradient] the gradient function returned ", given.size(),
                                 " gradients for ", site.args.size() - variables_.size(),
                                 " arguments and ", variables_.size(),
                                 " variables; it must return one for each, in order");
    }
    SmallVector<Cotangent, 4> grads;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Aval& arg = site.args[i];
      if (!given[i].is_none() &&
          (!shapes_agree(given[i].dense_shape(), arg.shape) || given[i].dtype() != arg.dtype)) {
        fail<InvalidArgumentError>("[custom_gradient] gradient ", i, " has shape ",
                                   given[i].dense_shape(), " and dtype ", name_of(given[i].dtype()),
                                   "; what it belongs to has shape ", arg.shape, " and dtype ",
                                   name_of(arg.dtype));
      }
      Cotangent grad = is_differentiable(arg.dtype) ? to_cotangent(given[i]) : Cotangent();
      const bool is_dense = !grad.is_zero() && !grad.is_rows();
      grads.push_back(is_dense ? Cotangent(broadcast_to(grad.value(), arg.shape)) : grad);
    }
    return grads;
  }

  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    return push_by_transpose(site, outputs_, tangents);
  }

  Reads reads() const override { return {}; }
  Rule rule() const override { return Rule::pull; }
  Variables variables() const override { return variables_; }

 private:
  Backward backward_;
  Variables variables_;
};

class JvpCall final : public ReadyCall {
 public:
  JvpCall(const std::vector<Tensor>& results, Function rule)
      : ReadyCall(results), rule_(std::move(rule)) {}

  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    std::vector<Tensor> x = as_vector(site.in);
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      x.push_back(tangents[i].defined() || !is_differentiable(site.args[i].dtype)
                      ? tangents[i]
                      : zeros(site.args[i].shape, site.args[i].dtype));
    }
    std::vector<Tensor> out = rule_(x);
    if (out.size() != outputs_.size()) {
      fail<InvalidArgumentError>("[custom_jvp] the rule returned ", out.size(), " tangents for ",
                                 outputs_.size(), " results");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].defined() && !shapes_agree(out[i].shape(), outputs_[i].shape)) {
        fail<InvalidArgumentError>("[custom_jvp] tangent ", i, " has shape ", out[i].shape(),
                                   "; its result has ", outputs_[i].shape);
      }
      if (out[i].defined() && out[i].dtype() != outputs_[i].dtype) {
        fail<InvalidArgumentError>("[custom_jvp] tangent ", i, " has dtype ",
                                   name_of(out[i].dtype()), "; its result has ",
                                   name_of(outputs_[i].dtype));
      }
      if (out[i].defined()) out[i] = broadcast_to(out[i], outputs_[i].shape);
    }
    return as_tensors(out);
  }

  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    SmallVector<std::size_t, 8> active;
    SmallVector<Aval, 4> avals;
    for (std::size_t i = 0; i < site.args.size(); ++i) {
      if (!is_differentiable(site.args[i].dtype)) continue;
      active.push_back(i);
      avals.push_back(site.args[i]);
    }
    const auto tangents = [&](std::span<const Tensor> t) {
      SmallVector<Tensor, 8> all(site.args.size());
      for (std::size_t k = 0; k < active.size(); ++k) all[active[k]] = t[k];
      return push(site, all);
    };
    auto found = transpose_of(tangents, avals, std::vector<Cotangent>(cts.begin(), cts.end()));
    SmallVector<Cotangent, 4> grads(site.args.size());
    for (std::size_t k = 0; k < active.size(); ++k) grads[active[k]] = std::move(found[k]);
    return grads;
  }

  Reads reads() const override { return {~0u, 0}; }
  Rule rule() const override { return Rule::push; }

 private:
  Function rule_;
};

// Inputs: the arguments, the tensors of f's surroundings, the values of variables.
class RecomputedCall final : public ReadyCall {
 public:
  RecomputedCall(const std::vector<Tensor>& results, Function f, std::size_t arguments,
                 std::vector<Tensor> captured, FirstValues used, Variables variables, SeedLog seeds)
      : ReadyCall(results),
        f_(std::move(f)),
        arguments_(arguments),
        captured_(std::move(captured)),
        used_(std::move(used)),
        variables_(std::move(variables)),
        seeds_(std::move(seeds)) {}

  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    GradientTape tape({.persistent = true, .watch_accessed_variables = false});
    const Again again(*this, site);
    std::vector<std::vector<Recording::Id>> ids;
    for (const Tensor& t : again.inputs) {
      const bool active = is_differentiable(t.dtype());
      if (active) tape.watch(t);
      ids.push_back(active ? reads_of(tape.state(), t) : std::vector<Recording::Id>());
    }
    for (const Variable& v : variables_) tape.watch(v);  // if it is written, and read after that
    const std::vector<Tensor> out = again.run();
    tape.stop();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      std::vector<Recording::Id>& of_variable = ids[first_variable() + i];
      for (const Recording::Id id : reads_of(tape.state(), variables_[i]))
        of_variable.push_back(id);
    }
    const std::vector<Cotangent> seeds(cts.begin(), cts.end());
    const auto grads =
        sweep(*tape.state().recording, tape.state().bit,
              {.targets = out, .seeds = seeds, .sources = ids, .initial = {}, .release = true});
    return SmallVector<Cotangent, 4>(grads.begin(), grads.end());
  }

  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    const Again again(*this, site);
    std::vector<std::pair<Source, Tensor>> pairs;
    for (std::size_t i = 0; i < tangents.size(); ++i)
      if (tangents[i].defined()) pairs.emplace_back(again.inputs[i], tangents[i]);
    for (std::size_t i = 0; i < variables_.size(); ++i)  // if it is written, and read after that
      if (const Tensor& t = tangents[first_variable() + i]; t.defined())
        pairs.emplace_back(variables_[i], t);
    const ForwardAccumulator accumulator(pairs);
    Tensors results;
    for (const Tensor& y : again.run()) results.push_back(accumulator.jvp(y).values());
    return results;
  }

  Reads reads() const override { return {~0u, 0}; }
  Rule rule() const override { return Rule::none; }

 private:
  // The second run. Its inputs have names of their own, except those that only f itself can name.
  struct Again {
    RecomputedCall& call;
    std::vector<Tensor> inputs;

    Again(RecomputedCall& c, const Site& site) : call(c), inputs(as_vector(site.in)) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool captured = i >= c.arguments_ && i < c.first_variable();
        inputs[i] = captured ? c.captured_[i - c.arguments_] : identity(inputs[i]);
      }
      for (std::size_t i = 0; i < c.variables_.size(); ++i) {
        thread_tapes().push_value(c.variables_[i].state(), inputs[c.first_variable() + i]);
      }
    }
    ~Again() {
      for (std::size_t i = 0; i < call.variables_.size(); ++i) thread_tapes().pop_value();
    }
    Again(const Again&) = delete;

    std::vector<Tensor> run() const {
      const SeedScope same_numbers(call.seeds_, SeedScope::Use::repeat);
      const ReplayedVariables same_values(call.used_);
      return call.f_(
          {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(call.arguments_)});
    }
  };

  std::size_t first_variable() const { return arguments_ + captured_.size(); }

  Function f_;
  std::size_t arguments_;
  std::vector<Tensor> captured_;
  FirstValues used_;
  Variables variables_;
  SeedLog seeds_;
};

// A function whose rule is there only once it has run; for tracing.
class StartedCall final : public CustomCall {
 public:
  using Start = std::function<std::shared_ptr<CustomCall>(const std::vector<Tensor>&)>;
  StartedCall(Start start, Rule rule) : start_(std::move(start)), rule_(rule) {}

  Tensors run(std::span<const Tensor> in) override {
    call_ = start_(as_vector(in));
    return call_->run(in);
  }
  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    return call_->pull(site, cts);
  }
  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    return call_->push(site, tangents);
  }
  Reads reads() const override { return call_->reads(); }
  Rule rule() const override { return rule_; }
  Variables variables() const override { return call_->variables(); }

 private:
  Start start_;
  Rule rule_;
  std::shared_ptr<CustomCall> call_;
};

std::vector<Tensor> call_traced(const StartedCall::Start& start, CustomCall::Rule rule,
                                const std::vector<Tensor>& arguments) {
  const auto call = std::make_shared<StartedCall>(start, rule);
  return as_vector(call_custom(*call, arguments));
}

bool any_traced(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors, is_traced);
}

// The arguments under names that nobody follows: what a function is still seen to use comes from
// its surroundings, even if it is one of its arguments too.
std::vector<Tensor> renamed(std::vector<Tensor> arguments) {
  const Mute nobody_is_told(0);
  for (Tensor& t : arguments)
    if (t.defined()) t = identity(t);
  return arguments;
}

std::shared_ptr<GradientCall> start_gradient(
    const std::function<CustomForward(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& arguments) {
  ReadVariables reads;
  CustomForward forward = f(arguments);
  if (!reads.found.empty() && !forward.takes_variables) {
    fail<InvalidArgumentError>(
        "[custom_gradient] the function read the variable '", reads.found[0].name(),
        "', but its gradient function does not take variables; give it a second argument, a "
        "std::vector<Variable>, and return a pair: gradients of the arguments and of the "
        "variables");
  }
  return std::make_shared<GradientCall>(std::move(forward), std::move(reads.found));
}

std::shared_ptr<JvpCall> start_jvp(const Function& f, const Function& rule,
                                   const std::vector<Tensor>& arguments) {
  const std::vector<Tensor> given = renamed(arguments);
  Mute::Captured used;
  const Mute insides(0, &used);
  const ReadVariables reads;
  const std::vector<Tensor> results = f(given);
  if (!used.empty() || !reads.found.empty()) {
    fail<InvalidArgumentError>(
        "[custom_jvp] the function uses ",
        reads.found.empty() ? "a watched tensor of shape " + to_string(used[0].shape())
                            : "the variable '" + reads.found[0].name() + "'",
        " that is not among its arguments, and its rule could give no derivative for it; make it "
        "an argument, or use stop_gradient");
  }
  return std::make_shared<JvpCall>(results, rule);
}

}  // namespace

std::vector<Tensor> call_custom_gradient(
    const std::function<CustomForward(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& arguments) {
  if (any_traced(arguments)) {
    return call_traced([&](const std::vector<Tensor>& x) { return start_gradient(f, x); },
                       CustomCall::Rule::pull, arguments);
  }
  const auto call = start_gradient(f, arguments);
  std::vector<Tensor> inputs = arguments;
  for (const Variable& v : call->variables()) inputs.push_back(v.value());
  return as_vector(call_custom(*call, inputs));
}

std::vector<Tensor> call_custom_jvp(const Function& f, const Function& rule,
                                    const std::vector<Tensor>& arguments) {
  if (any_traced(arguments)) {
    return call_traced([&](const std::vector<Tensor>& x) { return start_jvp(f, rule, x); },
                       CustomCall::Rule::push, arguments);
  }
  return as_vector(call_custom(*start_jvp(f, rule, arguments), arguments));
}

std::vector<Tensor> call_recomputed(Function f, const std::vector<Tensor>& arguments) {
  // While a function is traced, also with arguments that are constants: f may use values of the
  // trace that are not among them. An operand that it does not see makes the call a node then.
  Graph* const trace = thread_context.graph;
  if (trace || any_traced(arguments)) {
    std::vector<Tensor> operands = arguments;
    if (!any_traced(arguments)) operands.push_back(trace->tensor(trace->add_constant(Tensor(0.0))));
    return call_traced(
        [&](std::vector<Tensor> x) {
          x.resize(arguments.size());
          return std::make_shared<RecomputedCall>(f(x), nullptr, operands.size(),
                                                  std::vector<Tensor>(), FirstValues(), Variables(),
                                                  SeedLog());
        },
        CustomCall::Rule::none, operands);
  }
  const std::vector<Tensor> given = renamed(arguments);
  Mute::Captured used;
  FirstValues first, read;
  SeedLog seeds;
  std::vector<Tensor> results;
  {
    const Mute insides(0, &used);
    const SeedScope note(seeds, SeedScope::Use::note);
    FirstUses uses;
    results = f(given);
    first = std::move(uses.all);
    read = std::move(uses.read);
  }
  for (Tensor t : arguments) {
    while (t.defined() && t.impl()->kind == ValueKind::batched) {
      t = Tensor(t.impl()->extra()->inner);
      if (std::ranges::any_of(used, [&](const Tensor& u) { return u.impl() == t.impl(); })) {
        fail<UnimplementedError>(
            "[recompute_grad] inside vmap the function uses an argument of shape ", t.shape(),
            " (the whole batch) also from outside; take it from the arguments only");
      }
    }
  }
  std::vector<Tensor> inputs = arguments;
  inputs.insert(inputs.end(), used.begin(), used.end());
  Variables variables;
  for (const auto& [variable, value] : read) {  // the values from before f wrote any
    variables.emplace_back(variable);
    inputs.push_back(
        thread_context.observer ? thread_context.observer->read_variable(*variable, value) : value);
  }
  const auto call =
      std::make_shared<RecomputedCall>(results, std::move(f), arguments.size(), std::move(used),
                                       std::move(first), std::move(variables), std::move(seeds));
  results.clear();
  return as_vector(call_custom(*call, inputs));
}

}  // namespace gradus::detail
