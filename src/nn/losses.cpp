#include "gradus/losses.h"

#include "gradus/ops.h"

namespace gradus::keras {
namespace {

constexpr double kEpsilon = 1e-7;

Tensor as_predictions(In targets, In predictions) {
  return targets->dtype() == predictions->dtype() ? targets.tensor()
                                                  : cast(targets, predictions->dtype());
}
Tensor inside(In probabilities) { return clip_by_value(probabilities, kEpsilon, 1 - kEpsilon); }
Tensor smoothed(const Tensor& targets, double by, double classes) {
  return by == 0 ? targets : targets * (1 - by) + by / classes;
}
Tensor unit(const Tensor& x) { return x * rsqrt(maximum(reduce_sum(x * x, {-1}, true), 1e-12)); }

}  // namespace

Tensor mean_squared_error(In targets, In predictions) {
  return reduce_mean(squared_difference(predictions, as_predictions(targets, predictions)));
}
Tensor mean_absolute_error(In targets, In predictions) {
  return reduce_mean(abs(predictions - as_predictions(targets, predictions)));
}
Tensor mean_absolute_percentage_error(In targets, In predictions) {
  const Tensor t = as_predictions(targets, predictions);
  return 100 * reduce_mean(abs((t - predictions) / maximum(abs(t), kEpsilon)));
}
Tensor mean_squared_logarithmic_error(In targets, In predictions) {
  const auto log_of = [](In x) { return log(maximum(x, kEpsilon) + 1); };
  return reduce_mean(
      squared_difference(log_of(predictions), log_of(as_predictions(targets, predictions))));
}
Tensor huber(In targets, In predictions, double delta) {
  const Tensor error = abs(predictions - as_predictions(targets, predictions));
  return reduce_mean(
      where(error <= delta, 0.5 * error * error, delta * error - 0.5 * delta * delta));
}
Tensor log_cosh(In targets, In predictions) {
  const Tensor error = abs(predictions - as_predictions(targets, predictions));
  return reduce_mean(error + log1p(exp(-2 * error)) - 0.6931471805599453);
}
Tensor poisson(In targets, In predictions) {
  return reduce_mean(predictions -
                     as_predictions(targets, predictions) * log(predictions + kEpsilon));
}
Tensor cosine_similarity(In targets, In predictions) {
  return -reduce_mean(
      reduce_sum(unit(as_predictions(targets, predictions)) * unit(predictions), {-1}));
}
Tensor hinge(In targets, In predictions) {
  return reduce_mean(maximum(1 - as_predictions(targets, predictions) * predictions, 0));
}
Tensor squared_hinge(In targets, In predictions) {
  return reduce_mean(square(maximum(1 - as_predictions(targets, predictions) * predictions, 0)));
}
Tensor categorical_hinge(In targets, In predictions) {
  const Tensor t = as_predictions(targets, predictions);
  return reduce_mean(
      maximum(reduce_max((1 - t) * predictions, {-1}) - reduce_sum(t * predictions, {-1}) + 1, 0));
}
Tensor kl_divergence(In targets, In predictions) {
  const Tensor t = clip_by_value(as_predictions(targets, predictions), kEpsilon, 1);
  return reduce_mean(reduce_sum(t * log(t / clip_by_value(predictions, kEpsilon, 1)), {-1}));
}

Tensor binary_crossentropy(In targets, In predictions, CrossentropyOptions options) {
  const Tensor t = smoothed(as_predictions(targets, predictions), options.label_smoothing, 2);
  if (options.from_logits)
    return reduce_mean(nn::sigmoid_cross_entropy_with_logits(t, predictions));
  const Tensor p = inside(predictions);
  return -reduce_mean(t * log(p) + (1 - t) * log(1 - p));
}
Tensor categorical_crossentropy(In targets, In predictions, CrossentropyOptions options) {
  const Tensor t = smoothed(as_predictions(targets, predictions), options.label_smoothing,
                            static_cast<double>(predictions->shape().back()));
  if (options.from_logits)
    return reduce_mean(nn::softmax_cross_entropy_with_logits(t, predictions));
  const Tensor p = inside(predictions / reduce_sum(predictions, {-1}, true));
  return -reduce_mean(reduce_sum(t * log(p), {-1}));
}
Tensor sparse_categorical_crossentropy(In labels, In predictions, bool from_logits) {
  const Tensor logits = from_logits ? predictions.tensor() : log(inside(predictions));
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
}

}  // namespace gradus::keras
