#include "gradus/metrics_losses.h"

#include "gradus/losses.h"
#include "gradus/ops.h"
#include "nn/samples.h"

namespace gradus::keras::metrics {
namespace {

using Function = MeanMetricWrapper::Function;
using Loss = Tensor (*)(In targets, In predictions);

// Targets with the dtype and rank of predictions, which are not integers.
template <class F>
auto of_like_tensors(F loss, DType dtype = float32) {
  return [loss, dtype](const Tensor& y_true, const Tensor& y_pred) {
    const Tensor floating = is_floating(y_pred.dtype()) ? y_pred : cast(y_pred, dtype);
    const auto [targets, predictions] = same_rank(as_dtype(y_true, floating.dtype()), floating);
    return loss(targets, predictions);
  };
}

constexpr std::pair<const char*, Loss> kLosses[] = {
    {"mean_squared_error", per_sample::mean_squared_error},
    {"mean_absolute_error", per_sample::mean_absolute_error},
    {"mean_absolute_percentage_error", per_sample::mean_absolute_percentage_error},
    {"mean_squared_logarithmic_error", per_sample::mean_squared_logarithmic_error},
    {"log_cosh", per_sample::log_cosh},
    {"poisson", per_sample::poisson},
    {"kl_divergence", per_sample::kl_divergence},
    {"hinge", per_sample::hinge},
    {"squared_hinge", per_sample::squared_hinge},
    {"categorical_hinge", per_sample::categorical_hinge},
};

Tensor of_classes(In y_true, In y_pred, bool from_logits, std::optional<std::int64_t> ignore_class,
                  int axis) {
  const Tensor labels = class_numbers(y_true, y_pred);
  const auto loss = [&](const Tensor& of) {
    return per_sample::sparse_categorical_crossentropy(of, y_pred, from_logits, axis);
  };
  if (!ignore_class) return loss(labels);
  const Tensor counts = not_equal(labels, *ignore_class);
  const Tensor values = loss(where(counts, labels, cast(0, int64)));
  return where(counts, values, cast(0, values.dtype()));
}

}  // namespace

Function loss_function(const std::string& name, DType dtype) {
  for (const auto& [known, loss] : kLosses)
    if (name == known) return of_like_tensors(loss, dtype);
  return {};
}

MeanSquaredError::MeanSquaredError(MetricOptions options)
    : MeanMetricWrapper(loss_function("mean_squared_error"), std::move(options),
                        "mean_squared_error") {}
MeanAbsoluteError::MeanAbsoluteError(MetricOptions options)
    : MeanMetricWrapper(loss_function("mean_absolute_error"), std::move(options),
                        "mean_absolute_error") {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(MetricOptions options)
    : MeanMetricWrapper(loss_function("mean_absolute_percentage_error"), std::move(options),
                        "mean_absolute_percentage_error") {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(MetricOptions options)
    : MeanMetricWrapper(loss_function("mean_squared_logarithmic_error"), std::move(options),
                        "mean_squared_logarithmic_error") {}
LogCoshError::LogCoshError(MetricOptions options)
    : MeanMetricWrapper(loss_function("log_cosh"), std::move(options), "logcosh") {}
Poisson::Poisson(MetricOptions options)
    : MeanMetricWrapper(loss_function("poisson"), std::move(options), "poisson") {}
KLDivergence::KLDivergence(MetricOptions options)
    : MeanMetricWrapper(loss_function("kl_divergence"), std::move(options), "kl_divergence") {}
Hinge::Hinge(MetricOptions options)
    : MeanMetricWrapper(loss_function("hinge"), std::move(options), "hinge") {}
SquaredHinge::SquaredHinge(MetricOptions options)
    : MeanMetricWrapper(loss_function("squared_hinge"), std::move(options), "squared_hinge") {}
CategoricalHinge::CategoricalHinge(MetricOptions options)
    : MeanMetricWrapper(loss_function("categorical_hinge"), std::move(options),
                        "categorical_hinge") {}

Tensor cosine_similarity(In y_true, In y_pred, const Shape& axes, DType dtype) {
  return of_like_tensors([&](In a, In b) { return -per_sample::cosine_similarity(a, b, axes); },
                         dtype)(y_true, y_pred);
}

CosineSimilarity::CosineSimilarity(const Shape& axes, MetricOptions options)
    : MeanMetricWrapper(
          [axes](In y_true, In y_pred) { return cosine_similarity(y_true, y_pred, axes); },
          std::move(options), "cosine_similarity") {}

BinaryCrossentropy::BinaryCrossentropy(bool from_logits, double label_smoothing,
                                       MetricOptions options)
    : MeanMetricWrapper(of_like_tensors([from_logits, label_smoothing](In targets, In predictions) {
                          return per_sample::binary_crossentropy(
                              targets, predictions,
                              {.from_logits = from_logits, .label_smoothing = label_smoothing});
                        }),
                        std::move(options), "binary_crossentropy") {}

CategoricalCrossentropy::CategoricalCrossentropy(bool from_logits, double label_smoothing, int axis,
                                                 MetricOptions options)
    : MeanMetricWrapper(
          of_like_tensors([from_logits, label_smoothing, axis](In targets, In predictions) {
            return per_sample::categorical_crossentropy(
                targets, predictions,
                {.from_logits = from_logits, .label_smoothing = label_smoothing, .axis = {axis}});
          }),
          std::move(options), "categorical_crossentropy") {}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    bool from_logits, std::optional<std::int64_t> ignore_class, int axis, MetricOptions options)
    : MeanMetricWrapper(
          [=](In y_true, In y_pred) {
            return of_classes(y_true, y_pred, from_logits, ignore_class, axis);
          },
          std::move(options), "sparse_categorical_crossentropy"),
      ignore_class_(ignore_class) {}

void SparseCategoricalCrossentropy::update_state(In y_true, In y_pred,
                                                 const Tensor& sample_weight) {
  if (!ignore_class_ || !sample_weight.defined())
    return MeanMetricWrapper::update_state(y_true, y_pred, sample_weight);
  const Tensor counts = not_equal(class_numbers(y_true, y_pred), *ignore_class_);
  const auto [weights, ones] = same_rank(as_dtype(sample_weight, dtype()), cast(counts, dtype()));
  MeanMetricWrapper::update_state(y_true, y_pred, with_rank(weights, ones.rank()) * ones);
}

}  // namespace gradus::keras::metrics
