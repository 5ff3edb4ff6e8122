#include "ops/registry.h"

#include <algorithm>
#include <cstring>

#include "ops/numeric_records.h"
#include "ops/records.h"

namespace gradus {

// One record of each family (source file), so that a program that asks for all ops links them all.
// One a line, so that branches which add families merge.
// clang-format off
[[gnu::used]] const Op* const kFamilies[] = {
    &add_op,
    &argmax_op,
    &batch_norm_op,
    &cast_op,
    &cholesky_op,
    &cofactors_op,
    &conj_op,
    &conv2d_op,
    &cumsum_op,
    &eigh_op,
    &exp_op,
    &diagonal_seed_op,
    &expm_op,
    &fft_op,
    &gamma_sample_op,
    &gather_nd_op,
    &gather_op,
    &gru_op,
    &igamma_op,
    &integer_pow_op,
    &iota_op,
    &layer_norm_op,
    &lstm_op,
    &matmul_op,
    &matrix_diag_op,
    &max_pool_op,
    &ndtri_op,
    &nonzero_op,
    &pad_constant_op,
    &pinv_op,
    &random_op,
    &reduce_logsumexp_op,
    &reduce_sum_op,
    &reduce_variance_op,
    &reshape_op,
    &reverse_op,
    &row_normalization_op,
    &set_row_op,
    &sigmoid_cross_entropy_op,
    &slice_op,
    &softmax_op,
    &sort_op,
    &sparse_matmul_op,
    &split_op,
    &strided_slice_op,
    &svd_op,
    &undetermined_op,
    &unsorted_segment_sum_op,
};
// clang-format on

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const Op* op = kFamilies[0] ? newest_op() : nullptr; op; op = op->next) ops.push_back(op);
  std::sort(ops.begin(), ops.end(),
            [](const Op* a, const Op* b) { return std::strcmp(a->name(), b->name()) < 0; });
  return ops;
}

const Op* find_op(const std::string& name) {
  for (const Op* op : all_ops())
    if (name == op->name()) return op;
  return nullptr;
}

}  // namespace gradus
