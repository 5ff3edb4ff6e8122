// The inner loops of optimizers: one fused sweep over a variable, its gradient and its state, in
// place. Formulas and defaults are Keras 3's. Row gradients touch only their rows where that is the
// same update (sgd, adagrad); repeated rows count once with their sum. The state of float16 and
// bfloat16 variables is float32, and so is the arithmetic.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/variable.h"

namespace gradus {

// What the state is, and the settings.
enum class UpdateRule {
  sgd,
  momentum,                   // velocity; momentum
  nesterov,                   // velocity; momentum
  adagrad,                    // sum of squares; epsilon
  adam,                       // m, v; beta_1, beta_2, epsilon
  amsgrad,                    // m, v, largest v; beta_1, beta_2, epsilon
  adamax,                     // m, norm; beta_1, beta_2, epsilon
  nadam,                      // m, v; beta_1, beta_2, epsilon
  adadelta,                   // squares, squared changes; rho, epsilon
  rmsprop,                    // squares; rho, epsilon
  rmsprop_momentum,           // squares, momentum; rho, epsilon, momentum
  rmsprop_centered,           // squares, mean; rho, epsilon
  rmsprop_centered_momentum,  // squares, momentum, mean; rho, epsilon, momentum
  lion,                       // momentum; beta_1, beta_2
  ftrl,  // sum of squares, linear; -learning_rate_power, l1, l2, l2_shrinkage, beta
};
std::optional<UpdateRule> update_rule(const std::string& name);  // "rmsprop_momentum"
int state_count(UpdateRule rule);
DType state_dtype(DType of_variable);

// What is the same for all variables of a step. Inside a compiled function the learning rate and
// the step may be traced.
struct UpdateSettings {
  Tensor learning_rate;
  Tensor step = 1;                    // counts from 1
  std::vector<double> settings = {};  // as listed above
  double weight_decay = 0;            // variables shrink by learning_rate * weight_decay before
  Tensor product = 1;                 // nadam: of its momentum's shares, up to this step
};

// One step of an optimizer, for any number of variables.
class Update {
 public:
  Update(UpdateRule rule, const UpdateSettings& settings);
  void operator()(const Variable& variable, std::span<const Variable> state,
                  const Gradient& gradient, bool decays = true) const;
  void operator()(const Variable& variable, std::initializer_list<Variable> state,
                  const Gradient& gradient) const {
    (*this)(variable, std::span(state.begin(), state.size()), gradient);
  }

 private:
  UpdateRule rule_;
  std::vector<double> numbers_;  // the last one is the decay
  std::vector<Tensor> traced_;   // the same while a function is traced
  bool decays_;
};

// variable -= learning_rate * gradient
void sgd_update(const Variable& variable, const Gradient& gradient, double learning_rate);

// velocity = momentum * velocity - learning_rate * gradient; variable += velocity, or with nesterov
// variable += momentum * velocity - learning_rate * gradient
void momentum_update(const Variable& variable, const Variable& velocity, const Gradient& gradient,
                     double learning_rate, double momentum, bool nesterov = false);

// accumulator += gradient^2; variable -= learning_rate * gradient / sqrt(accumulator + epsilon)
void adagrad_update(const Variable& variable, const Variable& accumulator, const Gradient& gradient,
                    double learning_rate, double epsilon = 1e-7);

struct AdamSettings {
  double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7, weight_decay = 0;
};
// m += (g - m)(1 - beta_1); v += (g^2 - v)(1 - beta_2); variable -= alpha m / (sqrt(v) + epsilon)
// with alpha = learning_rate * sqrt(1 - beta_2^step) / (1 - beta_1^step)
// where step counts from 1; inside a compiled function it is a tensor.
void adam_update(const Variable& variable, const Variable& m, const Variable& v,
                 const Gradient& gradient, In step, const AdamSettings& settings = {});

}  // namespace gradus
