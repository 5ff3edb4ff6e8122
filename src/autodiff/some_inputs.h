// Derivatives of a function of many tensors in some of them, along some directions: what rules of
// nodes with functions inside (branches, loops, compiled functions) are made of. A tangent or
// cotangent that is zero is undefined and takes no place among the operands.
#pragma once
#include <span>
#include <vector>

#include "autodiff/rules.h"

namespace gradus {

std::vector<bool> are_defined(std::span<const Tensor> tensors);
// Values, then those of their tangents or cotangents that are there.
std::vector<Tensor> with_defined(std::span<const Tensor> values, std::span<const Tensor> moved);
// The other way: `given` at the places that are true, undefined tensors at the others.
std::vector<Tensor> take_defined(std::span<const Tensor> given, const std::vector<bool>& defined);

// The inputs from `first` on in which a rule is asked for gradients, and which can have one.
std::vector<bool> wanted_inputs(const Site& s, std::uint32_t wanted, std::size_t first = 0);

// Gradients of all inputs; zero for those that are not wanted.
std::vector<Cotangent> pull_through(const TensorFunction& f, std::span<const Tensor> in,
                                    const std::vector<bool>& wanted,
                                    std::span<const Cotangent> cts);

}  // namespace gradus
