#include "gradus/optimizers_composed.h"

#include <algorithm>
#include <cmath>

#include "gradus/ops.h"

namespace gradus::keras {
namespace {

Tensor as(In x, DType dtype) { return x->dtype() == dtype ? x.tensor() : cast(x, dtype); }
Tensor root_mean_square(const Tensor& x) { return sqrt(reduce_mean(x * x)); }

// Rate, step, gradient and variable in the dtype of the state.
struct Scope {
  Scope(const Variable& variable, const Variable& state, In given, const StepNow& now)
      : dtype(state.dtype()),
        rate(as(now.learning_rate, dtype)),
        step(as(now.step, dtype)),
        gradient(as(given, dtype)),
        value(as(variable, dtype)) {}
  DType dtype;
  Tensor rate, step, gradient, value;
};

void assign(const Variable& variable, const Tensor& value) {
  variable.assign(as(value, variable.dtype()));
}

// Averages of the gradient and of its square that follow, as Adam's.
void follow(const Variable& m, const Variable& v, const Tensor& g, double beta_1, double beta_2) {
  m.assign_add((g - m) * (1 - beta_1));
  v.assign_add((g * g - v) * (1 - beta_2));
}
// How much of an average of `step` values is not its start.
Tensor known_share(double beta, const Tensor& step) { return 1 - pow(beta, step); }

}  // namespace

void lamb_update(const Variable& variable, const Variable& m, const Variable& v, In gradient,
                 const StepNow& now, const LambSettings& s) {
  const Scope at(variable, m, gradient, now);
  follow(m, v, at.gradient, s.beta_1, s.beta_2);
  const Tensor root = sqrt(v / known_share(s.beta_2, at.step));
  const Tensor change = m / known_share(s.beta_1, at.step) / (root + s.epsilon);
  const Tensor length = reduce_euclidean_norm(at.value);
  const Tensor change_length = reduce_euclidean_norm(change);
  const Tensor ratio =
      where(logical_and(length > 0, change_length > 0), length / change_length, cast(1, at.dtype));
  assign(variable, at.value - ratio * at.rate * change);
}

void adafactor_update(const Variable& variable, const Variable& rows, const Variable& columns,
                      const Variable& velocity, In gradient, const StepNow& now,
                      const AdafactorSettings& s) {
  const Scope at(variable, velocity, gradient, now);
  Tensor rate = s.relative_step ? minimum(at.rate, rsqrt(at.step)) : at.rate;
  rate = maximum(root_mean_square(at.value), s.epsilon_2) * rate;
  const Tensor squares = at.gradient * at.gradient + s.epsilon_1;
  const Tensor keep = 1 - pow(at.step, s.beta_2_decay);
  const auto following = [&](const Variable& mean, const Tensor& of_batch) {
    mean.assign(keep * mean + (1 - keep) * of_batch);
  };
  if (variable.shape().rank() >= 2) {
    following(rows, reduce_mean(squares, {-1}));
    following(columns, reduce_mean(squares, {-2}));
    const Tensor of_rows = rows / reduce_mean(rows, {-1}, true);
    velocity.assign(expand_dims(of_rows, -1) * expand_dims(columns, -2));
  } else {
    following(velocity, squares);
  }
  const Tensor change = at.gradient * rsqrt(velocity);
  const Tensor clipped = change / maximum(root_mean_square(change) / s.clip_threshold, 1);
  assign(variable, at.value - rate * clipped);
}

namespace {

Tensor orthogonal(const Tensor& given, const MuonSettings& s) {
  const bool wide = given.shape()[0] <= given.shape()[1];
  Tensor x = wide ? given : transpose(given);
  x = x / (reduce_euclidean_norm(x) + s.epsilon);
  for (int i = 0; i < s.ns_steps; ++i) {
    const Tensor products = matmul(x, x, {.transpose_b = true});
    x = s.muon_a * x + matmul(s.muon_b * products + s.muon_c * matmul(products, products), x);
  }
  return wide ? x : transpose(x);
}

}  // namespace

void muon_update(const Variable& variable, const Variable& momentum, In gradient,
                 const StepNow& now, const MuonSettings& s) {
  const Scope at(variable, momentum, gradient, now);
  momentum.assign(momentum * s.momentum + at.gradient);
  const auto longest = static_cast<double>(std::max(variable.shape()[0], variable.shape()[1]));
  const double scale = s.rms_rate ? *s.rms_rate * std::sqrt(longest) : 1;
  const Tensor direction = s.nesterov ? at.gradient + s.momentum * momentum : momentum.value();
  assign(variable, at.value - at.rate * (scale * orthogonal(direction, s)));
}

void muon_adam_update(const Variable& variable, const Variable& m, const Variable& v, In gradient,
                      const StepNow& now, const MuonSettings& s) {
  const Scope at(variable, m, gradient, now);
  follow(m, v, at.gradient, s.adam_beta_1, s.adam_beta_2);
  const Tensor unbiased =
      sqrt(known_share(s.adam_beta_2, at.step)) / known_share(s.adam_beta_1, at.step);
  const Tensor change = unbiased * m / (sqrt(v) + s.epsilon);
  assign(variable, at.value - at.rate * s.adam_lr_ratio * change);
}

void ComposedOptimizer::update(const Variable& variable, const Gradient& gradient) {
  const StepNow now{rate_now(), changes() + 1};
  const double decay = decay_of(variable);
  if (decay != 0 && decays(variable)) {
    const Tensor rate = as(now.learning_rate, variable.dtype());
    variable.assign(variable - variable * decay * rate);
  }
  change(variable, gradient.tensor(), now);
}

void Lamb::change(const Variable& variable, const Tensor& gradient, const StepNow& now) {
  lamb_update(variable, slot(variable, "momentum"), slot(variable, "velocity"), gradient, now,
              settings_);
}

void Adafactor::change(const Variable& variable, const Tensor& gradient, const StepNow& now) {
  const Shape& shape = variable.shape();
  Shape rows = {}, columns = {};  // scalars that nobody reads, if there is nothing to factor
  if (shape.rank() >= 2) {
    rows = columns = shape;
    rows.erase(shape.rank() - 1);
    columns.erase(shape.rank() - 2);
  }
  adafactor_update(variable, slot(variable, "rows", rows), slot(variable, "columns", columns),
                   slot(variable, "velocity"), gradient, now, settings_);
}

bool Muon::is_adam(const Variable& variable) const {
  return variable.shape().rank() != 2 || (adam_ && adam_(variable));
}

double Muon::decay_of(const Variable& variable) const {
  return is_adam(variable) ? settings_.adam_weight_decay : options_.weight_decay;
}

void Muon::change(const Variable& variable, const Tensor& gradient, const StepNow& now) {
  const Variable& momentum = slot(variable, "momentum");
  if (is_adam(variable))
    muon_adam_update(variable, momentum, slot(variable, "velocity"), gradient, now, settings_);
  else
    muon_update(variable, momentum, gradient, now, settings_);
}

}  // namespace gradus::keras
