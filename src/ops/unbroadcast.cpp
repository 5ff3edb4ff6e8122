#include "ops/unbroadcast.h"

#include "gradus/ops.h"
#include "graph/attrs.h"
#include "graph/symbols.h"

namespace gradus {

Cotangent unbroadcast(Tensor ct, const Shape& shape, const Shape& to) {
  if (is_same(shape, to)) return Cotangent::spread(std::move(ct), to);
  // Axis by axis from the last: where `to` has one element and `shape` has several, the copies'
  // gradients are summed. A cotangent that is itself still spread there counts n times.
  Ints axes;
  Size repeats = 1;
  const int lead = shape.rank() - to.rank(), missing = shape.rank() - ct.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis >= lead) {
      const Size size = to[axis - lead];
      if (is_same(size, shape[axis])) continue;
      // Other sizes than 1 can only be equal, and mostly were asked about when they met.
      if (!is_same(size, 1) && (size == shape[axis] || size != 1)) continue;
    }
    if (axis < missing || (is_same(ct.shape()[axis - missing], 1) && !is_same(shape[axis], 1))) {
      repeats *= shape[axis];
    } else {
      axes.push_back(axis - missing);
    }
  }
  Tensor sum = axes.rank() > 0 ? reduce_sum(ct, axes, true) : std::move(ct);
  if (!repeats.is_known()) {
    sum = multiply(sum, cast(dynamic_size(repeats), sum.dtype()));
  } else if (repeats != 1) {
    sum = multiply(sum, static_cast<double>(std::int64_t{repeats}));
  }
  // Drop the leading axes of size 1 that `to` does not have.
  if (sum.rank() > to.rank()) {
    Shape kept;
    for (int a = sum.rank() - to.rank(); a < sum.rank(); ++a) kept.push_back(sum.shape()[a]);
    sum = reshape(sum, kept);
  }
  return Cotangent::spread(std::move(sum), to);
}

}  // namespace gradus
