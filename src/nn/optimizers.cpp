#include "gradus/optimizers.h"

#include <algorithm>

#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/sparse.h"

namespace gradus::keras {

Optimizer::Optimizer(double learning_rate, OptimizerOptions options)
    : options_(options),
      learning_rate_(Tensor(static_cast<float>(learning_rate)),
                     {.name = "learning_rate", .trainable = false}) {
  if ((options.clipnorm > 0) + (options.clipvalue > 0) + (options.global_clipnorm > 0) > 1)
    throw InvalidArgumentError(
        "[Optimizer] only one of clipnorm, clipvalue and global_clipnorm can be set");
}

void Optimizer::apply(const std::vector<Gradient>& gradients,
                      const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size()) {
    throw InvalidArgumentError("[Optimizer.apply] got " + std::to_string(gradients.size()) +
                               " gradients for " + std::to_string(variables.size()) + " variables");
  }
  std::vector<Gradient> clipped;
  if (options_.global_clipnorm > 0)
    clipped = clip_by_global_norm(gradients, options_.global_clipnorm).first;
  if (options_.clipnorm > 0 || options_.clipvalue > 0) {
    for (const Gradient& g : gradients)
      clipped.push_back(g.is_none() ? g
                        : options_.clipnorm > 0
                            ? clip_by_norm(g, options_.clipnorm)
                            : clip_by_value(g, -options_.clipvalue, options_.clipvalue));
  }
  const std::vector<Gradient>& used = clipped.empty() ? gradients : clipped;
  begin_step();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!used[i].is_none()) update(variables[i], used[i]);
  }
  end_step();
  iterations_.assign_add(1);
}

void Optimizer::minimize(GradientTape& tape, const Tensor& loss,
                         const std::vector<Variable>& variables) {
  apply(tape.gradient(loss, variables), variables);
}

void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& variables) {
  without_decay_.insert(without_decay_.end(), variables.begin(), variables.end());
}

bool Optimizer::decays(const Variable& variable) const {
  return std::find(without_decay_.begin(), without_decay_.end(), variable) == without_decay_.end();
}

Tensor Optimizer::rate_now() const {
  return schedule_ ? schedule_(cast(iterations_, float32)) : learning_rate_.value();
}

const Variable& Optimizer::slot(const Variable& variable, const std::string& name, double initial) {
  const auto key = std::pair(variable.state(), name);
  auto found = slots_.find(key);
  if (found == slots_.end()) {
    const Tensor start = fill(variable.shape(), cast(initial, state_dtype(variable.dtype())));
    found = slots_
                .emplace(key, Variable(start,
                                       {.name = variable.name() + "/" + name, .trainable = false}))
                .first;
  }
  return found->second;
}

void RuleOptimizer::begin_step() {
  UpdateSettings settings{.learning_rate = rate_now(),
                          .step = iterations_.value() + 1,
                          .settings = settings_,
                          .weight_decay = options_.weight_decay};
  if (rule_ == UpdateRule::nadam) {
    if (!product_.defined())
      product_ = Variable(Tensor(1.0f), {.name = "u_product", .trainable = false});
    const Tensor step = cast(settings.step, float32);
    product_.assign(product_ * (settings_[0] * (1 - 0.5 * pow(0.96, step))));
    settings.product = product_;
  }
  step_.emplace(rule_, settings);
}

void RuleOptimizer::update(const Variable& variable, const Gradient& gradient) {
  std::vector<Variable> state;
  for (const Slot& s : state_) state.push_back(slot(variable, s.name, s.initial));
  (*step_)(variable, state, gradient, decays(variable));
}

namespace {

using Slots = std::vector<RuleOptimizer::Slot>;

OptimizerOptions with_decay(OptimizerOptions options, double weight_decay) {
  if (weight_decay != 0) options.weight_decay = weight_decay;
  return options;
}

UpdateRule rmsprop_rule(const RMSpropSettings& s) {
  if (s.centered)
    return s.momentum > 0 ? UpdateRule::rmsprop_centered_momentum : UpdateRule::rmsprop_centered;
  return s.momentum > 0 ? UpdateRule::rmsprop_momentum : UpdateRule::rmsprop;
}
std::vector<double> rmsprop_settings(const RMSpropSettings& s) {
  if (s.momentum > 0) return {s.rho, s.epsilon, s.momentum};
  return {s.rho, s.epsilon};
}
Slots rmsprop_slots(const RMSpropSettings& s) {
  Slots slots = {{"velocity"}};
  if (s.momentum > 0) slots.push_back({"momentum"});
  if (s.centered) slots.push_back({"average_gradient"});
  return slots;
}

}  // namespace

SGD::SGD(double learning_rate, double momentum, bool nesterov, OptimizerOptions options)
    : RuleOptimizer(momentum == 0 ? UpdateRule::sgd
                    : nesterov    ? UpdateRule::nesterov
                                  : UpdateRule::momentum,
                    momentum == 0 ? std::vector<double>{} : std::vector{momentum},
                    momentum == 0 ? Slots{} : Slots{{"momentum"}}, learning_rate, options) {}

Adagrad::Adagrad(double learning_rate, double initial_accumulator_value, double epsilon,
                 OptimizerOptions options)
    : RuleOptimizer(UpdateRule::adagrad, {epsilon}, {{"accumulator", initial_accumulator_value}},
                    learning_rate, options) {}

Adam::Adam(AdamSettings s, OptimizerOptions options, bool amsgrad)
    : RuleOptimizer(amsgrad ? UpdateRule::amsgrad : UpdateRule::adam,
                    {s.beta_1, s.beta_2, s.epsilon},
                    amsgrad ? Slots{{"momentum"}, {"velocity"}, {"velocity_hat"}}
                            : Slots{{"momentum"}, {"velocity"}},
                    s.learning_rate, with_decay(options, s.weight_decay)) {}

AdamW::AdamW(AdamWSettings s, OptimizerOptions options)
    : Adam({s.learning_rate, s.beta_1, s.beta_2, s.epsilon, s.weight_decay}, options) {}

Adamax::Adamax(AdamSettings s, OptimizerOptions options)
    : RuleOptimizer(UpdateRule::adamax, {s.beta_1, s.beta_2, s.epsilon}, {{"momentum"}, {"norm"}},
                    s.learning_rate, with_decay(options, s.weight_decay)) {}

Nadam::Nadam(AdamSettings s, OptimizerOptions options)
    : RuleOptimizer(UpdateRule::nadam, {s.beta_1, s.beta_2, s.epsilon},
                    {{"momentum"}, {"velocity"}}, s.learning_rate,
                    with_decay(options, s.weight_decay)) {}

RMSprop::RMSprop(RMSpropSettings s, OptimizerOptions options)
    : RuleOptimizer(rmsprop_rule(s), rmsprop_settings(s), rmsprop_slots(s), s.learning_rate,
                    options) {}

Adadelta::Adadelta(double learning_rate, double rho, double epsilon, OptimizerOptions options)
    : RuleOptimizer(UpdateRule::adadelta, {rho, epsilon},
                    {{"accumulated_grad"}, {"accumulated_delta_var"}}, learning_rate, options) {}

Lion::Lion(double learning_rate, double beta_1, double beta_2, OptimizerOptions options)
    : RuleOptimizer(UpdateRule::lion, {beta_1, beta_2}, {{"momentum"}}, learning_rate, options) {}

Ftrl::Ftrl(FtrlSettings s, OptimizerOptions options)
    : RuleOptimizer(UpdateRule::ftrl,
                    {-s.learning_rate_power, s.l1_regularization_strength,
                     s.l2_regularization_strength, s.l2_shrinkage_regularization_strength, s.beta},
                    {{"accumulator", s.initial_accumulator_value}, {"linear"}}, s.learning_rate,
                    options) {}

}  // namespace gradus::keras
