// Learning rates that change with the number of steps: Keras's names, formulas and defaults.
//
//   gd::keras::SGD sgd;
//   sgd.set_schedule(gd::keras::schedules::CosineDecay{0.1, 1000});
//
// A schedule is a function of the number of steps before this one; in a compiled function that is a
// traced tensor. The rate is a float32 scalar.
#pragma once
#include <optional>
#include <vector>

#include "gradus/in.h"

namespace gradus::keras::schedules {

// initial_learning_rate * decay_rate ^ (step / decay_steps); with staircase, of whole quotients.
struct ExponentialDecay {
  double initial_learning_rate, decay_steps, decay_rate;
  bool staircase = false;
  Tensor operator()(In step) const;
};

// initial_learning_rate / (1 + decay_rate * step / decay_steps)
struct InverseTimeDecay {
  double initial_learning_rate, decay_steps, decay_rate;
  bool staircase = false;
  Tensor operator()(In step) const;
};

// values[0] up to and including boundaries[0], then values[1] up to boundaries[1], and so on.
struct PiecewiseConstantDecay {
  std::vector<double> boundaries, values;
  Tensor operator()(In step) const;
};

// From one rate to another along a power of the remaining time. With cycle, the time is doubled,
// tripled, ... when it is over.
struct PolynomialDecay {
  double initial_learning_rate, decay_steps, end_learning_rate = 1e-4, power = 1;
  bool cycle = false;
  Tensor operator()(In step) const;
};

// Half a wave of a cosine down to alpha times the rate, behind a linear rise if warmup_target is
// given.
struct CosineDecay {
  double initial_learning_rate, decay_steps, alpha = 0;
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;
  Tensor operator()(In step) const;
};

// Cosine decays one after another, each t_mul times longer and starting from m_mul times the rate.
struct CosineDecayRestarts {
  double initial_learning_rate, first_decay_steps, t_mul = 2, m_mul = 1, alpha = 0;
  Tensor operator()(In step) const;
};

}  // namespace gradus::keras::schedules
