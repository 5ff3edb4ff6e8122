// Reductions over axes. Without axes, over all of them; negative axes count from the end; an empty
// list reduces nothing. Sums are accurate however long, and the same at any number of threads.
#pragma once
#include <utility>

#include "gradus/in.h"

namespace gradus {

Tensor reduce_sum(In x);
Tensor reduce_sum(In x, const Shape& axes, bool keepdims = false);
Tensor reduce_mean(In x);  // NaN over nothing; an integer mean truncates
Tensor reduce_mean(In x, const Shape& axes, bool keepdims = false);
// The gradient is exact at any order, with any number of zeros.
Tensor reduce_prod(In x);
Tensor reduce_prod(In x, const Shape& axes, bool keepdims = false);
// NaN if there is one. Elements that tie (or are NaN) share the gradient equally.
Tensor reduce_max(In x);
Tensor reduce_max(In x, const Shape& axes, bool keepdims = false);
Tensor reduce_min(In x);
Tensor reduce_min(In x, const Shape& axes, bool keepdims = false);
// Of bool tensors.
Tensor reduce_any(In x);
Tensor reduce_any(In x, const Shape& axes, bool keepdims = false);
Tensor reduce_all(In x);
Tensor reduce_all(In x, const Shape& axes, bool keepdims = false);

// The mean squared distance from the mean, and its root. Where the variance is 0, so is the
// gradient of the root.
Tensor reduce_variance(In x);
Tensor reduce_variance(In x, const Shape& axes, bool keepdims = false);
Tensor reduce_std(In x);
Tensor reduce_std(In x, const Shape& axes, bool keepdims = false);
// Mean and variance.
std::pair<Tensor, Tensor> moments(In x, const Shape& axes, bool keepdims = false);

// The root of the sum of squares, without overflow or underflow on the way; the gradient at 0 is 0.
Tensor reduce_euclidean_norm(In x);
Tensor reduce_euclidean_norm(In x, const Shape& axes, bool keepdims = false);

// log(sum(exp(x))), safe at any scale. Where everything is -inf, so is the result, and the gradient
// is 0.
Tensor reduce_logsumexp(In x);
Tensor reduce_logsumexp(In x, const Shape& axes, bool keepdims = false);

Tensor count_nonzero(In x, DType dtype = int64);
Tensor count_nonzero(In x, const Shape& axes, bool keepdims = false, DType dtype = int64);

// Positions of the largest or smallest elements along an axis: the first of equal ones, never NaN.
Tensor argmax(In x, int axis = 0, DType output_type = int64);
Tensor argmin(In x, int axis = 0, DType output_type = int64);

}  // namespace gradus
