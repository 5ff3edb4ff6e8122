// Sums and their kin over any axes.
#include "gradus/reduce.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/reduce.h"
#include "ops/axes.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct ReduceAttrs {
  Ints axes;
  bool keepdims = false;
  static auto fields() {
    return attr_fields(attr("axes", &ReduceAttrs::axes), attr("keepdims", &ReduceAttrs::keepdims));
  }
};

Shape reduced_shape(const Shape& in, const Ints& axes, bool keepdims) {
  Shape out;
  for (int i = 0, next = 0; i < in.rank(); ++i) {
    if (next < axes.rank() && axes[next] == i) {
      ++next;
      if (keepdims) out.push_back(1);
    } else {
      out.push_back(in[i]);
    }
  }
  return out;
}

void infer_reduce(const Call& c, Avals& out) {
  const auto& attrs = c.get<ReduceAttrs>();
  out.push_back({c.in[0].dtype, reduced_shape(c.shape(0), attrs.axes, attrs.keepdims)});
}

template <kernels::Reduction R>
void reduce_kernel(const KernelCall& c) {
  std::uint64_t mask = 0;
  for (std::int64_t axis : c.get<ReduceAttrs>().axes) mask |= std::uint64_t{1} << axis;
  kernels::reduce(R, c.in[0].dtype, c.in[0].data, c.shape(0).begin(), c.shape(0).rank(), mask,
                  c.out[0].data);
}

Tensors batch_reduce(const BatchCall& call) {
  ReduceAttrs attrs = call.get<ReduceAttrs>();
  for (int i = 0; i < attrs.axes.rank(); ++i) ++attrs.axes[i];
  return call.op.run(call.in, &attrs);
}

std::vector<Sample> reduce_samples() {
  return {sample<ReduceAttrs>({{{2, 3, 4}}}, {{1}, false}),
          sample<ReduceAttrs>({{{2, 3, 4}}}, {{0, 2}, true}),
          sample<ReduceAttrs>({{{5}}}, {{0}, false}), sample<ReduceAttrs>({{{3, 0}}}, {{1}, false}),
          sample<ReduceAttrs>({{{}}}, {{}, false})};
}

// A result of reducing `axes` of a tensor of shape `in`, with those axes back as size 1.
Tensor with_axes(const Tensor& y, const Shape& in, const Ints& axes) {
  return reshape(y, reduced_shape(in, axes, true));
}

Tensor run(const Op& op, const Tensor& x, const Ints& axes, bool keepdims) {
  return op({x}, ReduceAttrs{normal_axes(op.name(), axes, x.rank()), keepdims});
}

}  // namespace

const Op reduce_sum_op = linear(
    {.name = "reduce_sum",
     .doc = "The sum over axes; accurate however long, in a fixed order.",
     .dtypes = kNumeric,
     .attrs = &attr_type<ReduceAttrs>(),
     .infer = infer_reduce,
     .kernel = reduce_kernel<kernels::Reduction::sum>,
     .batch = batch_reduce,
     .samples = reduce_samples,
     .like = "numpy.sum"},
    [](const Site& s, int, const Tensor& ct) {
      return Cotangent::spread(with_axes(ct, s.shape(0), s.get<ReduceAttrs>().axes), s.shape(0));
    });

const Op reduce_mean_op =
    linear({.name = "reduce_mean",
            .doc = "The mean over axes; NaN over nothing. An integer mean truncates.",
            .dtypes = kNumeric,
            .attrs = &attr_type<ReduceAttrs>(),
            .infer = infer_reduce,
            .kernel = reduce_kernel<kernels::Reduction::mean>,
            .batch = batch_reduce,
            .samples =
                [] {
                  return std::vector<Sample>{sample<ReduceAttrs>({{{2, 3, 4}}}, {{0, 2}, true}),
                                             sample<ReduceAttrs>({{{5, 2}}}, {{1}, false})};
                },
            .like = "numpy.mean"},
           [](const Site& s, int, const Tensor& ct) {
             const Ints& axes = s.get<ReduceAttrs>().axes;
             std::int64_t n = 1;
             for (std::int64_t axis : axes) n = size_mul(n, s.shape(0)[static_cast<int>(axis)]);
             const Tensor g = with_axes(ct, s.shape(0), axes);
             const Tensor part = is_symbol(n) ? divide(g, cast(dynamic_size(n), g.dtype()))
                                              : divide(g, static_cast<double>(n));
             return Cotangent::spread(part, s.shape(0));
           });

Tensor reduce_sum(In x) { return run(reduce_sum_op, x, all_axes(x->rank()), false); }
Tensor reduce_sum(In x, const Shape& axes, bool keepdims) {
  return run(reduce_sum_op, x, axes, keepdims);
}
Tensor reduce_mean(In x) { return run(reduce_mean_op, x, all_axes(x->rank()), false); }
Tensor reduce_mean(In x, const Shape& axes, bool keepdims) {
  return run(reduce_mean_op, x, axes, keepdims);
}

}  // namespace gradus
