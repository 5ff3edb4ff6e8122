// Layers, losses and optimizers: enough of Keras to train from C++. They are built on the public
// headers alone; a layer is a small struct that owns its variables.
//
//   gd::keras::Dense hidden(64, 128, "relu"), out(128, 10);
//   gd::keras::Adam adam;
//   gd::GradientTape tape;
//   auto loss = gd::keras::sparse_categorical_crossentropy(y, out(hidden(x)));
//   adam.minimize(tape, loss, gd::keras::variables(hidden, out));
#pragma once
#include <map>
#include <string>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/nn.h"
#include "gradus/updates.h"
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

// Means over the batch.
Tensor sparse_categorical_crossentropy(In labels, In logits);
Tensor mean_squared_error(In targets, In predictions);

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One gradient per variable; variables whose gradient is none are left alone.
  void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);
  void minimize(GradientTape& tape, const Tensor& loss, const std::vector<Variable>& variables);
  std::int64_t iterations() const { return iterations_.value().item<std::int64_t>(); }

 protected:
  virtual void update(const Variable& variable, const Gradient& gradient) = 0;
  // Zeros (or another number) that belong to a variable, made when first asked for.
  const Variable& slot(const Variable& variable, const std::string& name, double initial = 0);
  Variable iterations_{Tensor(std::int64_t{0}), {.name = "iterations", .trainable = false}};

 private:
  std::map<std::pair<VariableState*, std::string>, Variable> slots_;
};

class SGD : public Optimizer {
 public:
  explicit SGD(double learning_rate = 0.01, double momentum = 0, bool nesterov = false)
      : learning_rate_(learning_rate), momentum_(momentum), nesterov_(nesterov) {}

 protected:
  void update(const Variable& variable, const Gradient& gradient) override;

 private:
  double learning_rate_, momentum_;
  bool nesterov_;
};

class Adagrad : public Optimizer {
 public:
  explicit Adagrad(double learning_rate = 0.001, double initial_accumulator_value = 0.1)
      : learning_rate_(learning_rate), initial_(initial_accumulator_value) {}

 protected:
  void update(const Variable& variable, const Gradient& gradient) override;

 private:
  double learning_rate_, initial_;
};

class Adam : public Optimizer {
 public:
  explicit Adam(AdamSettings settings = {}) : settings_(settings) {}

 protected:
  void update(const Variable& variable, const Gradient& gradient) override;

 private:
  AdamSettings settings_;
};

}  // namespace gradus::keras
