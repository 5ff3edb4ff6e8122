// What losses and metrics do with targets, predictions and weights before they compute.
#pragma once
#include <utility>

#include "gradus/in.h"

namespace gradus::keras {

Tensor as_dtype(In x, DType dtype);  // the same tensor if it has the dtype

// Two tensors, of which one may have a last axis of size 1 more than the other, with one rank.
std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b);

// Labels, which may have an axis of size 1 where predictions have the classes.
Tensor without_class_axis(In y_true, In y_pred);
Tensor class_numbers(In y_true, In y_pred);  // the same as int64
// Weights of samples beside values with more axes: axes of size 1 are added.
Tensor with_rank(const Tensor& weights, int rank);

Shape axes_from(int first, int rank);  // first, ..., rank - 1

// One value and one weight per sample: parts of samples are reduced.
struct Samples {
  Tensor values, weights;  // no weights if none were given
};
using Reduction = Tensor (*)(In x, const Shape& axes, bool keepdims);
Samples samplewise(In values, const Tensor& sample_weight, DType dtype, Reduction reduce);

}  // namespace gradus::keras
