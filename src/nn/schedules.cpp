#include "gradus/schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::keras::schedules {
namespace {

double positive(const char* name, double value) {
  if (value > 0) return value;
  std::ostringstream message;
  message << "Argument `" << name << "` must be > 0. Received: " << name << "=" << value;
  throw InvalidArgumentError(message.str());
}

Tensor as_real(In step) { return step->dtype() == float32 ? step.tensor() : cast(step, float32); }

Tensor share_of(In step, double decay_steps, bool staircase) {
  const Tensor share = as_real(step) / positive("decay_steps", decay_steps);
  return staircase ? floor(share) : share;
}

Tensor cosine_from_1_to_0(const Tensor& share) { return 0.5 * (1 + cos(std::numbers::pi * share)); }

}  // namespace

Tensor ExponentialDecay::operator()(In step) const {
  return initial_learning_rate * pow(decay_rate, share_of(step, decay_steps, staircase));
}

Tensor InverseTimeDecay::operator()(In step) const {
  return initial_learning_rate / (1 + decay_rate * share_of(step, decay_steps, staircase));
}

Tensor PiecewiseConstantDecay::operator()(In step) const {
  if (values.size() != boundaries.size() + 1) {
    throw InvalidArgumentError(
        "The length of boundaries should be 1 less than the length of values. Received: " +
        std::to_string(boundaries.size()) + " boundaries and " + std::to_string(values.size()) +
        " values.");
  }
  const Tensor now = as_real(step);
  Tensor rate = cast(values[0], float32);
  for (std::size_t i = 0; i < boundaries.size(); ++i)
    rate = where(now > boundaries[i], cast(values[i + 1], float32), rate);
  return rate;
}

Tensor PolynomialDecay::operator()(In step) const {
  Tensor now = as_real(step), steps = cast(positive("decay_steps", decay_steps), float32);
  if (cycle)
    steps = steps * where(equal(now, 0), cast(1, float32), ceil(now / steps));
  else
    now = minimum(now, steps);
  const double span = initial_learning_rate - end_learning_rate;
  return span * pow(1 - now / steps, power) + end_learning_rate;
}

Tensor CosineDecay::operator()(In step) const {
  const double steps = positive("decay_steps", decay_steps);
  const auto decayed = [&](const Tensor& now, double start) {
    return start * ((1 - alpha) * cosine_from_1_to_0(now / steps) + alpha);
  };
  if (!warmup_target) return decayed(minimum(as_real(step), steps), initial_learning_rate);
  const Tensor now = minimum(as_real(step), steps + warmup_steps);
  const double rise = *warmup_target - initial_learning_rate;
  const Tensor rising = initial_learning_rate + rise * (now / std::max(warmup_steps, 1e-30));
  return where(now < warmup_steps, rising, decayed(now - warmup_steps, *warmup_target));
}

Tensor CosineDecayRestarts::operator()(In step) const {
  Tensor done = as_real(step) / positive("first_decay_steps", first_decay_steps), restarts;
  if (t_mul == 1) {
    restarts = floor(done);
    done = done - restarts;
  } else {
    restarts = floor(log(1 - done * (1 - t_mul)) / std::log(t_mul));
    const Tensor length = pow(t_mul, restarts);
    done = (done - (1 - length) / (1 - t_mul)) / length;
  }
  const Tensor share = pow(m_mul, restarts) * cosine_from_1_to_0(done);
  return initial_learning_rate * ((1 - alpha) * share + alpha);
}

}  // namespace gradus::keras::schedules
