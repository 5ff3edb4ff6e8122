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

struct LSTM {
  Variable kernel, recurrent_kernel, bias;
  LSTM(std::int64_t inputs, std::int64_t units);
  nn::LstmResult operator()(In x) const;  // from zero states
  std::vector<Variable> variables() const { return {kernel, recurrent_kernel, bias}; }
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
