#include <cmath>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "ops/axes.h"

namespace gradus {

Tensor norm(In tensor, double ord, const Shape& axis, bool keepdims) {
  if (!(ord > 0)) {
    fail<InvalidArgumentError>("[norm] ord is ", ord, "; use 1, 2, another number above 0 or ",
                               "infinity");
  }
  if (ord == 2) return reduce_euclidean_norm(tensor, axis, keepdims);
  const Tensor size = abs(tensor);
  if (std::isinf(ord)) return reduce_max(size, axis, keepdims);
  if (ord == 1) return reduce_sum(size, axis, keepdims);
  return pow(reduce_sum(pow(size, ord), axis, keepdims), 1 / ord);
}

Tensor norm(In tensor, double ord) { return norm(tensor, ord, all_axes(tensor->rank())); }

}  // namespace gradus
