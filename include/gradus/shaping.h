// Ops that move elements without changing them, and the makers of new tensors.
#pragma once
#include <vector>

#include "gradus/in.h"

namespace gradus {

Tensor zeros(const Shape& shape, DType dtype = float32);
Tensor ones(const Shape& shape, DType dtype = float32);
Tensor fill(const Shape& shape, In value);  // the dtype is the value's

Tensor reshape(In x, const Shape& shape);  // one size may be -1
Tensor broadcast_to(In x, const Shape& shape);
Tensor transpose(In x, const Shape& permutation);
Tensor transpose(In x);  // all axes reversed
Tensor expand_dims(In x, int axis);

// The number of elements along an axis as an int64 scalar; inside a traced function, also of sizes
// that are not yet known.
Tensor dynamic_size(std::int64_t size);

}  // namespace gradus
