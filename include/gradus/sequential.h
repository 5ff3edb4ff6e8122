// Layers one behind the other.
//
//   gd::keras::Sequential model(gd::keras::Dense(64, 128, "relu"), gd::keras::Dropout(0.5),
//                               gd::keras::Dense(128, 10));
//   const gd::Tensor logits = model(x, /*training=*/true);
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras {

// A function as a layer.
struct Lambda {
  std::function<Tensor(const Tensor&)> function;
  template <class F>
  explicit Lambda(F f) : function(std::move(f)) {}
  Tensor operator()(const Tensor& x) const { return function(x); }
  std::vector<Variable> variables() const { return {}; }
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

class Sequential {
 public:
  template <class... L>
  explicit Sequential(L... layers) {
    (add(std::move(layers)), ...);
  }
  // Any object that gives a tensor for a tensor, and its variables.
  template <class L>
  void add(L layer) {
    variables_.push_back([layer] { return layer.variables(); });
    layers_.push_back([layer = std::move(layer)](const Tensor& x, bool training) -> Tensor {
      if constexpr (std::is_invocable_v<const L&, const Tensor&, Training>)
        return layer(x, training);
      else
        return layer(x);
    });
  }

  Tensor operator()(In x, bool training = false) const {
    Tensor y = x;
    for (const auto& layer : layers_) y = layer(y, training);
    return y;
  }
  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (const auto& of : variables_)
      for (const Variable& v : of()) all.push_back(v);
    return all;
  }

 private:
  // Tells layers with a training flag from those with a mask: it becomes a bool, never a tensor.
  struct Training {
    operator bool() const;
  };
  std::vector<std::function<Tensor(const Tensor&, bool)>> layers_;
  std::vector<std::function<std::vector<Variable>()>> variables_;
};

}  // namespace gradus::keras
