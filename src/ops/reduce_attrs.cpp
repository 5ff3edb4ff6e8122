#include "ops/reduce_attrs.h"

#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "ops/axes.h"
#include "ops/checks.h"

namespace gradus {

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
  check_axes(c, attrs.axes, c.shape(0).rank());
  out.push_back({c.in[0].dtype, reduced_shape(c.shape(0), attrs.axes, attrs.keepdims)});
}

Tensors batch_reduce(const BatchCall& call) {
  ReduceAttrs attrs = call.get<ReduceAttrs>();
  for (int i = 0; i < attrs.axes.rank(); ++i) ++attrs.axes[i];
  return call.op.run(call.in, &attrs);
}

std::vector<Sample> reduce_samples() {
  const auto arg = [](const Shape& shape) { return SampleArg{shape, -2, 2, Fill::distinct}; };
  return {sample<ReduceAttrs>({arg({2, 3, 4})}, {{1}, false}),
          sample<ReduceAttrs>({arg({2, 3, 4})}, {{0, 2}, true}),
          sample<ReduceAttrs>({arg({5})}, {{0}, false}),
          sample<ReduceAttrs>({arg({0, 3})}, {{1}, false}),
          sample<ReduceAttrs>({arg({})}, {{}, false}),
          sample<ReduceAttrs>({arg({2, 1})}, {{}, false})};
}

int trailing_axes(const Ints& axes, int rank) {
  for (int i = 0; i < axes.rank(); ++i)
    if (axes[i] != rank - axes.rank() + i) return -1;
  return axes.rank() == 0 ? -1 : axes.rank();
}

int trailing_axes_of(const Call& c) {
  return trailing_axes(c.get<ReduceAttrs>().axes, c.shape(0).rank());
}

int leading_axes(const Ints& axes) {
  for (int i = 0; i < axes.rank(); ++i)
    if (axes[i] != i) return -1;
  return axes.rank() == 0 ? -1 : axes.rank();
}

int leading_axes_of(const Call& c) { return leading_axes(c.get<ReduceAttrs>().axes); }

Tensor with_axes(const Tensor& y, const Shape& in, const Ints& axes) {
  return reshape(y, reduced_shape(in, axes, true));
}

Tensor divide_by_count(const Tensor& g, const Shape& in, const Ints& axes) {
  Size n = 1;
  for (std::int64_t axis : axes) n *= in[static_cast<int>(axis)];
  return !n.is_known() ? divide(g, cast(dynamic_size(n), g.dtype()))
                       : divide(g, static_cast<double>(std::int64_t{n}));
}

Tensor run_reduction(const Op& op, const Tensor& x, const Ints& axes, bool keepdims) {
  return op({x}, ReduceAttrs{normal_axes(op.name(), axes, x.rank()), keepdims});
}

}  // namespace gradus
