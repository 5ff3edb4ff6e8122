// Layers one behind the other.
//
//   gd::keras::Sequential model(gd::keras::Dense(64, 128, "relu"), gd::keras::Dropout(0.5),
//                               gd::keras::Dense(128, 10));
//   const gd::Tensor logits = model(x, /*training=*/true);
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gradus/in.h"
#include "gradus/structure.h"

namespace gradus::keras {

// A function as a layer.
struct Lambda {
  std::shared_ptr<const std::function<Tensor(const Tensor&)>> function;  // copies share it
  template <class F>
  explicit Lambda(F f)
      : function(std::make_shared<std::function<Tensor(const Tensor&)>>(std::move(f))) {}
  Tensor operator()(const Tensor& x) const { return (*function)(x); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tuple(SharedPart{function}); }
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
    auto made = std::make_shared<Layer>();
    made->variables = [layer] { return layer.variables(); };
    made->run = [layer = std::move(layer)](const Tensor& x, bool training) -> Tensor {
      if constexpr (std::is_invocable_v<const L&, const Tensor&, Training>)
        return layer(x, training);
      else
        return layer(x);
    };
    layers_.push_back(std::move(made));
  }

  Tensor operator()(In x, bool training = false) const {
    Tensor y = x;
    for (const auto& layer : layers_) y = layer->run(y, training);
    return y;
  }
  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (const auto& layer : layers_)
      for (const Variable& v : layer->variables()) all.push_back(v);
    return all;
  }
  auto gradus_parts() {
    return std::tuple(std::vector<SharedPart>(layers_.begin(), layers_.end()));
  }

 private:
  // Tells layers with a training flag from those with a mask: it becomes a bool, never a tensor.
  struct Training {
    operator bool() const;
  };
  struct Layer {
    std::function<Tensor(const Tensor&, bool)> run;
    std::function<std::vector<Variable>()> variables;
  };
  std::vector<std::shared_ptr<const Layer>> layers_;  // copies of the model share them
};

}  // namespace gradus::keras
