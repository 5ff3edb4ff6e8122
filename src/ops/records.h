// Records that the engine itself refers to.
#pragma once
#include "graph/elementwise.h"
#include "graph/op.h"

namespace gradus {

extern const Op add_op, subtract_op, multiply_op, identity_op, cast_op;
extern const Op reshape_op, broadcast_to_op, concat_op, gather_op, matmul_op;

// Records whose public function is in another file, where more than one may serve.
extern const Op abs_op, divide_op, hypot_op, pow_op;

// One of each family, for the registry.
extern const Op argmax_op;
extern const Op batch_norm_op;
extern const Op cholesky_op;
extern const Op conj_op;
extern const Op conv2d_op;
extern const Op cumsum_op;
extern const Op diagonal_seed_op;
extern const Op eigh_op;
extern const Op exp_op;
extern const Op gather_nd_op;
extern const Op integer_pow_op;
extern const Op gru_op;
extern const Op iota_op;
extern const Op layer_norm_op;
extern const Op lstm_op;
extern const Op matrix_diag_op;
extern const Op max_pool_op;
extern const Op nonzero_op;
extern const Op pad_constant_op;
extern const Op random_op;
extern const Op reduce_logsumexp_op;
extern const Op reduce_sum_op;
extern const Op reduce_variance_op;
extern const Op reverse_op;
extern const Op row_normalization_op;
extern const Op set_row_op;
extern const Op sigmoid_cross_entropy_op;
extern const Op slice_op;
extern const Op softmax_op;
extern const Op sort_op;
extern const Op sparse_matmul_op;
extern const Op split_op;
extern const Op strided_slice_op;
extern const Op unsorted_segment_sum_op;

// x itself, as a kernel: copies, broadcasts and converts between dtypes.
const ElementwiseRule& copy_rule();

}  // namespace gradus
