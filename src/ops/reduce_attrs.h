// What the reductions share: their attributes, shape rule, batching rule and samples.
#pragma once
#include <vector>

#include "graph/attrs.h"
#include "graph/op.h"

namespace gradus {

struct ReduceAttrs {
  Ints axes;  // sorted, no repeats
  bool keepdims = false;
  static auto fields() {
    return attr_fields(attr("axes", &ReduceAttrs::axes), attr("keepdims", &ReduceAttrs::keepdims));
  }
};

Shape reduced_shape(const Shape& in, const Ints& axes, bool keepdims);
void infer_reduce(const Call& call, Avals& out);
Tensors batch_reduce(const BatchCall& call);
std::vector<Sample> reduce_samples();

// Along trailing axes a reduction is one along rows: how many they are, -1 for other axes. The
// second is OpInfo::row_axes of a record with ReduceAttrs.
int trailing_axes(const Ints& axes, int rank);
int trailing_axes_of(const Call& call);
// Along leading axes it is one over rows: how many they are, all of them at most, or -1.
int leading_axes(const Ints& axes);
int leading_axes_of(const Call& call);

// A result of reducing `axes` of a tensor of shape `in`, with those axes back as size 1.
Tensor with_axes(const Tensor& y, const Shape& in, const Ints& axes);
// g divided by the number of elements behind each result.
Tensor divide_by_count(const Tensor& g, const Shape& in, const Ints& axes);

// Runs a record with ReduceAttrs on axes as users write them.
Tensor run_reduction(const Op& op, const Tensor& x, const Ints& axes, bool keepdims);

}  // namespace gradus
