// From the record of an op to its derivatives, whatever its kind. Both functions run ordinary ops,
// so they work eagerly, are recorded by whoever watches, append to graphs and are batched.
#pragma once
#include <functional>
#include <vector>

#include "graph/cotangent.h"
#include "graph/op.h"

namespace gradus {

// Collects what a rule gives to the inputs of one op.
class GradientSink {
 public:
  virtual void add(int input, Cotangent gradient) = 0;
  // A dense tensor that already holds part of this input's gradient and may be written over, or
  // null. Lets a product add to it instead of making a temporary.
  virtual const Tensor* accumulator(int input) = 0;

 protected:
  ~GradientSink() = default;
};

// Reverse mode: sends the cotangents of the outputs to the wanted inputs. At least one cotangent is
// not zero. For inputs beyond 31, bit 31 of `wanted` counts.
void pull_back(const Site& site, std::span<Cotangent> cts, std::uint32_t wanted,
               GradientSink& sink);

// Forward mode: tangents of the outputs from those of the inputs; an undefined tensor is zero.
Tensors push_forward(const Site& site, std::span<const Tensor> tangents);

// The whole of a cotangent. Rows are scattered into zeros, which is reported (autodiff/densify.h).
Tensor dense(const Cotangent& ct);

// Adds two cotangents; rows stay rows as long as both are.
Cotangent add_cotangents(Cotangent a, Cotangent b);

// The transpose of a linear map, found by tracing it.
using TensorFunction = std::function<Tensors(std::span<const Tensor>)>;
std::vector<Cotangent> transpose_of(const TensorFunction& linear_map, std::span<const Aval> in,
                                    std::span<const Cotangent> cts);

// Cotangents of the wanted primals through any function of tensors (a private tape; tape.cpp).
std::vector<Cotangent> vjp_of(const TensorFunction& f, std::span<const Tensor> primals,
                              std::uint32_t wanted, std::span<const Cotangent> cts);

// jvp of any function of tensors (a private forward accumulator; forward.cpp).
Tensors jvp_of(const TensorFunction& f, std::span<const Tensor> primals,
               std::span<const Tensor> tangents);

}  // namespace gradus
