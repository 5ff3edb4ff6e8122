// Turning row gradients into dense ones is an event that can be asked about, and forbidden.
#pragma once
#include "gradus/gradient.h"
#include "graph/cotangent.h"

namespace gradus {

Tensor densify(const Cotangent& rows);

}  // namespace gradus
