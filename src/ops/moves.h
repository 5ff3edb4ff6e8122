// Small moves that rules are made of.
#pragma once
#include "gradus/tensor.h"
#include "graph/attrs.h"

namespace gradus {

// Every element one place further along an axis (or one place back); a zero comes in, the last
// element falls out.
Tensor shift(const Tensor& x, int axis, bool back);

Tensor pad_zeros(const Tensor& x, const Ints& before, const Ints& after);

}  // namespace gradus
