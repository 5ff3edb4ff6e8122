// Activations: functions by Keras's names, and the layers that are nothing else.
//
//   gd::keras::Dense hidden(64, 128, "relu");
//   gd::keras::Activation squash("tanh");
//   gd::keras::Activation own([](const gd::Tensor& x) { return x * gd::sigmoid(x); });
#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/in.h"
#include "gradus/structure.h"

namespace gradus::keras {

class Activation {
 public:
  Activation() = default;               // "linear", x itself
  Activation(const std::string& name);  // NOLINT: implicit by design, as are the next two
  Activation(const char* name) : Activation(std::string(name)) {}
  template <class F>
  requires(!std::same_as<F, Activation> &&
           std::is_invocable_r_v<Tensor, const F&, const Tensor&>)  //
      Activation(F function)
      : function_(std::make_shared<Function>(std::move(function))) {}

  Tensor operator()(const Tensor& x) const { return function_ ? (*function_)(x) : x; }
  const std::string& name() const { return name_; }  // "" if it has none
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tuple(name_, SharedPart{name_.empty() ? function_ : nullptr}); }

 private:
  using Function = std::function<Tensor(const Tensor&)>;
  std::string name_;
  std::shared_ptr<const Function> function_;  // copies share it
};

namespace forms {

// x, but negative_slope * (x - threshold) below the threshold and at most max_value.
struct ReluOptions {
  double negative_slope = 0, threshold = 0;
  std::optional<double> max_value = {};
};
Tensor relu(In x, const ReluOptions& options = {});
// x above 0, alpha * (exp(x) - 1) below.
Tensor elu(In x, double alpha = 1);
// Probabilities along axes; where the mask, if there is one, is false, 0.
Tensor softmax(In x, const Tensor& mask = {}, const Shape& axes = {-1});

}  // namespace forms

struct ReLU {
  forms::ReluOptions options;
  explicit ReLU(forms::ReluOptions options = {}) : options(options) {}
  Tensor operator()(In x) const { return forms::relu(x, options); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(options); }
};

struct LeakyReLU {
  double negative_slope;
  explicit LeakyReLU(double negative_slope = 0.3) : negative_slope(negative_slope) {}
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(negative_slope); }
};

struct ELU {
  double alpha;
  explicit ELU(double alpha = 1) : alpha(alpha) {}
  Tensor operator()(In x) const { return forms::elu(x, alpha); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(alpha); }
};

struct Softmax {
  Shape axes;
  explicit Softmax(const Shape& axes = {-1}) : axes(axes) {}
  Tensor operator()(In x, const Tensor& mask = {}) const { return forms::softmax(x, mask, axes); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(axes); }
};

}  // namespace gradus::keras
