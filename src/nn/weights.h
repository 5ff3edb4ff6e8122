// What the layers of this folder have in common: weights that may be missing.
#pragma once
#include "gradus/elementwise.h"
#include "gradus/makers.h"
#include "gradus/variable.h"

namespace gradus::keras {

inline Variable weight(const Tensor& first, const char* name, bool trainable = true) {
  return Variable(first, {.name = name, .trainable = trainable});
}
inline Variable zeros_if(bool wanted, const Shape& shape, const char* name) {
  return wanted ? weight(zeros(shape), name) : Variable();
}
inline Tensor value_of(const Variable& variable) {
  return variable.defined() ? variable.value() : Tensor();
}
inline std::vector<Variable> defined_of(std::initializer_list<Variable> variables) {
  std::vector<Variable> defined;
  for (const Variable& v : variables)
    if (v.defined()) defined.push_back(v);
  return defined;
}

inline Tensor as(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }
inline bool is_half(DType dtype) { return dtype == float16 || dtype == bfloat16; }
// Halves are too coarse for sums, and have no kernels for some ops: float32 in their place.
inline Tensor widened(const Tensor& x) { return is_half(x.dtype()) ? cast(x, float32) : x; }
inline Tensor plus(const Tensor& x, const Tensor& bias) { return bias.defined() ? x + bias : x; }

}  // namespace gradus::keras
