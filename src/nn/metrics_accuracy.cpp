#include "gradus/metrics_accuracy.h"

#include "gradus/error.h"
#include "gradus/ops.h"
#include "nn/samples.h"

namespace gradus::keras::metrics {
namespace {

Tensor are_equal(In a, In b, DType dtype) { return cast(equal(a, b), dtype); }

Tensor are_in_top_k(const Tensor& labels, In y_pred, std::int64_t k, DType dtype) {
  const Tensor found = in_top_k(cast(reshape(labels, {-1}), int32),
                                reshape(y_pred, {-1, y_pred->shape().back()}), k);
  return reshape(cast(found, dtype), labels.shape());
}

void need_classes(In y_pred) {
  if (y_pred->rank() == 0)
    throw InvalidArgumentError(
        "[top_k_categorical_accuracy] got a scalar; predictions for classes were expected");
}

}  // namespace

Tensor accuracy(In y_true, In y_pred, DType dtype) {
  const auto [a, b] = same_rank(as_dtype(y_true, y_pred->dtype()), y_pred);
  return are_equal(a, b, dtype);
}

Tensor binary_accuracy(In y_true, In y_pred, double threshold, DType dtype) {
  const auto [labels, predictions] = same_rank(y_true, y_pred);
  const Tensor above = greater(predictions, cast(threshold, predictions.dtype()));
  return are_equal(as_dtype(labels, dtype), cast(above, dtype), dtype);
}

Tensor categorical_accuracy(In y_true, In y_pred, DType dtype) {
  return are_equal(argmax(y_true, -1), argmax(y_pred, -1), dtype);
}

Tensor sparse_categorical_accuracy(In y_true, In y_pred, DType dtype) {
  return are_equal(class_numbers(y_true, y_pred), argmax(y_pred, -1), dtype);
}

Tensor top_k_categorical_accuracy(In y_true, In y_pred, std::int64_t k, DType dtype) {
  need_classes(y_pred);
  return are_in_top_k(argmax(y_true, -1), y_pred, k, dtype);
}

Tensor sparse_top_k_categorical_accuracy(In y_true, In y_pred, std::int64_t k, bool from_sorted_ids,
                                         DType dtype) {
  need_classes(y_pred);
  const Tensor labels = class_numbers(y_true, y_pred);
  if (!from_sorted_ids) return are_in_top_k(labels, y_pred, k, dtype);
  const Tensor first = index(y_pred, {ellipsis, Slice{.end = k}});
  const Tensor wanted = expand_dims(as_dtype(labels, first.dtype()), -1);
  return cast(reduce_any(equal(first, wanted), {-1}), dtype);
}

namespace {

double checked_threshold(double threshold) {
  if (!(0 < threshold && threshold < 1))
    throw InvalidArgumentError(
        "Invalid value for argument `threshold`. Expected a value in interval (0, 1). Received: "
        "threshold=" +
        std::to_string(threshold));
  return threshold;
}

}  // namespace

Accuracy::Accuracy(MetricOptions options)
    : MeanMetricWrapper([](In y_true, In y_pred) { return accuracy(y_true, y_pred); },
                        std::move(options), "accuracy") {}

BinaryAccuracy::BinaryAccuracy(double threshold, MetricOptions options)
    : MeanMetricWrapper(
          [threshold = checked_threshold(threshold)](In y_true, In y_pred) {
            return binary_accuracy(y_true, y_pred, threshold);
          },
          std::move(options), "binary_accuracy") {}

CategoricalAccuracy::CategoricalAccuracy(MetricOptions options)
    : MeanMetricWrapper([](In y_true, In y_pred) { return categorical_accuracy(y_true, y_pred); },
                        std::move(options), "categorical_accuracy") {}

SparseCategoricalAccuracy::SparseCategoricalAccuracy(MetricOptions options)
    : MeanMetricWrapper(
          [](In y_true, In y_pred) { return sparse_categorical_accuracy(y_true, y_pred); },
          std::move(options), "sparse_categorical_accuracy") {}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(std::int64_t k, MetricOptions options)
    : MeanMetricWrapper(
          [k](In y_true, In y_pred) { return top_k_categorical_accuracy(y_true, y_pred, k); },
          std::move(options), "top_k_categorical_accuracy") {}

SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(std::int64_t k, bool from_sorted_ids,
                                                             MetricOptions options)
    : MeanMetricWrapper(
          [k, from_sorted_ids](In y_true, In y_pred) {
            return sparse_top_k_categorical_accuracy(y_true, y_pred, k, from_sorted_ids);
          },
          std::move(options), "sparse_top_k_categorical_accuracy") {}

}  // namespace gradus::keras::metrics
