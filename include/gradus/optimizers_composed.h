// Optimizers that need more than one sweep: norms of whole variables, factors of their squares, or
// products of matrices. As the others, with Keras 3's names, formulas, defaults and options.
//
// What one of them does to one variable is a function of the variable, its state, a dense gradient
// and the rate, in the dtype of the state; Python's optimizers of the same names call it too.
#pragma once
#include <functional>

#include "gradus/optimizers.h"

namespace gradus::keras {

// Of one step: the rate, and the number of the step, which counts from 1.
struct StepNow {
  Tensor learning_rate, step;
};

struct LambSettings {
  double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
// Adam's change, made as long as the variable.
void lamb_update(const Variable& variable, const Variable& m, const Variable& v, In gradient,
                 const StepNow& now, const LambSettings& settings);

struct AdafactorSettings {
  double learning_rate = 1e-3, beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3;
  double clip_threshold = 1;
  bool relative_step = true;  // rates are at most 1 / sqrt(step)
};
// Of squared gradients, means of rows and columns are kept where there are two axes or more.
void adafactor_update(const Variable& variable, const Variable& rows, const Variable& columns,
                      const Variable& velocity, In gradient, const StepNow& now,
                      const AdafactorSettings& settings);

struct MuonSettings {
  double learning_rate = 1e-3;
  double adam_beta_1 = 0.9, adam_beta_2 = 0.999, adam_weight_decay = 0.004, epsilon = 1e-7;
  double muon_a = 3.4445, muon_b = -4.775, muon_c = 2.0315;
  double adam_lr_ratio = 1, momentum = 0.95;
  int ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;  // of a change; without one, it is orthogonal as it is
};
// The momentum of a matrix, made nearly orthogonal by some rounds of Newton and Schulz.
void muon_update(const Variable& variable, const Variable& momentum, In gradient,
                 const StepNow& now, const MuonSettings& settings);
// What Muon does to the other variables.
void muon_adam_update(const Variable& variable, const Variable& m, const Variable& v, In gradient,
                      const StepNow& now, const MuonSettings& settings);

// The base of these: weight decay first, then change() with a dense gradient.
class ComposedOptimizer : public Optimizer {
 protected:
  using Optimizer::Optimizer;
  void update(const Variable& variable, const Gradient& gradient) override;
  virtual void change(const Variable& variable, const Tensor& gradient, const StepNow& now) = 0;
  virtual double decay_of(const Variable&) const { return options_.weight_decay; }
};

class Lamb : public ComposedOptimizer {
 public:
  explicit Lamb(LambSettings settings = {}, OptimizerOptions options = {})
      : ComposedOptimizer(settings.learning_rate, options), settings_(settings) {}

 protected:
  void change(const Variable& variable, const Tensor& gradient, const StepNow& now) override;

 private:
  LambSettings settings_;
};

class Adafactor : public ComposedOptimizer {
 public:
  explicit Adafactor(AdafactorSettings settings = {}, OptimizerOptions options = {})
      : ComposedOptimizer(settings.learning_rate, options), settings_(settings) {}

 protected:
  void change(const Variable& variable, const Tensor& gradient, const StepNow& now) override;

 private:
  AdafactorSettings settings_;
};

// Matrices are changed by muon_update(), except those that `adam` is true of (embeddings, say).
class Muon : public ComposedOptimizer {
 public:
  using Choice = std::function<bool(const Variable&)>;
  explicit Muon(MuonSettings settings = {}, OptimizerOptions options = {.weight_decay = 0.004},
                Choice adam = {})
      : ComposedOptimizer(settings.learning_rate, options),
        settings_(settings),
        adam_(std::move(adam)) {}

 protected:
  void change(const Variable& variable, const Tensor& gradient, const StepNow& now) override;
  double decay_of(const Variable& variable) const override;

 private:
  bool is_adam(const Variable& variable) const;
  MuonSettings settings_;
  Choice adam_;
};

}  // namespace gradus::keras
