#include "gradus/error.h"
#include "gradus/layers.h"
#include "gradus/ops.h"

namespace gradus::keras {

void Optimizer::apply(const std::vector<Gradient>& gradients,
                      const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size()) {
    throw InvalidArgumentError("[Optimizer.apply] got " + std::to_string(gradients.size()) +
                               " gradients for " + std::to_string(variables.size()) + " variables");
  }
  iterations_.assign_add(1);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i].is_none()) update(variables[i], gradients[i]);
  }
}

void Optimizer::minimize(GradientTape& tape, const Tensor& loss,
                         const std::vector<Variable>& variables) {
  apply(tape.gradient(loss, variables), variables);
}

const Variable& Optimizer::slot(const Variable& variable, const std::string& name, double initial) {
  const auto key = std::pair(variable.state(), name);
  auto found = slots_.find(key);
  if (found == slots_.end()) {
    const Tensor start = fill(variable.shape(), cast(initial, variable.dtype()));
    found = slots_
                .emplace(key, Variable(start,
                                       {.name = variable.name() + "/" + name, .trainable = false}))
                .first;
  }
  return found->second;
}

void SGD::update(const Variable& variable, const Gradient& gradient) {
  if (momentum_ == 0) {
    sgd_update(variable, gradient, learning_rate_);
  } else {
    momentum_update(variable, slot(variable, "velocity"), gradient, learning_rate_, momentum_,
                    nesterov_);
  }
}

void Adagrad::update(const Variable& variable, const Gradient& gradient) {
  adagrad_update(variable, slot(variable, "accumulator", initial_), gradient, learning_rate_);
}

void Adam::update(const Variable& variable, const Gradient& gradient) {
  adam_update(variable, slot(variable, "m"), slot(variable, "v"), gradient, iterations_.value(),
              settings_);
}

}  // namespace gradus::keras
