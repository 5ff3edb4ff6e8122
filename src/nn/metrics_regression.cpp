#include "gradus/metrics_regression.h"

#include "gradus/error.h"
#include "gradus/ops.h"
#include "nn/samples.h"

namespace gradus::keras::metrics {
namespace {

Tensor as_floating(In x) { return is_floating(x->dtype()) ? x.tensor() : cast(x, float32); }
Tensor centered(const Tensor& x, const Shape& axes) { return x - reduce_mean(x, axes, true); }

}  // namespace

RootMeanSquaredError::RootMeanSquaredError(MetricOptions options)
    : Comparison(std::move(options), "root_mean_squared_error") {
  declare_mean();
}

void RootMeanSquaredError::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  const auto [a, b] = same_rank(as_dtype(y_true, dtype()), as_dtype(y_pred, dtype()));
  add_to_mean(squared_difference(b, a), sample_weight);
}

Tensor RootMeanSquaredError::result() const { return sqrt(mean()); }

Tensor pearson_correlation(In y_true, In y_pred, const Shape& axes) {
  const Tensor predicted = centered(as_floating(y_pred), axes);
  const Tensor truth = centered(as_dtype(y_true, predicted.dtype()), axes);
  return reduce_sum(nn::l2_normalize(truth, axes) * nn::l2_normalize(predicted, axes), axes);
}

Tensor concordance_correlation(In y_true, In y_pred, const Shape& axes, double epsilon) {
  const Tensor predicted = as_floating(y_pred), truth = as_dtype(y_true, predicted.dtype());
  const Tensor a = centered(truth, axes), b = centered(predicted, axes);
  const Tensor shift = square(reduce_mean(truth, axes) - reduce_mean(predicted, axes));
  const Tensor spread = reduce_mean(a * a, axes) + reduce_mean(b * b, axes);
  return 2 * reduce_mean(a * b, axes) / (spread + shift + epsilon);
}

PearsonCorrelation::PearsonCorrelation(const Shape& axes, MetricOptions options)
    : MeanMetricWrapper(
          [axes](In y_true, In y_pred) { return pearson_correlation(y_true, y_pred, axes); },
          std::move(options), "pearson_correlation") {}

ConcordanceCorrelation::ConcordanceCorrelation(const Shape& axes, MetricOptions options)
    : MeanMetricWrapper(
          [axes](In y_true, In y_pred) { return concordance_correlation(y_true, y_pred, axes); },
          std::move(options), "concordance_correlation") {}

R2Score::R2Score(R2ScoreSettings settings, MetricOptions options)
    : Comparison(std::move(options), "r2_score"), settings_(std::move(settings)) {
  const std::string& how = settings_.class_aggregation;
  if (!how.empty() && how != "uniform_average" && how != "variance_weighted_average")
    throw InvalidArgumentError(
        "Invalid value for argument `class_aggregation`. Expected one of (None, "
        "'uniform_average', 'variance_weighted_average'). Received: class_aggregation=" +
        how);
  if (settings_.num_regressors < 0)
    throw InvalidArgumentError(
        "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
        "num_regressors=" +
        std::to_string(settings_.num_regressors));
  declare("num_samples");
}

void R2Score::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  auto [truth, predicted] = same_rank(as_dtype(y_true, dtype()), as_dtype(y_pred, dtype()));
  if (predicted.rank() < 2) {
    truth = expand_dims(truth, -1);
    predicted = expand_dims(predicted, -1);
  }
  if (variables().size() == 1) {
    for (const char* name : {"squared_sum", "sum", "residual", "count"})
      declare(name, {predicted.shape().back()});
  }
  Tensor weights = sample_weight.defined() ? as_dtype(sample_weight, dtype()) : cast(1, dtype());
  if (weights.rank() == 1) weights = expand_dims(weights, 1);
  weights = broadcast_to(weights, truth.shape());
  const Tensor weighted = truth * weights;
  add_to_state(0, cast(size(truth, int64), dtype()));
  add_to_state(1, reduce_sum(truth * weighted, {0}));
  add_to_state(2, reduce_sum(weighted, {0}));
  add_to_state(3, reduce_sum(square(truth - predicted) * weights, {0}));
  add_to_state(4, reduce_sum(weights, {0}));
}

Tensor R2Score::result() const {
  const Tensor sum = state(2), total = state(1) - sum * (sum / state(4));
  const Tensor raw = 1 - state(3) / total;
  Tensor score = where(is_inf(raw), cast(0, dtype()), raw);
  if (settings_.class_aggregation == "uniform_average")
    score = reduce_mean(score);
  else if (settings_.class_aggregation == "variance_weighted_average")
    score = reduce_sum(score * total) / reduce_sum(total);
  if (settings_.num_regressors == 0) return score;
  const Tensor n = state(0);
  const double p = static_cast<double>(settings_.num_regressors);
  return 1 - (1 - score) * (n - 1) / (n - p - 1);
}

}  // namespace gradus::keras::metrics
