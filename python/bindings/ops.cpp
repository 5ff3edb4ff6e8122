#include "ops.h"

#include <limits>

#include "errors.h"
#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::python::ops {

namespace {

Tensor end_of(DType dtype, bool upper) {
  return Tensor::filled_by(dtype, {}, [&](void* to) {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      using Limits = std::numeric_limits<T>;
      if constexpr (is_complex(dtype_v<T>)) {
        throw InvalidArgumentError("[limits] complex numbers have no order");
      } else if constexpr (std::is_integral_v<T>) {
        *static_cast<T*>(to) = upper ? Limits::max() : Limits::min();
      } else {
        const float end = std::numeric_limits<float>::infinity();
        *static_cast<T*>(to) = static_cast<T>(upper ? end : -end);
      }
    });
  });
}

}  // namespace

Tensor least_of(DType dtype) { return end_of(dtype, false); }
Tensor largest_of(DType dtype) { return end_of(dtype, true); }

Tensor truediv(In x, In y) {
  const DType dtype = x->dtype();
  if (!is_integer(dtype) || y->dtype() != dtype) return divide(x, y);
  const DType wide = size_of(dtype) <= 2 ? float32 : float64;
  return divide(cast(x, wide), cast(y, wide));
}

}  // namespace gradus::python::ops
