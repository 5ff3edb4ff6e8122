// Many cotangents of one example at once: the derivative of an elementwise op at that example is
// the same for all of them.
#pragma once
#include <span>

#include "graph/elementwise.h"

namespace gradus {

// Runs a derived op (graph/elementwise.h) on its arguments: a cotangent, then what it reads. For a
// batch of cotangents whose reads are not batched, a costly derivative (that of tanh, not that of a
// product) is evaluated once for the example.
Tensor scale_by_derivative(const ElementwiseRule::Derived& derived, std::span<const Tensor> args);

}  // namespace gradus
