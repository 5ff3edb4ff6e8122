#include "gradus/layers_attention.h"

#include <cmath>
#include <limits>

#include "gradus/activations.h"
#include "gradus/error.h"
#include "gradus/layers_dropout.h"
#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras {

namespace forms {
namespace {

double lowest(DType dtype) {
  if (dtype == float16) return -65504;
  if (dtype == bfloat16) return -3.3895313892515355e38;
  return dtype == float32 ? std::numeric_limits<float>::lowest()
                          : std::numeric_limits<double>::lowest();
}

// Batches are not broadcast; those that are not known yet are taken to agree.
void check_batches(const Shape& query, const Shape& key, const Shape& value) {
  for (const Shape& s : {query, key, value})
    if (s.rank() != 3)
      throw InvalidArgumentError("[attention] got shape " + to_string(s) +
                                 "; expected [batch, length, width]");
  const Size q = query[0], k = key[0], v = value[0];
  const bool known = q.is_known() && k.is_known() && v.is_known();
  if (known && (q != k || k != v))
    throw InvalidArgumentError("[attention] queries, keys and values come in batches of " +
                               to_string(q) + ", " + to_string(k) + " and " + to_string(v) +
                               "; they must be of one size");
}

Tensor swapped(const Tensor& x) { return transpose(x, {0, 2, 1, 3}); }

// Probabilities of scores [batch, heads, queries, keys].
Tensor probabilities(const Tensor& scores, Tensor mask, bool sees_all_if_nothing) {
  if (!mask.defined()) return nn::softmax(scores);
  while (mask.rank() < scores.rank()) mask = expand_dims(mask, -3);
  if (!sees_all_if_nothing) return softmax(scores, mask);
  return nn::softmax(where(mask, scores, cast(lowest(scores.dtype()), scores.dtype())));
}

}  // namespace

Tensor projection(In x, In kernel, const Tensor& bias, int summed) {
  Tensor in = as(x, kernel->dtype());
  const Shape& k = kernel->shape();
  Shape out;
  for (int i = 0; i < in.rank() - summed; ++i) out.push_back(in.shape()[i]);
  Shape flat = out;
  Size rows = 1, columns = 1;
  for (int i = 0; i < k.rank(); ++i) (i < summed ? rows : columns) *= k[i];
  flat.push_back(rows);
  for (int i = summed; i < k.rank(); ++i) out.push_back(k[i]);
  if (summed > 1) in = reshape(in, flat);
  const bool is_matrix = k.rank() == 2;
  const Tensor y = matmul(in, is_matrix ? kernel.tensor() : reshape(kernel, {rows, columns}));
  return plus(k.rank() - summed == 1 ? y : reshape(y, out), bias);
}

AttentionResult multi_head_attention(In query, In key, In value, const AttentionWeights& w,
                                     const Tensor& mask, const AttentionOptions& options) {
  check_batches(query->shape(), key->shape(), value->shape());
  const Tensor q = projection(query, w.query_kernel, w.query_bias);
  const Tensor k = projection(key, w.key_kernel, w.key_bias);
  const Tensor v = projection(value, w.value_kernel, w.value_bias);
  const double scale = 1 / std::sqrt(static_cast<double>(w.query_kernel.shape().back()));
  const Tensor products = matmul(swapped(q * scale), swapped(k), {.transpose_b = true});
  const Tensor scores = probabilities(products, mask, options.sees_all_if_nothing);
  const Tensor kept = options.seeds ? dropout(scores, options.dropout, *options.seeds) : scores;
  const Tensor seen = swapped(matmul(kept, swapped(v)));
  return {projection(seen, w.output_kernel, w.output_bias, 2), scores};
}

Tensor causal_mask(Size queries, Size keys) {
  return expand_dims(expand_dims(iota(queries), 1) >= expand_dims(iota(keys), 0), 0);
}

}  // namespace forms

MultiHeadAttention::MultiHeadAttention(std::int64_t width, std::int64_t heads, std::int64_t key_dim,
                                       double dropout)
    : query_kernel(weight(glorot_uniform({width, heads, key_dim}), "kernel")),
      query_bias(weight(zeros({heads, key_dim}), "bias")),
      key_kernel(weight(glorot_uniform({width, heads, key_dim}), "kernel")),
      key_bias(weight(zeros({heads, key_dim}), "bias")),
      value_kernel(weight(glorot_uniform({width, heads, key_dim}), "kernel")),
      value_bias(weight(zeros({heads, key_dim}), "bias")),
      output_kernel(weight(glorot_uniform({heads, key_dim, width}), "kernel")),
      output_bias(weight(zeros({width}), "bias")),
      dropout(dropout) {
  if (!(dropout >= 0 && dropout <= 1))
    throw InvalidArgumentError("[MultiHeadAttention] got dropout " + std::to_string(dropout) +
                               "; expected a number from 0 to 1");
}

Tensor MultiHeadAttention::operator()(In query, In value, const Tensor& mask, bool training) const {
  return forms::multi_head_attention(query, value, value,
                                     {query_kernel, query_bias, key_kernel, key_bias, value_kernel,
                                      value_bias, output_kernel, output_bias},
                                     mask,
                                     {.dropout = dropout,
                                      .seeds = training && dropout > 0 ? &seed_generator : nullptr,
                                      .sees_all_if_nothing = dropout == 0})
      .output;
}

std::vector<Variable> MultiHeadAttention::variables() const {
  return {query_kernel, query_bias, key_kernel,    key_bias,
          value_kernel, value_bias, output_kernel, output_bias};
}

}  // namespace gradus::keras
