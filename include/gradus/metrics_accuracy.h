// How often predictions are right. The functions give 1 or 0 for each sample, the classes the mean.
#pragma once
#include "gradus/metric.h"

namespace gradus::keras::metrics {

Tensor accuracy(In y_true, In y_pred, DType dtype = float32);  // where both are equal
// On the right side of the threshold, for labels 0 and 1.
Tensor binary_accuracy(In y_true, In y_pred, double threshold = 0.5, DType dtype = float32);
// The highest prediction is that of the one-hot label, or of the class number.
Tensor categorical_accuracy(In y_true, In y_pred, DType dtype = float32);
Tensor sparse_categorical_accuracy(In y_true, In y_pred, DType dtype = float32);
// The label is among the k highest predictions; or, with from_sorted_ids, among the first k of
// predictions that are class numbers.
Tensor top_k_categorical_accuracy(In y_true, In y_pred, std::int64_t k = 5, DType dtype = float32);
Tensor sparse_top_k_categorical_accuracy(In y_true, In y_pred, std::int64_t k = 5,
                                         bool from_sorted_ids = false, DType dtype = float32);

class Accuracy : public MeanMetricWrapper {
 public:
  explicit Accuracy(MetricOptions options = {});
};
class BinaryAccuracy : public MeanMetricWrapper {
 public:
  explicit BinaryAccuracy(double threshold = 0.5, MetricOptions options = {});
};
class CategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit CategoricalAccuracy(MetricOptions options = {});
};
class SparseCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalAccuracy(MetricOptions options = {});
};
class TopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit TopKCategoricalAccuracy(std::int64_t k = 5, MetricOptions options = {});
};
class SparseTopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseTopKCategoricalAccuracy(std::int64_t k = 5, bool from_sorted_ids = false,
                                         MetricOptions options = {});
};

}  // namespace gradus::keras::metrics
