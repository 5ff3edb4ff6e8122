// Arrays as text, character for character as NumPy prints them (at most 75 columns, at most 8
// digits after the point, "..." in arrays of more than 1000 elements), and tensors as TensorFlow
// does.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "gradus/dtype.h"

namespace gradus {

// A row-major array that somebody else owns.
struct ArrayView {
  const void* data;
  DType dtype;
  std::span<const std::int64_t> shape;
};

std::string shape_text(std::span<const std::int64_t> shape);  // "(2, 3)", "(2,)", "()"
std::string array_str(const ArrayView& array);                // "[1. 2.]"
std::string array_repr(const ArrayView& array);               // "array([1., 2.], dtype=float32)"

// "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
std::string tensor_str(const ArrayView& array);
// "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
std::string tensor_repr(const ArrayView& array);

}  // namespace gradus
