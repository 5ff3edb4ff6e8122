#include "ops.h"

#include "errors.h"
#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::python::ops {

Tensor truediv(In x, In y) {
  const DType dtype = x->dtype();
  if (!is_integer(dtype) || y->dtype() != dtype) return divide(x, y);
  const DType wide = size_of(dtype) <= 2 ? float32 : float64;
  return divide(cast(x, wide), cast(y, wide));
}

}  // namespace gradus::python::ops
