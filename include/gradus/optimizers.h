// Optimizers with Keras 3's names, formulas, defaults and options.
//
//   gd::keras::RMSprop rmsprop({.learning_rate = 0.01, .momentum = 0.9}, {.clipnorm = 1});
//   rmsprop.minimize(tape, loss, gd::keras::variables(hidden, out));
//   rmsprop.learning_rate().assign(0.001f);   // also for compiled functions that use it
//
// One step is one fused sweep over each variable (gradus/updates.h), eagerly and in compiled
// functions; gradients of rows stay rows where that is the same update (SGD, Adagrad). Rates that
// change by themselves: gradus/schedules.h.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/updates.h"
#include "gradus/variable.h"

namespace gradus::keras {

// What all optimizers take besides their own settings; zero means not.
struct OptimizerOptions {
  double weight_decay = 0;
  double clipnorm = 0, clipvalue = 0, global_clipnorm = 0;  // one of them at most
  // Averages that follow the variables, and replace them every so many steps, or at the end of
  // training by finalize_variable_values().
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::int64_t ema_overwrite_frequency = 0;
  // Losses are multiplied by it, and gradients divided: for gradients that float16 cannot hold.
  double loss_scale_factor = 0;
  // Variables change every so many steps, by the mean of the gradients.
  std::int64_t gradient_accumulation_steps = 0;
};

// An optimizer of one's own overrides update().
class Optimizer {
 public:
  explicit Optimizer(double learning_rate = 0.001, OptimizerOptions options = {});
  virtual ~Optimizer() = default;

  // One gradient per variable; variables whose gradient is none are left alone.
  void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);
  // The gradients of the loss, which is scaled if that was asked for, and a step.
  void minimize(GradientTape& tape, const Tensor& loss, const std::vector<Variable>& variables);
  Tensor scale_loss(const Tensor& loss) const;
  // With use_ema, the variables become their averages.
  void finalize_variable_values(const std::vector<Variable>& variables);

  std::int64_t iterations() const { return changes().item<std::int64_t>(); }  // of the variables
  const Variable& learning_rate() const { return learning_rate_; }
  // The learning rate as a function of the number of steps before this one, a float32 scalar.
  using Schedule = std::function<Tensor(const Tensor& step)>;
  void set_schedule(Schedule schedule) { schedule_ = std::move(schedule); }
  // Variables that weight decay leaves alone.
  void exclude_from_weight_decay(const std::vector<Variable>& variables);

 protected:
  virtual void begin_step() {}
  virtual void end_step() {}
  virtual void update(const Variable& variable, const Gradient& gradient) = 0;

  Tensor rate_now() const;  // of the step that is going on
  Tensor changes() const;   // how often the variables were changed before, an int64 scalar
  bool decays(const Variable& variable) const;
  // Zeros (or another number) that belong to a variable, made when first asked for; float32 for
  // variables of half precision.
  const Variable& slot(const Variable& variable, const std::string& name, double initial = 0);
  const Variable& slot(const Variable& variable, const std::string& name, const Shape& shape,
                       double initial = 0);  // of another shape

  OptimizerOptions options_;
  Variable iterations_{Tensor(std::int64_t{0}), {.name = "iteration", .trainable = false}};

 private:
  using Gradients = std::vector<Gradient>;
  Gradients clipped(const Gradients& gradients) const;
  void change(const Gradients& gradients, const std::vector<Variable>& variables);
  void accumulate(const Gradients& gradients, const std::vector<Variable>& variables);
  void follow(const Gradients& gradients, const std::vector<Variable>& variables);

  struct Kept {
    Variable of, slot;  // `of` stays alive, so that no other variable can have its address
  };
  std::map<std::pair<VariableState*, std::string>, Kept> slots_;
  std::vector<Variable> without_decay_;
  Variable learning_rate_;
  Schedule schedule_;
};

// An optimizer that is a rule of gradus/updates.h.
class RuleOptimizer : public Optimizer {
 public:
  struct Slot {
    std::string name;
    double initial = 0;
  };
  RuleOptimizer(UpdateRule rule, std::vector<double> settings, std::vector<Slot> slots,
                double learning_rate, OptimizerOptions options)
      : Optimizer(learning_rate, options),
        rule_(rule),
        settings_(std::move(settings)),
        state_(std::move(slots)) {}

 protected:
  void begin_step() override;
  void end_step() override { step_.reset(); }
  void update(const Variable& variable, const Gradient& gradient) override;

 private:
  UpdateRule rule_;
  std::vector<double> settings_;
  std::vector<Slot> state_;
  std::optional<Update> step_;
  Variable product_;  // nadam's
};

class SGD : public RuleOptimizer {
 public:
  explicit SGD(double learning_rate = 0.01, double momentum = 0, bool nesterov = false,
               OptimizerOptions options = {});
};

class Adagrad : public RuleOptimizer {
 public:
  explicit Adagrad(double learning_rate = 0.001, double initial_accumulator_value = 0.1,
                   double epsilon = 1e-7, OptimizerOptions options = {});
};

class Adam : public RuleOptimizer {  // AdamSettings: gradus/updates.h
 public:
  explicit Adam(AdamSettings settings = {}, OptimizerOptions options = {}, bool amsgrad = false);
};

struct AdamWSettings {
  double learning_rate = 1e-3, weight_decay = 4e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
class AdamW : public Adam {
 public:
  explicit AdamW(AdamWSettings settings = {}, OptimizerOptions options = {}, bool amsgrad = false);
};

class Adamax : public RuleOptimizer {
 public:
  explicit Adamax(AdamSettings settings = {}, OptimizerOptions options = {});
};

class Nadam : public RuleOptimizer {
 public:
  explicit Nadam(AdamSettings settings = {}, OptimizerOptions options = {});
};

struct RMSpropSettings {
  double learning_rate = 1e-3, rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
};
class RMSprop : public RuleOptimizer {
 public:
  explicit RMSprop(RMSpropSettings settings = {}, OptimizerOptions options = {});
};

class Adadelta : public RuleOptimizer {
 public:
  explicit Adadelta(double learning_rate = 0.001, double rho = 0.95, double epsilon = 1e-7,
                    OptimizerOptions options = {});
};

class Lion : public RuleOptimizer {
 public:
  explicit Lion(double learning_rate = 0.001, double beta_1 = 0.9, double beta_2 = 0.99,
                OptimizerOptions options = {});
};

struct FtrlSettings {
  double learning_rate = 1e-3, learning_rate_power = -0.5, initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0, l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0, beta = 0;
};
class Ftrl : public RuleOptimizer {
 public:
  explicit Ftrl(FtrlSettings settings = {}, OptimizerOptions options = {});
};

}  // namespace gradus::keras
