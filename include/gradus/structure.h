// Structures of tensors: a tensor, a gradient, or vectors, arrays, maps, pairs, tuples and
// optionals of structures. Functions that transform functions (grad, vmap, ...) take and give back
// any of them; whatever is not a tensor passes through unchanged.
#pragma once
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/gradient.h"

namespace gradus {

// Calls f with every Tensor& and Gradient&, in a fixed order.
template <class S, class F>
void for_each_leaf(S& structure, F&& f) {
  if constexpr (std::is_same_v<S, Tensor> || std::is_same_v<S, Gradient>) {
    f(structure);
  } else if constexpr (requires { typename S::mapped_type; }) {
    for (auto& [key, part] : structure) for_each_leaf(part, f);
  } else if constexpr (requires { std::tuple_size<S>::value; }) {
    std::apply([&](auto&... parts) { (for_each_leaf(parts, f), ...); }, structure);
  } else if constexpr (requires { structure.has_value(); }) {
    if (structure.has_value()) for_each_leaf(*structure, f);
  } else if constexpr (!std::is_convertible_v<const S&, std::string> &&
                       requires { structure.begin() != structure.end(); }) {
    for (auto&& part : structure) for_each_leaf(part, f);
  }
}

// Calls f(Tensor&) for every tensor, undefined ones included; a gradient counts as the tensor that
// it is, or as an undefined one.
template <class S, class F>
void for_each_tensor(S& structure, F&& f) {
  for_each_leaf(structure, [&]<class Leaf>(Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, Gradient>) {
      Tensor whole = leaf.is_none() ? Tensor() : leaf.tensor();
      f(whole);
      leaf = Gradient(std::move(whole));
    } else {
      f(leaf);
    }
  });
}

template <class S>
std::vector<Tensor> tensors_of(const S& structure) {
  std::vector<Tensor> tensors;
  S copy = structure;
  for_each_tensor(copy, [&](Tensor& t) { tensors.push_back(t); });
  return tensors;
}

// The structure with its tensors replaced, in the order of tensors_of.
template <class S>
S with_tensors(S structure, const std::vector<Tensor>& tensors) {
  std::size_t next = 0;
  for_each_tensor(structure, [&](Tensor& t) { t = tensors[next++]; });
  return structure;
}

}  // namespace gradus
