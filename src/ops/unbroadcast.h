// The transpose of broadcasting.
#pragma once
#include "graph/cotangent.h"

namespace gradus {

// Sums a tensor that has (or would broadcast to) `shape` back to the shape it was broadcast from.
Cotangent unbroadcast(Tensor ct, const Shape& shape, const Shape& to);

}  // namespace gradus
