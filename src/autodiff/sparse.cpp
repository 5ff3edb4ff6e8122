#include "gradus/sparse.h"

#include "autodiff/rules.h"
#include "autodiff/tape.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

// The same rows, or the same whole tensor, with other values.
Gradient with_values(const Gradient& g, Tensor values) {
  return g.is_rows() ? Gradient(g.indices(), std::move(values), g.dense_shape())
                     : Gradient(std::move(values));
}

// Halves are squared in float32.
Tensor widened(const Tensor& t) {
  return t.dtype() == float16 || t.dtype() == bfloat16 ? cast(t, float32) : t;
}

Tensor norm_of(const Gradient& g) { return reduce_euclidean_norm(widened(g.values())); }

// The same while the rows are not known: each sum stands where the first of its rows would stand in
// sorted order, and what is left over are zeros for row 0.
Gradient combine_unknown_rows(const Gradient& g) {
  const Tensor place = expand_dims(searchsorted(sort(g.indices()), g.indices()), 1);
  return Gradient(tensor_scatter_nd_max(zeros_like(g.indices()), place, g.indices()),
                  tensor_scatter_nd_add(zeros_like(g.values()), place, g.values()),
                  g.dense_shape());
}

}  // namespace

Gradient combine_rows(const Gradient& g) {
  if (!g.is_rows()) return g;
  if (!is_concrete(g.indices())) return combine_unknown_rows(g);
  const Unique rows = unique(g.indices());
  const std::int64_t count = rows.y.num_elements();
  if (count == g.indices().num_elements()) return g;
  return Gradient(rows.y, unsorted_segment_sum(g.values(), rows.idx, count), g.dense_shape());
}

Gradient scale(const Gradient& g, In factor) {
  if (factor->rank() != 0) {
    fail<InvalidArgumentError>("[scale] got a factor of shape ", factor->shape(),
                               "; gradients are scaled by scalars");
  }
  return g.is_none() ? g : with_values(g, multiply(g.values(), factor));
}

Gradient detail::cast_gradient(const Gradient& g, DType dtype) {
  return g.is_none() ? g : with_values(g, cast(g.values(), dtype));
}

Gradient detail::add_gradients(const Gradient& a, const Gradient& b) {
  if (!a.is_none() && !b.is_none() &&
      (!shapes_agree(a.dense_shape(), b.dense_shape()) || a.dtype() != b.dtype())) {
    fail<InvalidArgumentError>("[add] got gradients of shapes ", a.dense_shape(), " and ",
                               b.dense_shape(), " and dtypes ", name_of(a.dtype()), " and ",
                               name_of(b.dtype()), "; they must agree");
  }
  return to_gradient(add_cotangents(to_cotangent(a), to_cotangent(b)));
}

Gradient detail::clip_gradient(const Gradient& g, double low, double high) {
  if (g.is_none()) return g;
  if (g.is_rows() && !(low <= 0 && high >= 0)) {
    fail<InvalidArgumentError>("[clip_by_value] got the range from ", low, " to ", high,
                               " for a gradient of rows; it must contain 0, which the other rows "
                               "are");
  }
  const Gradient rows = combine_rows(g);
  return with_values(rows, clip_by_value(rows.values(), low, high));
}

Gradient clip_by_norm(const Gradient& g, double clip_norm) {
  if (g.is_none()) return g;
  return clip_by_global_norm({g}, clip_norm).first[0];
}

Tensor global_norm(const std::vector<Gradient>& gradients) {
  std::vector<Tensor> norms;
  DType dtype = float32;
  for (const Gradient& g : gradients) {
    if (g.is_none()) continue;
    norms.push_back(norm_of(combine_rows(g)));
    if (norms.back().dtype() == float64) dtype = float64;
  }
  if (norms.empty()) return zeros({}, float32);
  for (Tensor& n : norms) n = cast(n, dtype);
  return norms.size() == 1 ? norms[0] : reduce_euclidean_norm(stack(norms));
}

std::pair<std::vector<Gradient>, Tensor> clip_by_global_norm(const std::vector<Gradient>& gradients,
                                                             double clip_norm) {
  if (!(clip_norm > 0)) {
    fail<InvalidArgumentError>("[clip_by_global_norm] got clip_norm ", clip_norm,
                               "; it must be positive");
  }
  std::vector<Gradient> rows;
  for (const Gradient& g : gradients) rows.push_back(combine_rows(g));
  const Tensor norm = global_norm(rows);
  // Not finite: inf - inf is a NaN that cannot be overlooked.
  const Tensor factor = clip_norm / maximum(norm, clip_norm) + (norm - norm);
  std::vector<Gradient> clipped;
  for (const Gradient& g : rows)
    clipped.push_back(g.is_none() ? g : scale(g, cast(factor, g.dtype())));
  return {std::move(clipped), norm};
}

}  // namespace gradus
