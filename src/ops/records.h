// Records that the engine itself refers to.
#pragma once
#include "graph/elementwise.h"
#include "graph/op.h"

namespace gradus {

extern const Op add_op, multiply_op, identity_op, cast_op;
extern const Op reshape_op, broadcast_to_op, fill_op;

}  // namespace gradus
