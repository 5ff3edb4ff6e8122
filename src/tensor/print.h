// Tensors as text beyond to_string() and repr() of gradus/tensor.h: character for character as
// NumPy prints arrays (at most 75 columns, at most 8 digits after the point, "..." in arrays of
// more than 1000 elements) and as TensorFlow prints tensors.
#pragma once
#include <string>

#include "gradus/tensor.h"

namespace gradus {

// "array([1., 2.], dtype=float32)"; the tensor has a value.
std::string array_repr(const Tensor& tensor);

// What Python's str() shows: "tf.Tensor([1. 2.], shape=(2,), dtype=float32)".
std::string tensor_str(const Tensor& tensor);

}  // namespace gradus
