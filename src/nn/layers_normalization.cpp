#include "gradus/layers_normalization.h"

#include <algorithm>

#include "gradus/error.h"
#include "gradus/losses.h"
#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras {
namespace {

constexpr double kLeastDeviation = 1e-7;

// A weight in the dtype of x, or a number where there is none.
Tensor like(const Tensor& x, const Tensor& weight, double otherwise) {
  return weight.defined() ? as(weight, x.dtype()) : cast(otherwise, x.dtype());
}
Tensor filled_like(const Tensor& x, const Tensor& weight, const Shape& shape, double otherwise) {
  return weight.defined() ? as(weight, x.dtype()) : fill(shape, cast(otherwise, x.dtype()));
}

int from_front(const char* op, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw InvalidArgumentError(std::string("[") + op + "] got axis " + std::to_string(axis) +
                               " for a tensor of " + std::to_string(rank) + " axes");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape last_order(int rank, int at) {
  Shape order;
  for (int i = 0; i < rank; ++i)
    if (i != at) order.push_back(i);
  order.push_back(at);
  return order;
}

// Runs f on x with the axis at the end.
template <class F>
Tensor with_last(const Tensor& x, int axis, const F& f) {
  const int rank = x.rank(), at = from_front("batch_normalization", axis, rank);
  if (at == rank - 1) return f(x);
  const Shape order = last_order(rank, at);
  Shape back;
  for (int i = 0; i < rank; ++i) back.push_back(i < at ? i : i == at ? rank - 1 : i - 1);
  return transpose(f(transpose(x, order)), back);
}

void follow(const Variable& moving, const Tensor& statistic, double momentum) {
  moving.assign(moving * momentum + as(stop_gradient(statistic), moving.dtype()) * (1 - momentum));
}

// 1 where the mask, which says nothing of the last axis, is true; the size of x, its axis at the
// end.
Tensor weight_of(const Tensor& x, const Tensor& mask, int axis) {
  if (mask.rank() != x.rank() - 1)
    throw InvalidArgumentError("[batch_normalization] got a mask of shape " +
                               to_string(mask.shape()) + " for inputs of shape " +
                               to_string(x.shape()) + "; expected one dimension less");
  const Tensor weight = expand_dims(cast(mask, x.dtype()), -1) * ones_like(x);
  const int rank = x.rank(), at = from_front("batch_normalization", axis, rank);
  return at == rank - 1 ? weight : transpose(weight, last_order(rank, at));
}

// Mean and variance over all axes but the last, of what the weight says.
std::pair<Tensor, Tensor> masked_moments(const Tensor& x, const Tensor& weight) {
  Shape axes;
  for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(i);
  const Tensor total = reduce_sum(weight, axes) + epsilon();
  const Tensor mean = reduce_sum(weight * x, axes) / total;
  return {mean, reduce_sum(weight * square(x - mean), axes) / total};
}

// gamma or beta, its axes in the order of x, with axes of size 1 for the others.
Tensor spread(const Tensor& weight, const Tensor& x, const std::vector<int>& axes) {
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  Shape order, shape;
  for (const int axis : sorted)
    order.push_back(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  for (int i = 0; i < x.rank(); ++i)
    shape.push_back(std::binary_search(sorted.begin(), sorted.end(), i) ? x.shape()[i] : Size(1));
  return reshape(transpose(as(weight, x.dtype()), order), shape);
}

}  // namespace

namespace forms {

Tensor batch_normalization_in_training(In given, const Tensor& gamma, const Tensor& beta,
                                       const Variable& moving_mean, const Variable& moving_variance,
                                       const BatchNormalizationOptions& options,
                                       const Tensor& mask) {
  const Tensor whole = widened(given);
  const Tensor weight = mask.defined() ? weight_of(whole, mask, options.axis) : Tensor();
  return with_last(whole, options.axis, [&](const Tensor& x) {
    const Shape size = {x.shape().back()};
    nn::BatchNormResult result;
    if (mask.defined()) {
      std::tie(result.mean, result.variance) = masked_moments(x, weight);
      result.y = nn::batch_normalization(x, result.mean, result.variance, like(x, beta, 0),
                                         like(x, gamma, 1), options.epsilon);
    } else {
      result = nn::fused_batch_norm(x, filled_like(x, gamma, size, 1),
                                    filled_like(x, beta, size, 0), options.epsilon);
    }
    follow(moving_mean, result.mean, options.momentum);
    follow(moving_variance, result.variance, options.momentum);
    return result.y;
  });
}

Tensor batch_normalization(In given, const Tensor& gamma, const Tensor& beta, In moving_mean,
                           In moving_variance, const BatchNormalizationOptions& options) {
  return with_last(widened(given), options.axis, [&](const Tensor& x) {
    return nn::batch_normalization(x, as(moving_mean, x.dtype()), as(moving_variance, x.dtype()),
                                   like(x, beta, 0), like(x, gamma, 1), options.epsilon);
  });
}

Tensor layer_normalization(In given, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  const Tensor x = widened(given);
  std::vector<int> axes;
  for (const std::int64_t axis : options.axes)
    axes.push_back(from_front("layer_normalization", axis, x.rank()));
  bool trailing = !options.rms;  // the last axes, in order
  for (std::size_t i = 0; i < axes.size(); ++i)
    trailing &= axes[i] == x.rank() - static_cast<int>(axes.size() - i);
  if (trailing) {
    std::int64_t size = 1;
    for (const int axis : axes) size *= x.shape()[axis];
    const Tensor scale = filled_like(x, gamma, {size}, 1), offset = filled_like(x, beta, {size}, 0);
    if (axes.size() == 1) return nn::layer_normalization(x, scale, offset, options.epsilon);
    const Tensor y = nn::layer_normalization(reshape(x, {-1, size}), reshape(scale, {size}),
                                             reshape(offset, {size}), options.epsilon);
    return reshape(y, x.shape());
  }
  const Shape over(std::vector<std::int64_t>(axes.begin(), axes.end()));
  const Tensor centred = options.rms ? x : x - reduce_mean(x, over, true);
  Tensor y = centred * rsqrt(reduce_variance(x, over, true) + options.epsilon);
  if (gamma.defined()) y = y * spread(gamma, x, axes);
  return beta.defined() ? y + spread(beta, x, axes) : y;
}

Tensor normalization(In x, In mean, In variance, bool invert) {
  const Tensor deviation = maximum(sqrt(variance), kLeastDeviation), in = as(x, mean->dtype());
  return invert ? mean + in * deviation : (in - mean) / deviation;
}

Tensor rescaling(In x, In scale, In offset) {
  const Tensor in = is_floating(x->dtype()) ? x.tensor() : cast(x, float32);
  return in * as(scale, in.dtype()) + as(offset, in.dtype());
}

}  // namespace forms

BatchNormalization::BatchNormalization(std::int64_t channels, BatchNormalizationOptions options)
    : gamma(weight(ones({channels}), "gamma")),
      beta(weight(zeros({channels}), "beta")),
      moving_mean(weight(zeros({channels}), "moving_mean", false)),
      moving_variance(weight(ones({channels}), "moving_variance", false)),
      options(options) {}

Tensor BatchNormalization::operator()(In x, bool training) const {
  const Tensor y =
      training ? forms::batch_normalization_in_training(x, gamma, beta, moving_mean,
                                                        moving_variance, options)
               : forms::batch_normalization(x, gamma, beta, moving_mean, moving_variance, options);
  return as(y, x->dtype());
}

LayerNormalization::LayerNormalization(std::int64_t width, double epsilon)
    : gamma(weight(ones({width}), "gamma")),
      beta(weight(zeros({width}), "beta")),
      epsilon(epsilon) {}

Tensor LayerNormalization::operator()(In x) const {
  return as(forms::layer_normalization(x, gamma, beta, {.epsilon = epsilon}), x->dtype());
}

Normalization Normalization::adapted_to(In data, int axis) {
  Shape others;
  for (int i = 0; i < data->rank(); ++i)
    if (i != from_front("Normalization", axis, data->rank())) others.push_back(i);
  const auto [mean, variance] = moments(cast(data, float64), others, true);
  const DType dtype = is_floating(data->dtype()) ? data->dtype() : float32;
  return {cast(mean, dtype), cast(variance, dtype)};
}

}  // namespace gradus::keras
