// Attention in several heads.
#pragma once
#include "gradus/initializers.h"

namespace gradus::keras {

namespace forms {

// A product over the last axes of x and the first ones of the kernel, as many as `summed` says, in
// the dtype of the kernel; the bias may be undefined.
Tensor projection(In x, In kernel, const Tensor& bias = {}, int summed = 1);

// Kernels [width, heads, size] that make queries, keys and values, and [heads, size, width] of the
// result; biases [heads, size] and [width] may be undefined.
struct AttentionWeights {
  Tensor query_kernel, query_bias, key_kernel, key_bias, value_kernel, value_bias, output_kernel,
      output_bias;
};
struct AttentionOptions {
  double dropout = 0;  // of the scores, in training; then seeds must be given
  const SeedGenerator* seeds = nullptr;
  // What a query that may see nothing sees: nothing, or everything alike, as Keras does where it
  // neither drops nor shows scores.
  bool sees_all_if_nothing = false;
};
struct AttentionResult {
  Tensor output, scores;  // [batch, queries, width], [batch, heads, queries, keys]
};
// Of queries [batch, queries, width] to keys and values [batch, keys, width]. The mask, bool
// [batch, queries, keys] or broadcastable to it, says what may be seen; it may be undefined.
AttentionResult multi_head_attention(In query, In key, In value, const AttentionWeights& weights,
                                     const Tensor& mask = {}, const AttentionOptions& options = {});
// [1, queries, keys]: a query sees the keys that are not later.
Tensor causal_mask(Size queries, Size keys);

}  // namespace forms

struct MultiHeadAttention {
  Variable query_kernel, query_bias, key_kernel, key_bias, value_kernel, value_bias, output_kernel,
      output_bias;
  double dropout;
  SeedGenerator seed_generator;
  MultiHeadAttention(std::int64_t width, std::int64_t heads, std::int64_t key_dim,
                     double dropout = 0);
  Tensor operator()(In query, In value, const Tensor& mask = {}, bool training = false) const;
  std::vector<Variable> variables() const;
  auto gradus_parts() {
    return std::tie(query_kernel, query_bias, key_kernel, key_bias, value_kernel, value_bias,
                    output_kernel, output_bias, dropout, seed_generator);
  }
};

}  // namespace gradus::keras
