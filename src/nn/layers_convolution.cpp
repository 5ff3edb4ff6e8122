#include "gradus/layers_convolution.h"

#include <algorithm>

#include "gradus/error.h"
#include "gradus/initializers.h"
#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras {
namespace {

constexpr const char* kNames[] = {"convolution", "convolution_transpose"};

// The options as conv2d takes them: a sequence is an image of height 1.
struct Geometry {
  int rank;  // spatial axes
  std::int64_t window[2], stride[2], dilation[2];
  bool same, causal;

  Geometry(const char* op, In x, In kernel, const ConvolutionOptions& options)
      : rank(kernel->rank() - 2),
        same(options.padding == "same"),
        causal(options.padding == "causal" && rank == 1) {
    if (rank != 1 && rank != 2)
      throw InvalidArgumentError(std::string("[") + op + "] got a kernel of shape " +
                                 to_string(kernel->shape()) + "; expected one of 3 or 4 axes");
    if (x->rank() != rank + 2)
      throw InvalidArgumentError(std::string("[") + op + "] got an input of shape " +
                                 to_string(x->shape()) + " for a kernel of shape " +
                                 to_string(kernel->shape()) + "; they need as many axes");
    if (!same && !causal && options.padding != "valid")
      throw InvalidArgumentError(std::string("[") + op + "] got padding '" + options.padding +
                                 "'; expected 'valid', 'same' or, for sequences, 'causal'");
    window[0] = stride[0] = dilation[0] = 1;
    for (int i = 0; i < rank; ++i) {
      window[i + 2 - rank] = kernel->shape()[i];
      stride[i + 2 - rank] = number(op, "strides", options.strides, i);
      dilation[i + 2 - rank] = number(op, "dilations", options.dilations, i);
    }
  }

  std::int64_t number(const char* op, const char* what, const std::vector<std::int64_t>& given,
                      int i) const {
    if (given.empty()) return 1;
    if (given.size() == 1) return given[0];
    if (static_cast<int>(given.size()) != rank)
      throw InvalidArgumentError(std::string("[") + op + "] got " + std::to_string(given.size()) +
                                 " " + what + " for " + std::to_string(rank) +
                                 " spatial axes; expected one for each, or one for all");
    return given[static_cast<std::size_t>(i)];
  }
  std::int64_t reach(int i) const { return (window[i] - 1) * dilation[i] + 1; }
  nn::ConvOptions options() const {
    nn::ConvOptions made{.strides = {stride[0], stride[1]},
                         .padding = same ? "SAME" : "VALID",
                         .dilations = {dilation[0], dilation[1]}};
    if (causal) {
      made.padding = "EXPLICIT";
      made.explicit_padding = {0, 0, reach(1) - 1, 0};
    }
    return made;
  }
};

Tensor as_image(const Tensor& x, const Geometry& g) { return g.rank == 1 ? expand_dims(x, 1) : x; }
Tensor as_filter(const Tensor& x, const Geometry& g) { return g.rank == 1 ? expand_dims(x, 0) : x; }

// Runs f(x [batch, spatial..., channels], kernel) and adds the bias. Halves are computed in
// float32.
template <class F>
Tensor around(In x, In kernel, const Tensor& bias, bool channels_first, const F& f) {
  Tensor in = as(x, kernel->dtype());
  const DType dtype = in.dtype();
  if (channels_first) in = forms::to_channels_last(in);
  const Tensor y = plus(as(f(widened(in), widened(kernel)), dtype), bias);
  return channels_first ? forms::to_channels_first(y) : y;
}

}  // namespace

namespace forms {

Tensor to_channels_last(In x) {
  Shape order = {0};
  for (int i = 2; i < x->rank(); ++i) order.push_back(i);
  order.push_back(1);
  return transpose(x, order);
}

Tensor to_channels_first(In x) {
  Shape order = {0, x->rank() - 1};
  for (int i = 1; i < x->rank() - 1; ++i) order.push_back(i);
  return transpose(x, order);
}

Tensor convolution(In x, In kernel, const Tensor& bias, const ConvolutionOptions& options) {
  const Geometry g(kNames[0], x, kernel, options);
  return around(x, kernel, bias, options.channels_first, [&](const Tensor& in, const Tensor& k) {
    const Tensor image = as_image(in, g);
    for (int i = 0; i < 2 && !g.same && !g.causal; ++i) {
      const Size size = image.shape()[i + 1];
      if (size.is_known() && size < g.reach(i))
        throw InvalidArgumentError("[convolution] got an input of shape " + to_string(x->shape()) +
                                   " for a kernel of shape " + to_string(kernel->shape()) +
                                   ", which reaches beyond it; use padding 'same'");
    }
    const Tensor y = nn::conv2d(image, as_filter(k, g), g.options());
    return g.rank == 1 ? squeeze(y, {1}) : y;
  });
}

Tensor convolution_transpose(In x, In kernel, const Tensor& bias,
                             const ConvolutionOptions& options) {
  const Geometry g(kNames[1], x, kernel, options);
  return around(x, kernel, bias, options.channels_first, [&](const Tensor& in, const Tensor& k) {
    const Tensor image = as_image(in, g), filter = as_filter(k, g);
    Shape shape = {image.shape()[0], 1, 1, filter.shape()[2]};
    for (int i = 2 - g.rank; i < 2; ++i) {
      const Size size = image.shape()[i + 1];
      const std::int64_t reach = g.reach(i), stride = g.stride[i];
      if (options.output_padding.empty())
        shape[i + 1] = size * stride + (g.same ? 0 : std::max<std::int64_t>(reach - stride, 0));
      else
        shape[i + 1] =
            (size - 1) * stride + reach - (g.same ? 2 * (reach / 2) : 0) +
            g.number(kNames[1], "output paddings", options.output_padding, i - 2 + g.rank);
    }
    const Tensor y = nn::conv2d_transpose(image, filter, shape, g.options());
    return g.rank == 1 ? squeeze(y, {1}) : y;
  });
}

}  // namespace forms

namespace detail {

Convolution::Convolution(int rank, bool transposed, std::int64_t inputs, std::int64_t filters,
                         Shape size, ConvolutionOptions o, Activation act)
    : bias(zeros_if(o.use_bias, {filters}, "bias")),
      options(std::move(o)),
      activation(std::move(act)) {
  const std::string op = "[" + std::string(kNames[transposed]) + "] got ";
  if (size.rank() == 1 && rank == 2) size.push_back(size[0]);
  if (size.rank() != rank || std::any_of(size.begin(), size.end(), [](auto n) { return n < 1; }))
    throw InvalidArgumentError(op + "a kernel of size " + to_string(size) + "; expected " +
                               std::to_string(rank) + " sizes of at least 1");
  const std::int64_t groups = options.groups;
  if (groups < 1 || inputs % groups != 0 || filters % groups != 0 || (transposed && groups > 1))
    throw InvalidArgumentError(op + std::to_string(groups) + " groups of " +
                               std::to_string(inputs) + " channels and " + std::to_string(filters) +
                               " filters; expected " + (transposed ? "1 group" : "equal groups"));
  size.push_back(transposed ? filters : inputs / options.groups);
  size.push_back(transposed ? inputs : filters);
  kernel = weight(glorot_uniform(size), "kernel");
}

std::vector<Variable> Convolution::variables() const { return defined_of({kernel, bias}); }

Tensor Convolution::run(In x, bool transposed) const {
  const auto form = transposed ? forms::convolution_transpose : forms::convolution;
  return activation(form(x, kernel, value_of(bias), options));
}

}  // namespace detail
}  // namespace gradus::keras
