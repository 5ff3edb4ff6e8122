#include "nn/samples.h"

#include <tuple>

#include "gradus/ops.h"

namespace gradus::keras {

Tensor as_dtype(In x, DType dtype) { return x->dtype() == dtype ? x.tensor() : cast(x, dtype); }

std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b) {
  const auto has_one_more = [](const Tensor& x, const Tensor& y) {
    return x.rank() == y.rank() + 1 && x.shape().back() == 1;
  };
  if (has_one_more(a, b))
    return b.rank() == 1 ? std::pair(a, expand_dims(b, -1)) : std::pair(squeeze(a, {-1}), b);
  if (has_one_more(b, a))
    return a.rank() == 1 ? std::pair(expand_dims(a, -1), b) : std::pair(a, squeeze(b, {-1}));
  return {a, b};
}

Tensor without_class_axis(In y_true, In y_pred) {
  const bool has_axis =
      y_true->rank() == y_pred->rank() && y_true->rank() > 1 && y_true->shape().back() == 1;
  return has_axis ? squeeze(y_true, {-1}) : y_true.tensor();
}

Tensor class_numbers(In y_true, In y_pred) {
  return as_dtype(without_class_axis(y_true, y_pred), int64);
}

Tensor with_rank(const Tensor& weights, int rank) {
  if (weights.rank() == 0) return weights;
  Shape shape = weights.shape();
  while (shape.rank() < rank) shape.push_back(1);
  return reshape(weights, shape);
}

Shape axes_from(int first, int rank) {
  Shape axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Samples samplewise(In given, const Tensor& sample_weight, DType dtype, Reduction reduce) {
  Tensor values = as_dtype(given, dtype);
  const auto reduced_from = [&](const Tensor& x, int first) {
    return x.rank() > first ? reduce(x, axes_from(first, x.rank()), false) : x;
  };
  if (!sample_weight.defined()) return {reduced_from(values, 1), {}};
  Tensor weights;
  std::tie(values, weights) = same_rank(values, as_dtype(sample_weight, dtype));
  values = reduced_from(values, weights.rank());
  // One weight for several values counts several times: the weights are summed up too.
  if (!is_same(weights.shape(), values.shape())) weights = broadcast_to(weights, values.shape());
  values = values * weights;
  if (weights.rank() <= 1) return {values, weights};
  return {reduced_from(values, 1), reduced_from(weights, 1)};
}

}  // namespace gradus::keras
