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

Conv1D::Conv1D(std::int64_t inputs, std::int64_t filters, std::int64_t size, std::int64_t step,
               std::string pad, std::string act)
    : kernel(glorot_uniform({size, inputs, filters}), {.name = "kernel"}),
      bias(zeros({filters}), {.name = "bias"}),
      stride(step),
      padding(std::move(pad)),
      activation(std::move(act)) {}

Tensor Conv1D::operator()(In x) const {
  const bool causal = padding == "causal";
  const Tensor in = causal ? pad(x, {{0, 0}, {kernel.shape()[0] - 1, 0}, {0, 0}}) : x.tensor();
  return activate(activation, nn::conv1d(in, kernel, stride, causal ? "VALID" : padding) + bias);
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

LayerNormalization::LayerNormalization(std::int64_t width, double eps)
    : gamma(ones({width}), {.name = "gamma"}),
      beta(zeros({width}), {.name = "beta"}),
      epsilon(eps) {}

Tensor LayerNormalization::operator()(In x) const {
  return nn::layer_normalization(x, gamma, beta, epsilon);
}

Tensor Dropout::operator()(In x, bool training) const {
  return training && rate > 0 ? nn::dropout(x, rate) : x.tensor();
}

namespace {

// Orthonormal rows, as Keras starts the state's share of the gates.
Tensor orthogonal(std::int64_t rows, std::int64_t cols) {
  const auto [q, r] = linalg::qr(random::normal({cols, rows}));
  return transpose(q * sign(linalg::diag_part(r)), {1, 0});
}

Tensor zero_state(const Tensor& x, const Variable& recurrent_kernel) {
  return zeros({x.shape()[0], recurrent_kernel.shape()[0]}, x.dtype());
}

}  // namespace

LSTM::LSTM(std::int64_t inputs, std::int64_t units)
    : kernel(glorot_uniform({inputs, 4 * units}), {.name = "kernel"}),
      recurrent_kernel(orthogonal(units, 4 * units), {.name = "recurrent_kernel"}),
      // The forget gate starts open, as in Keras.
      bias(concat({zeros({units}), ones({units}), zeros({2 * units})}, 0), {.name = "bias"}) {}

nn::LstmResult LSTM::operator()(In x, const Tensor& mask) const {
  const Tensor state = zero_state(x, recurrent_kernel);
  return nn::lstm(x, kernel, recurrent_kernel, bias, state, state, mask);
}

GRU::GRU(std::int64_t inputs, std::int64_t units)
    : kernel(glorot_uniform({inputs, 3 * units}), {.name = "kernel"}),
      recurrent_kernel(orthogonal(units, 3 * units), {.name = "recurrent_kernel"}),
      bias(zeros({2, 3 * units}), {.name = "bias"}) {}

nn::GruResult GRU::operator()(In x, const Tensor& mask) const {
  return nn::gru(x, kernel, recurrent_kernel, bias, zero_state(x, recurrent_kernel), mask);
}

MultiHeadAttention::MultiHeadAttention(std::int64_t width, std::int64_t h, std::int64_t dim)
    : query(width, h * dim),
      key(width, h * dim),
      value(width, h * dim),
      output(h * dim, width),
      heads(h),
      key_dim(dim) {}

Tensor MultiHeadAttention::operator()(In queries, In values, const Tensor& mask) const {
  const auto by_head = [this](const Tensor& t) {  // [b, t, h d] -> [b, h, t, d]
    return transpose(reshape(t, {t.shape()[0], t.shape()[1], heads, key_dim}), {0, 2, 1, 3});
  };
  const double scale = 1 / std::sqrt(static_cast<double>(key_dim));
  Tensor scores =
      matmul(by_head(query(queries) * scale), by_head(key(values)), {.transpose_b = true});
  if (mask.defined()) scores = where(mask, scores, -1e9);
  const Tensor seen = matmul(nn::softmax(scores), by_head(value(values)));
  const Shape& s = queries->shape();
  return output(reshape(transpose(seen, {0, 2, 1, 3}), {s[0], s[1], heads * key_dim}));
}

std::vector<Variable> MultiHeadAttention::variables() const {
  return keras::variables(query, key, value, output);
}

}  // namespace gradus::keras
