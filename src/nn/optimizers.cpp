#include "gradus/optimizers.h"

#include <algorithm>

#include "gradus/control.h"
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
  if (options.use_ema && !(options.ema_momentum >= 0 && options.ema_momentum <= 1))
    throw InvalidArgumentError(
        "`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=" +
        std::to_string(options.ema_momentum));
  if (options.ema_overwrite_frequency < 0)
    throw InvalidArgumentError(
        "`ema_overwrite_frequency` must be an integer >= 1 or 0 for never. Received: "
        "ema_overwrite_frequency=" +
        std::to_string(options.ema_overwrite_frequency));
  if (options.gradient_accumulation_steps < 0 || options.gradient_accumulation_steps == 1)
    throw InvalidArgumentError(
        "`gradient_accumulation_steps` must be an integer >= 2. Received: "
        "gradient_accumulation_steps=" +
        std::to_string(options.gradient_accumulation_steps));
}

void Optimizer::apply(const Gradients& gradients, const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size()) {
    throw InvalidArgumentError("[Optimizer.apply] got " + std::to_string(gradients.size()) +
                               " gradients for " + std::to_string(variables.size()) + " variables");
  }
  Gradients unscaled;
  if (options_.loss_scale_factor > 0) {
    for (const Gradient& g : gradients)
      unscaled.push_back(g.is_none() ? g : scale(g, 1 / options_.loss_scale_factor));
  }
  const Gradients& given = unscaled.empty() ? gradients : unscaled;
  if (options_.gradient_accumulation_steps > 0)
    accumulate(given, variables);
  else
    change(given, variables);
  if (options_.use_ema) follow(given, variables);
  iterations_.assign_add(1);
}

Optimizer::Gradients Optimizer::clipped(const Gradients& gradients) const {
  if (options_.global_clipnorm > 0)
    return clip_by_global_norm(gradients, options_.global_clipnorm).first;
  Gradients clipped = gradients;
  for (Gradient& g : clipped) {
    if (g.is_none()) continue;
    if (options_.clipnorm > 0) g = clip_by_norm(g, options_.clipnorm);
    if (options_.clipvalue > 0) g = clip_by_value(g, -options_.clipvalue, options_.clipvalue);
  }
  return clipped;
}

void Optimizer::change(const Gradients& gradients, const std::vector<Variable>& variables) {
  const bool clips =
      options_.clipnorm > 0 || options_.clipvalue > 0 || options_.global_clipnorm > 0;
  const Gradients clipped_ones = clips ? clipped(gradients) : Gradients{};
  const Gradients& used = clips ? clipped_ones : gradients;
  begin_step();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!used[i].is_none()) update(variables[i], used[i]);
  }
  end_step();
}

// Gradients are added up; every so many steps their mean is used, and the sums start again.
void Optimizer::accumulate(const Gradients& gradients, const std::vector<Variable>& variables) {
  const std::int64_t steps = options_.gradient_accumulation_steps;
  std::vector<Variable> sums;
  Gradients dense = gradients;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    sums.push_back(slot(variables[i], "gradient_accumulator"));
    if (!gradients[i].is_none()) dense[i] = cast(gradients[i].tensor(), sums[i].dtype());
  }
  const auto change_by_mean = [&] {
    Gradients means = dense;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (dense[i].is_none()) continue;
      const Tensor mean = (dense[i].tensor() + sums[i]) / static_cast<double>(steps);
      means[i] = cast(mean, variables[i].dtype());
      sums[i].assign(zeros(sums[i].shape(), sums[i].dtype()));
    }
    change(means, variables);
  };
  const auto add_up = [&] {
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (!dense[i].is_none()) sums[i].assign_add(dense[i].tensor());
  };
  cond(equal(floormod(iterations_ + 1, steps), 0), change_by_mean, add_up);
}

// An average starts as the variable itself.
void Optimizer::follow(const Gradients& gradients, const std::vector<Variable>& variables) {
  const Tensor count = changes();
  const Tensor started = not_equal(count, 0);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i].is_none()) continue;
    const Variable& v = variables[i];
    const Variable& average = slot(v, "average");
    const Tensor kept = cast(started, average.dtype()) * options_.ema_momentum;
    average.assign(kept * average + (1 - kept) * cast(v, average.dtype()));
    if (options_.ema_overwrite_frequency == 0) continue;
    const Tensor now = equal(floormod(count + 1, options_.ema_overwrite_frequency), 0);
    v.assign(where(now, cast(average, v.dtype()), v));
  }
}

void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) {
  if (!options_.use_ema) return;
  for (const Variable& v : variables) v.assign(cast(slot(v, "average"), v.dtype()));
}

Tensor Optimizer::scale_loss(const Tensor& loss) const {
  return options_.loss_scale_factor > 0 ? loss * options_.loss_scale_factor : loss;
}

void Optimizer::minimize(GradientTape& tape, const Tensor& loss,
                         const std::vector<Variable>& variables) {
  apply(tape.gradient(scale_loss(loss), variables), variables);
}

Tensor Optimizer::changes() const {
  const std::int64_t steps = options_.gradient_accumulation_steps;
  return steps > 0 ? floordiv(iterations_, steps) : iterations_.value();
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
  return slot(variable, name, variable.shape(), initial);
}

const Variable& Optimizer::slot(const Variable& variable, const std::string& name,
                                const Shape& shape, double initial) {
  const auto key = std::pair(variable.state(), name);
  auto found = slots_.find(key);
  if (found == slots_.end()) {
    const Tensor start = fill(shape, cast(initial, state_dtype(variable.dtype())));
    const Variable made(start, {.name = variable.name() + "/" + name, .trainable = false});
    found = slots_.emplace(key, Kept{variable, made}).first;
  }
  return found->second.slot;
}

void RuleOptimizer::begin_step() { step_.reset(); }

void RuleOptimizer::update(const Variable& variable, const Gradient& gradient) {
  if (!step_) {  // the first variable: what all of them share, in its precision
    UpdateSettings settings{.learning_rate = rate_now(),
                            .step = changes() + 1,
                            .settings = settings_,
                            .weight_decay = options_.weight_decay};
    if (rule_ == UpdateRule::nadam) {
      if (!product_.defined()) {
        const Tensor one = cast(1, state_dtype(variable.dtype()));
        product_ = Variable(one, {.name = "u_product", .trainable = false});
      }
      const Tensor step = cast(settings.step, product_.dtype());
      product_.assign(product_ * (settings_[0] * (1 - 0.5 * pow(0.96, step))));
      settings.product = product_;
    }
    step_.emplace(rule_, settings);
  }
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

AdamW::AdamW(AdamWSettings s, OptimizerOptions options, bool amsgrad)
    : Adam({s.learning_rate, s.beta_1, s.beta_2, s.epsilon, s.weight_decay}, options, amsgrad) {}

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
