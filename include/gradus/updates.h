// The inner loops of optimizers: one fused sweep over a variable, its gradient and its state, in
// place. Formulas and defaults are Keras 3's. Row gradients touch only their rows where that is the
// same update (sgd, adagrad); repeated rows count once with their sum.
#pragma once
#include "gradus/gradient.h"
#include "gradus/variable.h"

namespace gradus {

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
