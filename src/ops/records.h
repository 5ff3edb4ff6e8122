// Records that the engine itself refers to.
#pragma once
#include "graph/elementwise.h"
#include "graph/op.h"

namespace gradus {

extern const Op add_op, subtract_op, multiply_op, identity_op, cast_op;
extern const Op reshape_op, broadcast_to_op, gather_op, matmul_op;
extern const Op conj_op, slice_op, reduce_sum_op, conv2d_op;  // for the registry
extern const Op argmax_op, cumsum_op, reduce_variance_op;

// x itself, as a kernel: copies, broadcasts and converts between dtypes.
const ElementwiseRule& copy_rule();

}  // namespace gradus
