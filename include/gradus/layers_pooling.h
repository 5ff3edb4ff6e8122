// Pooling over windows of times or pixels, and over all of them.
#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras {

enum class Pooling { max, average };

struct PoolingOptions {
  std::vector<std::int64_t> pool_size = {2, 2};  // one number for each spatial axis
  std::vector<std::int64_t> strides = {};        // none: the size of the windows
  std::string padding = "valid";                 // or "same"
  bool channels_first = false;
};

struct GlobalPoolingOptions {
  bool keepdims = false, channels_first = false;
};

namespace forms {

// x [batch, spatial..., channels] with one or two spatial axes.
Tensor pooling(In x, Pooling how, const PoolingOptions& options);
// Over all spatial axes. The mask, bool [batch, time], if there is one, says which times count for
// the mean.
Tensor global_pooling(In x, Pooling how, const GlobalPoolingOptions& options = {},
                      const Tensor& mask = {});

}  // namespace forms

namespace detail {

template <int kRank, Pooling kHow>
struct PoolingLayer {
  PoolingOptions options;
  explicit PoolingLayer(PoolingOptions given = {}) : options(std::move(given)) {
    options.pool_size.resize(kRank, options.pool_size.empty() ? 2 : options.pool_size[0]);
  }
  Tensor operator()(In x) const { return forms::pooling(x, kHow, options); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(options); }
};

template <Pooling kHow>
struct GlobalPoolingLayer {
  GlobalPoolingOptions options;
  explicit GlobalPoolingLayer(GlobalPoolingOptions options = {}) : options(options) {}
  Tensor operator()(In x, const Tensor& mask = {}) const {
    return forms::global_pooling(x, kHow, options, mask);
  }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(options); }
};

}  // namespace detail

using MaxPooling1D = detail::PoolingLayer<1, Pooling::max>;
using MaxPooling2D = detail::PoolingLayer<2, Pooling::max>;
using AveragePooling1D = detail::PoolingLayer<1, Pooling::average>;
using AveragePooling2D = detail::PoolingLayer<2, Pooling::average>;
using GlobalMaxPooling1D = detail::GlobalPoolingLayer<Pooling::max>;
using GlobalMaxPooling2D = detail::GlobalPoolingLayer<Pooling::max>;
using GlobalAveragePooling1D = detail::GlobalPoolingLayer<Pooling::average>;
using GlobalAveragePooling2D = detail::GlobalPoolingLayer<Pooling::average>;

}  // namespace gradus::keras
