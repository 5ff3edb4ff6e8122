// Sizes as numbers to compute with: the one op that the graph layer itself needs, because a size
// that is a symbol can reach any op as a plain number.
#pragma once
#include "graph/op.h"

namespace gradus {

extern const Op dynamic_size_op;

// A symbol of the current trace as an int64 scalar of its graph.
Tensor traced_size(Size size);

// The size that such a node gives, from its attributes.
Size size_of_node(const void* attrs);

}  // namespace gradus
