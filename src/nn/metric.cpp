#include "gradus/metric.h"

#include "gradus/error.h"
#include "gradus/ops.h"
#include "nn/samples.h"

namespace gradus::keras::metrics {

Metric::Metric(MetricOptions options, const char* name)
    : name_(options.name.empty() ? name : std::move(options.name)),
      dtype_(options.dtype),
      variables_(std::move(options.variables)) {}

void Metric::declare(const char* name, const Shape& shape) {
  if (declared_++ < variables_.size()) return;
  variables_.emplace_back(zeros(shape, dtype_),
                          VariableOptions{.name = name_ + "/" + name, .trainable = false});
}

void Metric::reset_state() const {
  for (const Variable& v : variables_) v.assign(zeros(v.shape(), v.dtype()));
}

const Variable& Metric::variable(std::size_t i) const {
  if (i >= variables_.size())
    throw FailedPreconditionError("[" + name_ + "] has no state yet; the first update makes it");
  return variables_[i];
}

Tensor Metric::state(std::size_t i) const { return variable(i).value(); }

void Metric::add_to_state(std::size_t i, In delta) const {
  const Variable& v = variable(i);
  if (!(v.shape() == delta->shape())) {
    throw InvalidArgumentError("Cannot update variable with shape " + to_string(v.shape()) +
                               " using a Tensor with shape " + to_string(delta->shape()) +
                               ", shapes must be equal.");
  }
  v.assign_add(delta);
}

void Metric::declare_mean() {
  declare("total");
  declare("count");
}

void Metric::add_to_mean(In given, const Tensor& sample_weight) const {
  const auto [values, weights] = samplewise(given, sample_weight, dtype_, reduce_mean);
  const auto sum = [](const Tensor& x) { return x.rank() == 0 ? x : reduce_sum(x); };
  add_to_state(0, sum(values));
  if (weights.defined())
    add_to_state(1, values.rank() == 0 ? reshape(weights, {}) : sum(weights));
  else if (!values.shape().is_known())
    add_to_state(1, cast(dynamic_size(values.shape()[0]), dtype_));
  else
    add_to_state(1, values.num_elements());
}

Tensor Metric::mean() const {
  if (is_floating(dtype_)) return div_no_nan(state(0), state(1));
  return div_no_nan(cast(state(0), float32), cast(state(1), float32));
}

Sum::Sum(MetricOptions options) : Metric(std::move(options), "sum") { declare("total"); }

void Sum::update_state(In values, const Tensor& sample_weight) const {
  add_to_state(0, reduce_sum(samplewise(values, sample_weight, dtype(), reduce_sum).values));
}

Mean::Mean(MetricOptions options) : Metric(std::move(options), "mean") { declare_mean(); }

MeanMetricWrapper::MeanMetricWrapper(Function fn, MetricOptions options, const char* name)
    : Comparison(std::move(options), name), function_(std::move(fn)) {
  if (!function_)
    throw InvalidArgumentError("[" + this->name() + "] got no function to take the mean of");
  declare_mean();
}

void MeanMetricWrapper::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  add_to_mean(function_(y_true, y_pred), sample_weight);
}

}  // namespace gradus::keras::metrics
