#include "gradus/losses.h"

#include <atomic>
#include <limits>

#include "gradus/activations.h"
#include "gradus/batch_mean.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "nn/samples.h"
#include "nn/weights.h"

namespace gradus::keras {
namespace {

std::atomic<double> small_number = 1e-7;

Tensor inside(In probabilities) { return clip_by_value(probabilities, epsilon(), 1 - epsilon()); }
Tensor smoothed(const Tensor& targets, double by, std::int64_t classes) {
  if (by == 0) return targets;
  if (classes <= 0)
    throw InvalidArgumentError("[crossentropy] smoothing needs to know the number of classes");
  return targets * (1 - by) + by / static_cast<double>(classes);
}
Tensor unit(In x, const Shape& axes) {
  return x * rsqrt(maximum(reduce_sum(x * x, axes, true), 1e-12));
}
Tensor mean(const Tensor& values) { return reduce_mean(values, {-1}); }
Tensor sum(const Tensor& values, const std::optional<Shape>& axes) {
  return axes ? reduce_sum(values, *axes) : reduce_sum(values);
}

// Labels -1 and 1; 0 and 1 are converted, which Keras decides for the whole batch.
Tensor signs(const Tensor& t) {
  return where(reduce_all(logical_or(equal(t, 0), equal(t, 1))), 2 * t - 1, t);
}

Tensor binary_values(const Tensor& targets, In predictions, bool from_logits) {
  if (from_logits) return nn::sigmoid_cross_entropy_with_logits(targets, predictions);
  const Tensor p = inside(predictions);
  return -(targets * log(p) + (1 - targets) * log(1 - p));
}

Tensor probabilities_of(In predictions, bool from_logits, const Shape& axis) {
  return from_logits ? forms::softmax(predictions, {}, axis)
                     : predictions / reduce_sum(predictions, axis, true);
}

int one(const Shape& axis) {
  if (axis.rank() != 1)
    throw InvalidArgumentError("[crossentropy] got axes " + to_string(axis) +
                               "; logits are of classes along one axis");
  return static_cast<int>(axis[0]);
}

Tensor last_axis(const Tensor& x, int axis) {
  const int rank = x.rank(), at = axis < 0 ? axis + rank : axis;
  if (at == rank - 1) return x;
  Shape order;
  for (int i = 0; i < rank; ++i)
    if (i != at) order.push_back(i);
  order.push_back(at);
  return transpose(x, order);
}

}  // namespace

Tensor batch_mean(In values) {
  if (is_symbolic(values))  // traced: one program for all sizes, of which one may be 0
    return where(equal(size(values), 0), 0, reduce_mean(values));
  return values->num_elements() == 0 ? reduce_sum(values) : reduce_mean(values);
}

double epsilon() { return small_number; }
void set_epsilon(double value) { small_number = value; }

namespace per_sample {

Tensor mean_squared_error(In targets, In p) {
  return mean(squared_difference(p, as(targets, p->dtype())));
}
Tensor mean_absolute_error(In targets, In p) { return mean(abs(as(targets, p->dtype()) - p)); }
Tensor mean_absolute_percentage_error(In targets, In p) {
  const Tensor t = as(targets, p->dtype());
  return 100 * mean(abs((t - p) / maximum(abs(t), epsilon())));
}
Tensor mean_squared_logarithmic_error(In targets, In p) {
  const auto log_of = [](In x) { return log(maximum(x, epsilon()) + 1); };
  return mean(squared_difference(log_of(p), log_of(as(targets, p->dtype()))));
}
Tensor huber(In targets, In p, double delta) {
  const Tensor error = abs(p - as(targets, p->dtype()));
  return mean(where(error <= delta, 0.5 * error * error, delta * error - 0.5 * delta * delta));
}
Tensor log_cosh(In targets, In p) {
  const Tensor error = abs(p - as(targets, p->dtype()));
  return mean(error + log1p(exp(-2 * error)) - 0.6931471805599453);
}
Tensor poisson(In targets, In p) { return mean(p - as(targets, p->dtype()) * log(p + epsilon())); }
Tensor cosine_similarity(In targets, In p, const Shape& axes) {
  return -reduce_sum(unit(p, axes) * unit(as(targets, p->dtype()), axes), axes);
}
Tensor hinge(In targets, In p) { return mean(maximum(1 - signs(as(targets, p->dtype())) * p, 0)); }
Tensor squared_hinge(In targets, In p) {
  return mean(square(maximum(1 - signs(as(targets, p->dtype())) * p, 0)));
}
Tensor categorical_hinge(In targets, In p) {
  const Tensor t = as(targets, p->dtype());
  return maximum(reduce_max((1 - t) * p, {-1}) - reduce_sum(t * p, {-1}) + 1, 0);
}
Tensor kl_divergence(In targets, In p) {
  const Tensor t = clip_by_value(as(targets, p->dtype()), epsilon(), 1);
  return reduce_sum(t * log(t / clip_by_value(p, epsilon(), 1)), {-1});
}

Tensor binary_crossentropy(In targets, In p, const CrossentropyOptions& o) {
  const Tensor t = smoothed(as(targets, p->dtype()), o.label_smoothing, 2);
  return reduce_mean(binary_values(t, p, o.from_logits), o.axis);
}
Tensor categorical_crossentropy(In targets, In p, const CrossentropyOptions& o) {
  const Tensor t = smoothed(as(targets, p->dtype()), o.label_smoothing, p->shape().back());
  if (o.from_logits)
    return nn::softmax_cross_entropy_with_logits(last_axis(t, one(o.axis)),
                                                 last_axis(p, one(o.axis)));
  return -reduce_sum(t * log(inside(probabilities_of(p, false, o.axis))), o.axis);
}
Tensor sparse_categorical_crossentropy(In labels, In p, bool from_logits, int axis) {
  const Tensor logits = last_axis(from_logits ? p.tensor() : log(inside(p)), axis);
  const bool are_class_numbers = labels->dtype() == int32 || labels->dtype() == int64;
  return nn::sparse_softmax_cross_entropy_with_logits(
      are_class_numbers ? labels.tensor() : cast(labels, int64), logits);
}

Tensor binary_focal_crossentropy(In targets, In predictions, const FocalOptions& o) {
  const Tensor p = o.from_logits ? sigmoid(predictions) : predictions.tensor();
  const Tensor t = smoothed(as(targets, p.dtype()), o.label_smoothing, 2);
  const Tensor values = binary_values(t, predictions, o.from_logits);
  const Tensor right = t * p + (1 - t) * (1 - p);
  Tensor focal = pow(1 - right, o.gamma) * values;
  if (o.apply_class_balancing) focal = (t * o.alpha + (1 - t) * (1 - o.alpha)) * focal;
  return reduce_mean(focal, o.axis);
}
Tensor categorical_focal_crossentropy(In targets, In predictions, const FocalOptions& o) {
  const Tensor t =
      smoothed(as(targets, predictions->dtype()), o.label_smoothing, predictions->shape().back());
  const Tensor p = inside(probabilities_of(predictions, o.from_logits, o.axis));
  return reduce_sum(pow(1 - p, o.gamma) * o.alpha * (-t * log(p)), o.axis);
}
Tensor categorical_generalized_cross_entropy(In labels, In p, double q) {
  if (!(q > 0 && q < 1))
    throw InvalidArgumentError("[categorical_generalized_cross_entropy] got q = " +
                               std::to_string(q) + "; expected a number between 0 and 1");
  const Tensor one =
      one_hot(cast(labels, int32), p->shape().back(), cast(1.0, p->dtype()), cast(0.0, p->dtype()));
  return (1 - pow(reduce_sum(one * p, {-1}), q)) / q;
}

Tensor dice(In targets, In p, const std::optional<Shape>& axes) {
  const Tensor t = as(targets, p->dtype());
  const Tensor both = sum(t * p, axes), sizes = sum(t, axes) + sum(p, axes);
  return 1 - div_no_nan(2 * both, sizes + epsilon());
}
Tensor tversky(In targets, In p, const TverskyOptions& o) {
  const Tensor t = as(targets, p->dtype()), both = sum(t * p, o.axes);
  const Tensor false_positives = sum((1 - t) * p, o.axes);
  const Tensor false_negatives = sum(t * (1 - p), o.axes);
  return 1 - both / (both + o.alpha * false_negatives + o.beta * false_positives + epsilon());
}

Tensor circle(In labels, In embeddings, const CircleOptions& o, const Tensor& reference_labels,
              const Tensor& references) {
  const auto column = [](In x) { return reshape(cast(x, int32), {-1, 1}); };
  const Tensor own = column(labels);
  const Tensor others = reference_labels.defined() ? column(reference_labels) : own;
  const Tensor& beside = references.defined() ? references : embeddings.tensor();
  const Tensor distances =
      maximum(1 - matmul(embeddings, as(beside, embeddings->dtype()), {.transpose_b = true}), 0);
  Tensor same = equal(own, transpose(others));
  const Tensor different = logical_not(same);
  if (o.remove_diagonal) same = logical_and(same, logical_not(cast(eye(own.shape()[0]), bool_)));
  const auto log_sum = [](const Tensor& values, const Tensor& counts) {
    return reduce_logsumexp(
        where(counts, values, cast(-std::numeric_limits<double>::infinity(), values.dtype())), {1});
  };
  const Tensor near = o.gamma * maximum(o.margin + distances, 0) * (distances - o.margin);
  const Tensor far = o.gamma * maximum(1 + o.margin - distances, 0) * (1 - o.margin - distances);
  return softplus(log_sum(near, same) + log_sum(far, different));
}

}  // namespace per_sample

namespace {

// Targets [n] beside predictions [n, 1] are meant for each other, not for an [n, n] of pairs.
template <class Loss, class... Settings>
Tensor mean_of(const Loss& loss, In targets, In predictions, const Settings&... settings) {
  if (targets->rank() == 0) return batch_mean(loss(targets, predictions, settings...));
  const auto [t, p] = same_rank(targets, predictions);
  return batch_mean(loss(t, p, settings...));
}

}  // namespace

Tensor mean_squared_error(In t, In p) { return mean_of(per_sample::mean_squared_error, t, p); }
Tensor mean_absolute_error(In t, In p) { return mean_of(per_sample::mean_absolute_error, t, p); }
Tensor mean_absolute_percentage_error(In t, In p) {
  return mean_of(per_sample::mean_absolute_percentage_error, t, p);
}
Tensor mean_squared_logarithmic_error(In t, In p) {
  return mean_of(per_sample::mean_squared_logarithmic_error, t, p);
}
Tensor huber(In t, In p, double delta) { return mean_of(per_sample::huber, t, p, delta); }
Tensor log_cosh(In t, In p) { return mean_of(per_sample::log_cosh, t, p); }
Tensor poisson(In t, In p) { return mean_of(per_sample::poisson, t, p); }
Tensor cosine_similarity(In t, In p) {
  return mean_of(per_sample::cosine_similarity, t, p, Shape{-1});
}
Tensor hinge(In t, In p) { return mean_of(per_sample::hinge, t, p); }
Tensor squared_hinge(In t, In p) { return mean_of(per_sample::squared_hinge, t, p); }
Tensor categorical_hinge(In t, In p) { return mean_of(per_sample::categorical_hinge, t, p); }
Tensor kl_divergence(In t, In p) { return mean_of(per_sample::kl_divergence, t, p); }
Tensor binary_crossentropy(In t, In p, const CrossentropyOptions& options) {
  return mean_of(per_sample::binary_crossentropy, t, p, options);
}
Tensor categorical_crossentropy(In t, In p, const CrossentropyOptions& options) {
  return mean_of(per_sample::categorical_crossentropy, t, p, options);
}
Tensor sparse_categorical_crossentropy(In labels, In p, bool from_logits) {
  return batch_mean(
      per_sample::sparse_categorical_crossentropy(without_class_axis(labels, p), p, from_logits));
}
Tensor binary_focal_crossentropy(In t, In p, const FocalOptions& options) {
  return mean_of(per_sample::binary_focal_crossentropy, t, p, options);
}
Tensor categorical_focal_crossentropy(In t, In p, const FocalOptions& options) {
  return mean_of(per_sample::categorical_focal_crossentropy, t, p, options);
}
Tensor categorical_generalized_cross_entropy(In labels, In p, double q) {
  return batch_mean(per_sample::categorical_generalized_cross_entropy(labels, p, q));
}
Tensor dice(In t, In p) { return mean_of(per_sample::dice, t, p, std::nullopt); }
Tensor tversky(In t, In p, const TverskyOptions& options) {
  return mean_of(per_sample::tversky, t, p, options);
}
Tensor circle(In labels, In embeddings, const CircleOptions& options) {
  const Tensor values = per_sample::circle(labels, embeddings, options);
  const Tensor counted = cast(greater(values, 0), values.dtype());  // those that have a pair
  return reduce_sum(values) / maximum(reduce_sum(counted), 1);
}
Tensor ctc(In labels, In logits, In label_lengths, In logit_lengths, std::int64_t blank) {
  return batch_mean(per_sample::ctc(labels, logits, label_lengths, logit_lengths, blank));
}

}  // namespace gradus::keras
