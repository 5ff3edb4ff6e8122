// Convolutions of sequences [batch, time, channels] and images [batch, height, width, channels],
// and their transposes.
#pragma once
#include "gradus/activations.h"

namespace gradus::keras {

// One number for each spatial axis, or one for all; none: ones.
struct ConvolutionOptions {
  std::vector<std::int64_t> strides = {};
  std::string padding = "valid";  // "valid", "same" or, for sequences, "causal": no later times
  std::vector<std::int64_t> dilations = {};
  bool channels_first = false;                    // [batch, channels, spatial...]
  std::vector<std::int64_t> output_padding = {};  // of a transpose
  std::int64_t groups = 1;  // of a layer, not of a transpose; the form sees them in the kernel
  bool use_bias = true;     // of a layer
};

namespace forms {

// A kernel [spatial..., channels / groups, filters]; the bias may be undefined. A kernel beyond its
// input is refused.
Tensor convolution(In x, In kernel, const Tensor& bias, const ConvolutionOptions& options = {});
// A kernel [spatial..., filters, channels].
Tensor convolution_transpose(In x, In kernel, const Tensor& bias,
                             const ConvolutionOptions& options = {});

// [batch, channels, spatial...] as [batch, spatial..., channels], and back.
Tensor to_channels_last(In x);
Tensor to_channels_first(In x);

}  // namespace forms

namespace detail {

// What the four layers are: a kernel over `size` in each of `rank` spatial axes, or over sizes.
struct Convolution {
  Variable kernel, bias;
  ConvolutionOptions options;
  Activation activation;
  std::vector<Variable> variables() const;
  auto gradus_parts() { return std::tie(kernel, bias, options, activation); }

 protected:
  Convolution(int rank, bool transposed, std::int64_t inputs, std::int64_t filters, Shape size,
              ConvolutionOptions options, Activation activation);
  Tensor run(In x, bool transposed) const;
};

template <int kRank, bool kTransposed>
struct ConvolutionLayer : Convolution {
  ConvolutionLayer(std::int64_t inputs, std::int64_t filters, const Shape& size,
                   ConvolutionOptions options = {}, Activation activation = {})
      : Convolution(kRank, kTransposed, inputs, filters, size, std::move(options),
                    std::move(activation)) {}
  ConvolutionLayer(std::int64_t inputs, std::int64_t filters, std::int64_t size,
                   ConvolutionOptions options = {}, Activation activation = {})
      : ConvolutionLayer(inputs, filters, Shape{size}, std::move(options), std::move(activation)) {}
  Tensor operator()(In x) const { return run(x, kTransposed); }
  auto gradus_parts() { return Convolution::gradus_parts(); }
};

}  // namespace detail

using Conv1D = detail::ConvolutionLayer<1, false>;
using Conv2D = detail::ConvolutionLayer<2, false>;
using Conv1DTranspose = detail::ConvolutionLayer<1, true>;
using Conv2DTranspose = detail::ConvolutionLayer<2, true>;

}  // namespace gradus::keras
