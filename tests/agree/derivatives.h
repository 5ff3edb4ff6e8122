// What is computed of a program: its value, and derivatives of a number made of all its results.
#pragma once
#include "agree/call.h"

namespace agree {

// Everything that a call needs, so that a compiled function gets all of it as arguments.
struct Point {
  Tensors inputs;
  Tensors weights;     // of the results that have gradients: the loss is their weighted sum
  Tensors directions;  // one per source
};
Point point_of(const Program& p, std::int64_t batch, std::uint32_t variant);

Tensors value(const Program& p, const Point& at);
Tensors gradient(const Program& p, const Point& at);
// The Hessian of the loss times the directions, in two ways.
Tensors hessian_product(const Program& p, const Point& at);   // forward over reverse
Tensors hessian_product2(const Program& p, const Point& at);  // reverse over reverse
Tensor loss_along(const Program& p, const Point& at);         // forward mode: a scalar

// <g, v>, in float64.
double dot(const Tensors& g, const Tensors& v);

}  // namespace agree
