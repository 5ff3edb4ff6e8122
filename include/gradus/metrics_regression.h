// Measures of regressions that are not means of losses (gradus/metrics_losses.h has those).
#pragma once
#include "gradus/metric.h"

namespace gradus::keras::metrics {

class RootMeanSquaredError : public Comparison {
 public:
  explicit RootMeanSquaredError(MetricOptions options = {});
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;
};

// Along axes; the concordance is less where means or variances differ.
Tensor pearson_correlation(In y_true, In y_pred, const Shape& axes = {-1});
Tensor concordance_correlation(In y_true, In y_pred, const Shape& axes = {-1},
                               double epsilon = 1e-7);

class PearsonCorrelation : public MeanMetricWrapper {
 public:
  explicit PearsonCorrelation(const Shape& axes = {-1}, MetricOptions options = {});
};
class ConcordanceCorrelation : public MeanMetricWrapper {
 public:
  explicit ConcordanceCorrelation(const Shape& axes = {-1}, MetricOptions options = {});
};

// The share of the variance that a regression explains, adjusted for the number of regressors if
// there is one. `class_aggregation`: "" (each output apart), "uniform_average" or
// "variance_weighted_average".
struct R2ScoreSettings {
  std::string class_aggregation = "uniform_average";
  std::int64_t num_regressors = 0;
};
class R2Score : public Comparison {
 public:
  explicit R2Score(R2ScoreSettings settings = {}, MetricOptions options = {});
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  R2ScoreSettings settings_;
};

}  // namespace gradus::keras::metrics
