// Layers, with losses (gradus/losses.h) and optimizers (gradus/optimizers.h): enough of Keras to
// train from C++. They are built on the public headers alone; a layer is a small struct that owns
// its variables.
//
//   gd::keras::Dense hidden(64, 128, "relu"), out(128, 10);
//   gd::keras::Adam adam;
//   gd::GradientTape tape;
//   auto loss = gd::keras::sparse_categorical_crossentropy(y, out(hidden(x)));
//   adam.minimize(tape, loss, gd::keras::variables(hidden, out));
#pragma once
#include <string>
#include <vector>

#include "gradus/losses.h"
#include "gradus/nn.h"
#include "gradus/optimizers.h"
#include "gradus/variable.h"

namespace gradus::keras {

// Glorot's uniform distribution for a kernel of this shape.
Tensor glorot_uniform(const Shape& shape, DType dtype = float32);

// The activation of that name: "relu", "tanh", "sigmoid", "softmax", "gelu", ..., "" or "linear".
Tensor activate(const std::string& name, In x);

struct Dense {
  Variable kernel, bias;
  std::string activation;
  Dense(std::int64_t inputs, std::int64_t units, std::string activation = "");
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {kernel, bias}; }
};

struct Conv2D {
  Variable kernel, bias;
  std::string activation;
  nn::ConvOptions options;
  Conv2D(std::int64_t inputs, std::int64_t filters, std::int64_t size, nn::ConvOptions options = {},
         std::string activation = "");
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {kernel, bias}; }
};

// Of sequences [batch, time, channels]; "causal" padding sees no later times.
struct Conv1D {
  Variable kernel, bias;
  std::int64_t stride;
  std::string padding, activation;
  Conv1D(std::int64_t inputs, std::int64_t filters, std::int64_t size, std::int64_t stride = 1,
         std::string padding = "VALID", std::string activation = "");
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {kernel, bias}; }
};

// Over all axes but the last. In training the statistics are those of x, and the moving ones
// follow: moving * momentum + statistic * (1 - momentum); otherwise the moving ones are used.
struct BatchNormalization {
  Variable gamma, beta, moving_mean, moving_variance;
  double momentum, epsilon;
  explicit BatchNormalization(std::int64_t channels, double momentum = 0.99, double epsilon = 1e-3);
  Tensor operator()(In x, bool training);
  std::vector<Variable> variables() const { return {gamma, beta}; }  // what is trained
};

struct Embedding {
  Variable embeddings;
  Embedding(std::int64_t rows, std::int64_t width);
  Tensor operator()(In indices) const;  // the gradient is rows
  std::vector<Variable> variables() const { return {embeddings}; }
};

// Each example with mean 0 and variance 1 over the last axis.
struct LayerNormalization {
  Variable gamma, beta;
  double epsilon;
  explicit LayerNormalization(std::int64_t width, double epsilon = 1e-3);
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {gamma, beta}; }
};

// Zero with probability `rate` in training, else x / (1 - rate).
struct Dropout {
  double rate;
  explicit Dropout(double rate) : rate(rate) {}
  Tensor operator()(In x, bool training) const;
  std::vector<Variable> variables() const { return {}; }
};

// Recurrent layers over [batch, time, features], from zero states. Where a mask, bool [batch,
// time], is false, a step passes its states on.
struct LSTM {
  Variable kernel, recurrent_kernel, bias;
  LSTM(std::int64_t inputs, std::int64_t units);
  nn::LstmResult operator()(In x, const Tensor& mask = {}) const;
  std::vector<Variable> variables() const { return {kernel, recurrent_kernel, bias}; }
};
struct GRU {
  Variable kernel, recurrent_kernel, bias;
  GRU(std::int64_t inputs, std::int64_t units);
  nn::GruResult operator()(In x, const Tensor& mask = {}) const;
  std::vector<Variable> variables() const { return {kernel, recurrent_kernel, bias}; }
};

// Attention of queries [batch, length, width] to values [batch, other length, width] in several
// heads. A mask, bool and broadcastable to [batch, heads, length, other length], says what may be
// seen.
struct MultiHeadAttention {
  Dense query, key, value, output;
  std::int64_t heads, key_dim;
  MultiHeadAttention(std::int64_t width, std::int64_t heads, std::int64_t key_dim);
  Tensor operator()(In queries, In values, const Tensor& mask = {}) const;
  std::vector<Variable> variables() const;
};

// The variables of several layers, in order.
template <class... L>
std::vector<Variable> variables(const L&... layers) {
  std::vector<Variable> all;
  (
      [&] {
        for (const Variable& v : layers.variables()) all.push_back(v);
      }(),
      ...);
  return all;
}

}  // namespace gradus::keras
