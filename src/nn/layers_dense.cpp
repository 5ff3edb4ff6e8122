#include "gradus/layers_dense.h"

#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras {

namespace forms {

Tensor dense(In x, In kernel, const Tensor& bias) {
  return plus(matmul(as(x, kernel->dtype()), kernel), bias);
}

Tensor embedding(In indices, In table) {
  return gather(table, is_integer(indices->dtype()) ? indices.tensor() : cast(indices, int32));
}

}  // namespace forms

Dense::Dense(std::int64_t inputs, std::int64_t units, Activation activation, bool use_bias)
    : kernel(weight(glorot_uniform({inputs, units}), "kernel")),
      bias(zeros_if(use_bias, {units}, "bias")),
      activation(std::move(activation)) {}

Tensor Dense::operator()(In x) const { return activation(forms::dense(x, kernel, value_of(bias))); }

std::vector<Variable> Dense::variables() const { return defined_of({kernel, bias}); }

Embedding::Embedding(std::int64_t rows, std::int64_t width)
    : embeddings(weight(random::uniform({rows, width}, {.minval = -0.05, .maxval = 0.05}),
                        "embeddings")) {}

}  // namespace gradus::keras
