#include "gradus/metrics_overlap.h"

#include <algorithm>
#include <numeric>

#include "gradus/error.h"
#include "gradus/ops.h"
#include "nn/samples.h"

namespace gradus::keras::metrics {

FBetaScore::FBetaScore(FBetaSettings settings, MetricOptions options, const char* name)
    : Comparison(std::move(options), name), settings_(std::move(settings)) {
  const std::string& average = settings_.average;
  if (!average.empty() && average != "micro" && average != "macro" && average != "weighted")
    throw InvalidArgumentError(
        "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
        "Received: average=" +
        average);
  if (!(settings_.beta > 0))
    throw InvalidArgumentError("Invalid `beta` argument value. It should be > 0. Received: beta=" +
                               std::to_string(settings_.beta));
  if (settings_.threshold && !(0 < *settings_.threshold && *settings_.threshold <= 1))
    throw InvalidArgumentError(
        "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
        "threshold=" +
        std::to_string(*settings_.threshold));
}

void FBetaScore::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  if (y_pred->rank() != 2 || y_true->rank() != 2)
    throw InvalidArgumentError(
        "FBetaScore expects 2D inputs with shape (batch_size, output_dim), with output_dim fully "
        "defined. Received input shapes: y_pred.shape=" +
        to_string(y_pred->shape()) + " and y_true.shape=" + to_string(y_true->shape()) + ".");
  const bool micro = settings_.average == "micro";
  const Shape shape = micro ? Shape{} : Shape{y_pred->shape()[1]};
  if (variables().empty()) {
    for (const char* count :
         {"true_positives", "false_positives", "false_negatives", "intermediate_weights"})
      declare(count, shape);
  }
  const Tensor truth = as_dtype(y_true, dtype()), scores = as_dtype(y_pred, dtype());
  const Tensor positive =
      settings_.threshold
          ? scores > *settings_.threshold
          : logical_and(scores >= reduce_max(scores, {-1}, true), abs(scores) > 1e-9);
  const Tensor predicted = cast(positive, dtype());
  Tensor weights = sample_weight.defined() ? as_dtype(sample_weight, dtype()) : Tensor();
  if (weights.defined() && weights.rank() == 1) weights = expand_dims(weights, 1);
  const auto total = [&](const Tensor& values) {
    const Tensor weighted = weights.defined() ? values * weights : values;
    return micro ? reduce_sum(weighted) : reduce_sum(weighted, {0});
  };
  add_to_state(0, total(predicted * truth));
  add_to_state(1, total(predicted * (1 - truth)));
  add_to_state(2, total((1 - predicted) * truth));
  add_to_state(3, total(truth));
}

Tensor FBetaScore::result() const {
  const double squared = settings_.beta * settings_.beta;
  const Tensor tp = state(0);
  const Tensor precision = div_no_nan(tp, tp + state(1)), recall = div_no_nan(tp, tp + state(2));
  const Tensor score = div_no_nan(precision * recall, squared * precision + recall) * (1 + squared);
  if (settings_.average.empty()) return score;
  if (settings_.average != "weighted") return reduce_mean(score);
  const Tensor weights = state(3);
  return reduce_sum(score * div_no_nan(weights, reduce_sum(weights)));
}

IoU::IoU(std::int64_t num_classes, std::vector<std::int64_t> target_class_ids, IoUSettings settings,
         MetricOptions options, const char* name)
    : Comparison(std::move(options), name),
      num_classes_(num_classes),
      target_class_ids_(std::move(target_class_ids)),
      settings_(settings) {
  for (const std::int64_t id : target_class_ids_) {
    if (id >= num_classes)
      throw InvalidArgumentError("Target class id " + std::to_string(id) +
                                 " is out of range, which is [0, " + std::to_string(num_classes) +
                                 ").");
  }
  declare("total_confusion_matrix", {num_classes, num_classes});
}

void IoU::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  const auto classes = [&](In y, bool is_sparse) {
    return reshape(as_dtype(is_sparse ? y.tensor() : argmax(y, settings_.axis), int64), {-1});
  };
  Tensor truth = classes(y_true, settings_.sparse_y_true);
  Tensor predicted = classes(y_pred, settings_.sparse_y_pred);
  Tensor weights = sample_weight.defined() ? as_dtype(sample_weight, dtype()) : cast(1, dtype());
  if (weights.rank() > 1) weights = reshape(weights, {-1});
  weights = broadcast_to(weights, truth.shape());
  if (settings_.ignore_class) {
    const Tensor counts = not_equal(truth, *settings_.ignore_class);
    weights = where(counts, weights, cast(0, dtype()));
    truth = where(counts, truth, cast(0, int64));
    predicted = where(counts, predicted, cast(0, int64));
  }
  add_to_state(0, scatter_nd(stack({truth, predicted}, 1), weights, {num_classes_, num_classes_}));
}

Tensor IoU::result() const {
  const Tensor counts = as_dtype(state(0), float32), diagonal = linalg::diag_part(counts);
  const Tensor sizes = reduce_sum(counts, {0}) + reduce_sum(counts, {1}) - diagonal;
  const Tensor wanted = Tensor::from(target_class_ids_);
  const Tensor both = gather(diagonal, wanted), either = gather(sizes, wanted);
  const Tensor present = reduce_sum(cast(either > 1e-9, float32));
  return div_no_nan(reduce_sum(div_no_nan(both, either)), present);
}

namespace {

std::vector<std::int64_t> all_classes(std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

MeanIoU::MeanIoU(std::int64_t num_classes, IoUSettings settings, MetricOptions options,
                 const char* name)
    : IoU(num_classes, all_classes(num_classes), settings, std::move(options), name) {}

void BinaryIoU::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  IoU::update_state(y_true, cast(y_pred >= cast(threshold_, y_pred->dtype()), int64),
                    sample_weight);
}

}  // namespace gradus::keras::metrics
