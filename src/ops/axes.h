// Axes as users write them (negative counts from the end, none means all) and as kernels want them.
#pragma once
#include "graph/attrs.h"

namespace gradus {

// Throws InvalidArgumentError naming the op if the axis does not exist.
int normal_axis(const char* op, std::int64_t axis, int rank);
// Sorted; an axis that is named twice is an error; an empty list stays empty.
Ints normal_axes(const char* op, const Ints& axes, int rank);
Ints all_axes(int rank);

}  // namespace gradus
