// How many predictions of a batch are above thresholds, and right.
#include <algorithm>
#include <tuple>

#include "gradus/error.h"
#include "gradus/metrics_confusion.h"
#include "gradus/ops.h"
#include "nn/samples.h"
#include "nn/thresholds.h"

namespace gradus::keras::metrics {
namespace {

struct Batch {
  Tensor is_true, predictions, weights;  // flat, or [samples, labels]; is_true is 0 or 1
};

Batch prepared(In y_true, In y_pred, const Tensor& sample_weight, const ConfusionSettings& settings,
               DType dtype) {
  auto [labels, predictions] = same_rank(as_dtype(y_true, dtype), as_dtype(y_pred, dtype));
  if (settings.multi_label && predictions.rank() == 0)
    throw InvalidArgumentError("`y_pred` must have rank 2 when `multi_label=True`. Found rank 0.");
  if (settings.top_k) {
    const Tensor best = top_k(predictions, *settings.top_k).indices;  // of equal ones the first
    const Tensor chosen = reduce_sum(one_hot(best, predictions.shape().back()), {-2});
    predictions = where(chosen > 0, predictions, cast(kLowest, dtype));
  }
  if (settings.class_id) {
    labels = index(labels, {ellipsis, *settings.class_id});
    predictions = index(predictions, {ellipsis, *settings.class_id});
  }
  Tensor weights;
  if (sample_weight.defined()) {
    std::tie(predictions, weights) = same_rank(predictions, as_dtype(sample_weight, dtype));
    weights = broadcast_to(with_rank(weights, predictions.rank()), predictions.shape());
  }
  const auto flattened = [&](const Tensor& x) {
    if (settings.multi_label) return reshape(x, {-1, predictions.shape().back()});
    return x.rank() == 1 ? x : reshape(x, {-1});
  };
  return {flattened(cast(not_equal(labels, 0), dtype)), flattened(predictions),
          weights.defined() ? flattened(weights) : weights};
}

// Of each threshold, the sum of the weights of predictions above it.
class SumsAbove {
 public:
  SumsAbove(const Tensor& predictions, const ConfusionSettings& settings)
      : count_(static_cast<std::int64_t>(settings.thresholds.size())) {
    const DType dtype = predictions.dtype();
    const Tensor inside = settings.even ? clip_by_value(predictions, 0, 1) : predictions;
    if (settings.even && !settings.multi_label) {
      const Tensor bucket = ceil(inside * static_cast<double>(count_ - 1)) - 1;
      const bool lowest_counts = settings.thresholds[0] < 0;
      bucket_ = cast(lowest_counts ? maximum(bucket, 0) : bucket, int32);
    } else if (count_ == 1) {
      above_ = cast(inside > settings.thresholds[0], dtype);
    } else {
      Shape one_axis = {count_};
      while (one_axis.rank() <= predictions.rank()) one_axis.push_back(1);
      const Tensor limits = cast(Tensor::from(settings.thresholds, one_axis), dtype);
      above_ = cast(expand_dims(inside, 0) > limits, dtype);
    }
  }

  Tensor operator()(const Tensor& weights) const {
    if (bucket_.defined())  // above all thresholds up to its bucket; negative ones count nowhere
      return cumsum(unsorted_segment_sum(weights, bucket_, count_), 0, false, true);
    if (count_ == 1) return reduce_sum(above_ * weights, {0}, true);
    return reduce_sum(above_ * expand_dims(weights, 0), {1});
  }

 private:
  std::int64_t count_;
  Tensor bucket_, above_;
};

}  // namespace

std::vector<Tensor> confusion_counts(In y_true, In y_pred, const Tensor& sample_weight,
                                     const ConfusionSettings& settings,
                                     std::span<const Count> wanted, DType dtype) {
  const Batch batch = prepared(y_true, y_pred, sample_weight, settings, dtype);
  const SumsAbove sums_above(batch.predictions, settings);
  const auto is_wanted = [&](Count c) {
    return std::find(wanted.begin(), wanted.end(), c) != wanted.end();
  };
  Tensor counts[4];
  const auto count = [&](const Tensor& members, Count above, Count below) {
    const Tensor weights = batch.weights.defined() ? members * batch.weights : members;
    const Tensor sums = sums_above(weights);
    counts[static_cast<int>(above)] = sums;
    if (is_wanted(below)) counts[static_cast<int>(below)] = reduce_sum(weights, {0}) - sums;
  };
  if (is_wanted(Count::true_positives) || is_wanted(Count::false_negatives))
    count(batch.is_true, Count::true_positives, Count::false_negatives);
  if (is_wanted(Count::false_positives) || is_wanted(Count::true_negatives))
    count(1 - batch.is_true, Count::false_positives, Count::true_negatives);
  std::vector<Tensor> found;
  for (const Count c : wanted) found.push_back(counts[static_cast<int>(c)]);
  return found;
}

}  // namespace gradus::keras::metrics
