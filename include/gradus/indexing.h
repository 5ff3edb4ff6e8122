// Ops that pick elements by position, and their opposites.
#pragma once
#include <vector>

#include "gradus/in.h"

namespace gradus {

// The block that starts at `begin`; a size of -1 reaches to the end of its axis.
Tensor slice(In x, const Shape& begin, const Shape& size);
Tensor concat(const std::vector<Tensor>& parts, int axis);
// Rows (or slices along another axis) by index. The gradient keeps to the rows that were read.
Tensor gather(In params, In indices, int axis = 0);
// Zeros of a shape with the given values added to some rows of axis 0; repeated indices add up.
Tensor scatter_rows(In indices, In values, const Shape& shape);

}  // namespace gradus
