// Losses as metrics: the means of gradus/losses.h over all samples. Predictions of cross entropies
// are probabilities unless told otherwise, as in Keras.
#pragma once
#include <optional>

#include "gradus/metric.h"

namespace gradus::keras::metrics {

class MeanSquaredError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredError(MetricOptions options = {});
};
class MeanAbsoluteError : public MeanMetricWrapper {
 public:
  explicit MeanAbsoluteError(MetricOptions options = {});
};
class MeanAbsolutePercentageError : public MeanMetricWrapper {
 public:
  explicit MeanAbsolutePercentageError(MetricOptions options = {});
};
class MeanSquaredLogarithmicError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredLogarithmicError(MetricOptions options = {});
};
class LogCoshError : public MeanMetricWrapper {
 public:
  explicit LogCoshError(MetricOptions options = {});
};
class Poisson : public MeanMetricWrapper {
 public:
  explicit Poisson(MetricOptions options = {});
};
class KLDivergence : public MeanMetricWrapper {
 public:
  explicit KLDivergence(MetricOptions options = {});
};
class Hinge : public MeanMetricWrapper {
 public:
  explicit Hinge(MetricOptions options = {});
};
class SquaredHinge : public MeanMetricWrapper {
 public:
  explicit SquaredHinge(MetricOptions options = {});
};
class CategoricalHinge : public MeanMetricWrapper {
 public:
  explicit CategoricalHinge(MetricOptions options = {});
};

// The cosine of the angle between targets and predictions: 1 is the same direction, where the loss
// of that name is -1.
Tensor cosine_similarity(In y_true, In y_pred, const Shape& axes = {-1}, DType dtype = float32);
class CosineSimilarity : public MeanMetricWrapper {
 public:
  explicit CosineSimilarity(const Shape& axes = {-1}, MetricOptions options = {});
};

class BinaryCrossentropy : public MeanMetricWrapper {
 public:
  explicit BinaryCrossentropy(bool from_logits = false, double label_smoothing = 0,
                              MetricOptions options = {});
};
class CategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit CategoricalCrossentropy(bool from_logits = false, double label_smoothing = 0,
                                   int axis = -1, MetricOptions options = {});
};
// Samples of ignore_class have the loss 0, and no weight where there are weights.
class SparseCategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalCrossentropy(bool from_logits = false,
                                         std::optional<std::int64_t> ignore_class = {},
                                         int axis = -1, MetricOptions options = {});
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;

 private:
  std::optional<std::int64_t> ignore_class_;
};

// A loss of two arguments with Keras's name for it, as what a MeanMetricWrapper takes the mean of;
// none if there is no such loss. Predictions that are integers are compared in `dtype`.
MeanMetricWrapper::Function loss_function(const std::string& name, DType dtype = float32);

}  // namespace gradus::keras::metrics
