// Reductions that are one kernel: sums, means, products, extrema, any and all.
#include "gradus/reduce.h"

#include "expr/expr.h"
#include "gradus/elementwise.h"
#include "gradus/scan.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/elementwise.h"
#include "graph/row_sums.h"
#include "graph/symbols.h"
#include "kernels/reduce.h"
#include "ops/axes.h"
#include "ops/records.h"
#include "ops/reduce_attrs.h"

namespace gradus {
namespace {

using kernels::Reduction;

template <Reduction R>
void reduce_kernel(const KernelCall& c) {
  std::uint64_t mask = 0;
  for (std::int64_t axis : c.get<ReduceAttrs>().axes) mask |= std::uint64_t{1} << axis;
  kernels::reduce(R, c.in[0].dtype, c.in[0].data, c.shape(0).numbers().data(), c.shape(0).rank(),
                  mask, c.out[0].data);
}

constexpr bool is_fusible(Reduction r) {
  return r == Reduction::sum || r == Reduction::prod || r == Reduction::max || r == Reduction::min;
}

template <Reduction R>
std::vector<Expr> row_reduction(const Call&, std::span<const Expr> in) {
  switch (R) {
    case Reduction::sum:
      return {expr::row_sum(in[0])};
    case Reduction::prod:
      return {expr::row_prod(in[0])};
    case Reduction::max:
      return {expr::row_max(in[0])};
    default:
      return {expr::row_min(in[0])};
  }
}

// A mean as a sum, where that can be fused.
Tensors mean_as_sum(const void* attrs, std::span<const Tensor> in) {
  const auto& p = *static_cast<const ReduceAttrs*>(attrs);
  const bool leading = leading_axes(p.axes) > 0 && size_of(in[0].dtype()) >= 4;
  if (!is_floating(in[0].dtype()) || (trailing_axes(p.axes, in[0].rank()) < 0 && !leading))
    return {};
  return {divide_by_count(reduce_sum(in[0], p.axes, p.keepdims), in[0].shape(), p.axes)};
}

template <Reduction R>
OpInfo info(const char* name, const char* doc, DTypes dtypes, const char* like) {
  return {.name = name,
          .doc = doc,
          .dtypes = dtypes,
          .attrs = &attr_type<ReduceAttrs>(),
          .infer = infer_reduce,
          .kernel = reduce_kernel<R>,
          .batch = batch_reduce,
          .expression = is_fusible(R) ? row_reduction<R> : nullptr,
          .row_axes = is_fusible(R) ? trailing_axes_of : nullptr,
          .lower = R == Reduction::mean ? mean_as_sum : nullptr,
          .samples = reduce_samples,
          .like = like};
}

// Max and min: which elements were chosen, and how many for each result.
Tensors chosen(const Site& s) {
  const Ints& axes = s.get<ReduceAttrs>().axes;
  const Tensor& x = s.in[0];
  const Tensor mask = logical_or(equal(x, with_axes(s.out[0], s.shape(0), axes)), not_equal(x, x));
  return {mask, reduce_sum(cast(mask, x.dtype()), axes, s.get<ReduceAttrs>().keepdims)};
}

Tensor mean_of_chosen(const Site& s, const Tensors& residual, const Tensor& t) {
  const auto& p = s.get<ReduceAttrs>();
  return divide(reduce_sum(where(residual[0], t, 0), p.axes, p.keepdims), residual[1]);
}

// For every element along the reduced axes, the product of all the others: what comes before it
// times what comes after it, so that zeros need no care.
Tensor product_of_others(const Tensor& x, const Ints& axes) {
  Ints order;
  Shape rows;
  for (int i = 0, next = 0; i < x.rank(); ++i) {
    if (next < axes.rank() && axes[next] == i) {
      ++next;
    } else {
      order.push_back(i);
      rows.push_back(x.shape()[i]);
    }
  }
  Size n = 1;
  for (std::int64_t axis : axes) {
    order.push_back(axis);
    n = n * x.shape()[static_cast<int>(axis)];
  }
  rows.push_back(n);
  const Tensor moved = transpose(x, order), flat = reshape(moved, rows);
  const Tensor others = cumprod(flat, -1, true) * cumprod(flat, -1, true, true);
  Ints back = order;
  for (int i = 0; i < order.rank(); ++i) back[static_cast<int>(order[i])] = i;
  return transpose(reshape(others, moved.shape()), back);
}

}  // namespace

const Op reduce_sum_op = linear(
    info<Reduction::sum>("reduce_sum",
                         "The sum over axes; accurate however long, in a fixed order.", kNumeric,
                         "numpy.sum"),
    [](const Site& s, int, const Tensor& ct) {
      return Cotangent::spread(with_axes(ct, s.shape(0), s.get<ReduceAttrs>().axes), s.shape(0));
    });

static const RowSum reduce_sum_over_rows(reduce_sum_op, leading_axes_of);

const Op reduce_mean_op =
    linear(info<Reduction::mean>("reduce_mean",
                                 "The mean over axes; NaN over nothing. An integer mean truncates.",
                                 kNumeric, "numpy.mean"),
           [](const Site& s, int, const Tensor& ct) {
             const Ints& axes = s.get<ReduceAttrs>().axes;
             const Tensor part = divide_by_count(with_axes(ct, s.shape(0), axes), s.shape(0), axes);
             return Cotangent::spread(part, s.shape(0));
           });

const Op reduce_prod_op = general(
    info<Reduction::prod>("reduce_prod",
                          "The product over axes; its gradient is exact with any number of zeros.",
                          kNumeric, "numpy.prod"),
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<ReduceAttrs>();
      out[0] = reduce_sum(t[0] * product_of_others(s.in[0], p.axes), p.axes, p.keepdims);
    });

const Op reduce_max_op =
    selecting(info<Reduction::max>("reduce_max",
                                   "The largest element over axes, NaN if there is one. Elements "
                                   "that tie share the gradient equally.",
                                   kReal, "numpy.max"),
              chosen, mean_of_chosen);

const Op reduce_min_op =
    selecting(info<Reduction::min>("reduce_min",
                                   "The smallest element over axes, NaN if there is one. Elements "
                                   "that tie share the gradient equally.",
                                   kReal, "numpy.min"),
              chosen, mean_of_chosen);

const Op reduce_any_op = not_differentiable(
    info<Reduction::any>("reduce_any", "Whether any element is true.", kBools, "numpy.any"),
    "its values are bool");
const Op reduce_all_op = not_differentiable(
    info<Reduction::all>("reduce_all", "Whether all elements are true.", kBools, "numpy.all"),
    "its values are bool");

Tensor reduce_sum(In x) { return run_reduction(reduce_sum_op, x, all_axes(x->rank()), false); }
Tensor reduce_sum(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_sum_op, x, axes, keepdims);
}
Tensor reduce_mean(In x) { return run_reduction(reduce_mean_op, x, all_axes(x->rank()), false); }
Tensor reduce_mean(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_mean_op, x, axes, keepdims);
}
Tensor reduce_prod(In x) { return run_reduction(reduce_prod_op, x, all_axes(x->rank()), false); }
Tensor reduce_prod(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_prod_op, x, axes, keepdims);
}
Tensor reduce_max(In x) { return run_reduction(reduce_max_op, x, all_axes(x->rank()), false); }
Tensor reduce_max(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_max_op, x, axes, keepdims);
}
Tensor reduce_min(In x) { return run_reduction(reduce_min_op, x, all_axes(x->rank()), false); }
Tensor reduce_min(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_min_op, x, axes, keepdims);
}
Tensor reduce_any(In x) { return run_reduction(reduce_any_op, x, all_axes(x->rank()), false); }
Tensor reduce_any(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_any_op, x, axes, keepdims);
}
Tensor reduce_all(In x) { return run_reduction(reduce_all_op, x, all_axes(x->rank()), false); }
Tensor reduce_all(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_all_op, x, axes, keepdims);
}

}  // namespace gradus
