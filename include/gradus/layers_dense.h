// Dense and Embedding: products with a kernel, rows of a table.
#pragma once
#include "gradus/activations.h"
#include "gradus/initializers.h"

namespace gradus::keras {

namespace forms {

// x kernel + bias along the last axis of x, in the dtype of the kernel; the bias may be undefined.
Tensor dense(In x, In kernel, const Tensor& bias = {});
// Rows by number; numbers that are not integers are cast. The gradient of the table is rows.
Tensor embedding(In indices, In table);

}  // namespace forms

struct Dense {
  Variable kernel, bias;
  Activation activation;
  Dense(std::int64_t inputs, std::int64_t units, Activation activation = {}, bool use_bias = true);
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const;
  auto gradus_parts() { return std::tie(kernel, bias, activation); }
};

struct Embedding {
  Variable embeddings;
  Embedding(std::int64_t rows, std::int64_t width);
  Tensor operator()(In indices) const { return forms::embedding(indices, embeddings); }
  std::vector<Variable> variables() const { return {embeddings}; }
  auto gradus_parts() { return std::tie(embeddings); }
};

}  // namespace gradus::keras
