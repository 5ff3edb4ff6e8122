#include "gradus/layers.h"

#include <cmath>

#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::keras {

Tensor glorot_uniform(const Shape& shape, DType dtype) {
  std::int64_t field = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) field *= shape[i];
  const double fan_in = static_cast<double>(field * shape[shape.rank() - 2]);
  const double fan_out = static_cast<double>(field * shape.back());
  const double limit = std::sqrt(6 / (fan_in + fan_out));
  return random::uniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype});
}

Tensor activate(const std::string& name, In x) {
  if (name.empty() || name == "linear") return x;
  if (name == "relu") return nn::relu(x);
  if (name == "tanh") return tanh(x);
  if (name == "sigmoid") return sigmoid(x);
  if (name == "softmax") return nn::softmax(x);
  if (name == "gelu") return nn::gelu(x);
  if (name == "elu") return nn::elu(x);
  if (name == "silu" || name == "swish") return nn::silu(x);
  if (name == "softplus") return softplus(x);
  throw InvalidArgumentError(
      "[activate] unknown activation '" + name +
      "'; known are linear, relu, tanh, sigmoid, softmax, gelu, elu, silu and "
      "softplus");
}

Dense::Dense(std::int64_t inputs, std::int64_t units, std::string act)
    : kernel(glorot_uniform({inputs, units}), {.name = "kernel"}),
      bias(zeros({units}), {.name = "bias"}),
      activation(std::move(act)) {}

Tensor Dense::operator()(In x) const { return activate(activation, matmul(x, kernel) + bias); }

Conv2D::Conv2D(std::int64_t inputs, std::int64_t filters, std::int64_t size, nn::ConvOptions o,
               std::string act)
    : kernel(glorot_uniform({size, size, inputs, filters}), {.name = "kernel"}),
      bias(zeros({filters}), {.name = "bias"}),
      activation(std::move(act)),
      options(std::move(o)) {}

Tensor Conv2D::operator()(In x) const {
  return activate(activation, nn::conv2d(x, kernel, options) + bias);
}

BatchNormalization::BatchNormalization(std::int64_t channels, double momentum, double epsilon)
    : gamma(ones({channels})),
      beta(zeros({channels})),
      moving_mean(zeros({channels})),
      moving_variance(ones({channels})),
      momentum(momentum),
      epsilon(epsilon) {}

Tensor BatchNormalization::operator()(In x, bool training) {
  if (!training)
    return nn::batch_normalization(x, moving_mean, moving_variance, beta, gamma, epsilon);
  const nn::BatchNormResult result = nn::fused_batch_norm(x, gamma, beta, epsilon);
  const auto follow = [this](Variable& moving, const Tensor& statistic) {
    moving.assign(moving * momentum + stop_gradient(statistic) * (1 - momentum));
  };
  follow(moving_mean, result.mean);
  follow(moving_variance, result.variance);
  return result.y;
}

Embedding::Embedding(std::int64_t rows, std::int64_t width)
    : embeddings(random::uniform({rows, width}, {.minval = -0.05, .maxval = 0.05}),
                 {.name = "embeddings"}) {}

Tensor Embedding::operator()(In indices) const { return gather(embeddings, indices); }

LSTM::LSTM(std::int64_t inputs, std::int64_t units)
    : kernel(glorot_uniform({inputs, 4 * units}), {.name = "kernel"}),
      recurrent_kernel(glorot_uniform({units, 4 * units}), {.name = "recurrent_kernel"}),
      // The forget gate starts open, as in Keras.
      bias(concat({zeros({units}), ones({units}), zeros({2 * units})}, 0), {.name = "bias"}) {}

nn::LstmResult LSTM::operator()(In x) const {
  const Tensor state = zeros({x->shape()[0], recurrent_kernel.shape()[0]}, x->dtype());
  return nn::lstm(x, kernel, recurrent_kernel, bias, state, state);
}

}  // namespace gradus::keras
