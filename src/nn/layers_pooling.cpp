#include "gradus/layers_pooling.h"

#include "gradus/error.h"
#include "gradus/layers_convolution.h"
#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras::forms {
namespace {

Tensor pooled(const Tensor& x, Pooling how, const PoolingOptions& options) {
  const std::vector<std::int64_t>& size = options.pool_size;
  const std::vector<std::int64_t>& strides = options.strides.empty() ? size : options.strides;
  const bool is_max = how == Pooling::max;
  const char* padding = options.padding == "same" ? "SAME" : "VALID";
  if (size.size() == 1)
    return (is_max ? nn::max_pool1d : nn::avg_pool1d)(x, size[0], strides.at(0), padding);
  return (is_max ? nn::max_pool2d : nn::avg_pool2d)(x, {size, strides, padding});
}

}  // namespace

Tensor pooling(In x, Pooling how, const PoolingOptions& options) {
  if (options.pool_size.size() != 1 && options.pool_size.size() != 2)
    throw InvalidArgumentError("[pooling] got windows of " +
                               std::to_string(options.pool_size.size()) +
                               " sizes; expected one or two");
  if (options.padding != "same" && options.padding != "valid")
    throw InvalidArgumentError("[pooling] got padding '" + options.padding +
                               "'; expected 'valid' or 'same'");
  const Tensor in = options.channels_first ? to_channels_last(x) : x.tensor();
  const Tensor y = as(pooled(widened(in), how, options), x->dtype());
  return options.channels_first ? to_channels_first(y) : y;
}

Tensor global_pooling(In x, Pooling how, const GlobalPoolingOptions& options, const Tensor& mask) {
  if (x->rank() < 3)
    throw InvalidArgumentError("[global_pooling] got shape " + to_string(x->shape()) +
                               "; expected [batch, spatial..., channels]");
  const int first = options.channels_first ? 2 : 1;
  Shape axes;
  for (int i = 0; i < x->rank() - 2; ++i) axes.push_back(first + i);
  if (how == Pooling::max) return reduce_max(x, axes, options.keepdims);
  if (!mask.defined()) return reduce_mean(x, axes, options.keepdims);
  const Tensor weight = expand_dims(cast(mask, x->dtype()), first == 1 ? 2 : 1);
  return reduce_sum(x * weight, axes, options.keepdims) /
         reduce_sum(weight, axes, options.keepdims);
}

}  // namespace gradus::keras::forms
