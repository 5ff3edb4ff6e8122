// Layers that move elements and join tensors.
#pragma once
#include <tuple>
#include <vector>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras {

namespace forms {

// All axes but the first as one, channels last.
Tensor flatten(In x, bool channels_first = false);
// Each example with another shape, of which one size may be -1.
Tensor reshaped(In x, const Shape& target);

// Of inputs whose shapes broadcast; missing axes are taken to stand behind the batch.
enum class Merge { sum, product, difference, mean, maximum, minimum };
Tensor merged(const std::vector<Tensor>& inputs, Merge how);

}  // namespace forms

struct Flatten {
  Tensor operator()(In x) const { return forms::flatten(x); }
  std::vector<Variable> variables() const { return {}; }
};

struct Reshape {
  Shape target_shape;
  explicit Reshape(const Shape& target_shape) : target_shape(target_shape) {}
  Tensor operator()(In x) const { return forms::reshaped(x, target_shape); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(target_shape); }
};

struct Concatenate {
  int axis;
  explicit Concatenate(int axis = -1) : axis(axis) {}
  Tensor operator()(const std::vector<Tensor>& inputs) const;
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(axis); }
};

namespace detail {

template <forms::Merge kHow>
struct MergingLayer {
  Tensor operator()(const std::vector<Tensor>& inputs) const { return forms::merged(inputs, kHow); }
  std::vector<Variable> variables() const { return {}; }
};

}  // namespace detail

using Add = detail::MergingLayer<forms::Merge::sum>;
using Subtract = detail::MergingLayer<forms::Merge::difference>;
using Multiply = detail::MergingLayer<forms::Merge::product>;
using Average = detail::MergingLayer<forms::Merge::mean>;
using Maximum = detail::MergingLayer<forms::Merge::maximum>;
using Minimum = detail::MergingLayer<forms::Merge::minimum>;

}  // namespace gradus::keras
