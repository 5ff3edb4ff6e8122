// Reductions over axes. No axes means all of them; negative axes count from the end.
#pragma once
#include "gradus/in.h"

namespace gradus {

Tensor reduce_sum(In x);
Tensor reduce_sum(In x, const Shape& axes, bool keepdims = false);
Tensor reduce_mean(In x);
Tensor reduce_mean(In x, const Shape& axes, bool keepdims = false);

}  // namespace gradus
