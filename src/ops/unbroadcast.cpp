#include "ops/unbroadcast.h"

#include "gradus/ops.h"
#include "graph/attrs.h"
#include "graph/symbols.h"

namespace gradus {

Cotangent unbroadcast(Tensor ct, const Shape& shape, const Shape& to) {
  if (shape == to) return Cotangent::spread(std::move(ct), to);
  // Axis by axis from the last: where `to` has one element and `shape` has several, the copies'
  // gradients are summed. A cotangent that is itself still spread there counts n times.
  Ints axes;
  std::int64_t repeats = 1;
  const int lead = shape.rank() - to.rank(), missing = shape.rank() - ct.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    // Other sizes than 1 can only be equal, also where both are names.
    if (axis >= lead && (to[axis - lead] == shape[axis] || to[axis - lead] != 1)) continue;
    if (axis < missing || (ct.shape()[axis - missing] == 1 && shape[axis] != 1)) {
      repeats = size_mul(repeats, shape[axis]);
    } else {
      axes.push_back(axis - missing);
    }
  }
  Tensor sum = axes.rank() > 0 ? reduce_sum(ct, axes, true) : std::move(ct);
  if (is_symbol(repeats)) {
    sum = multiply(sum, cast(dynamic_size(repeats), sum.dtype()));
  } else if (repeats != 1) {
    sum = multiply(sum, static_cast<double>(repeats));
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
