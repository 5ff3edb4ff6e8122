// Padding as TensorFlow's "SAME" has it: as many windows as there are strides in the image.
#pragma once
#include <algorithm>

#include "graph/symbols.h"

namespace gradus {

// What is added along one axis of n pixels, on both sides together. Where n is not known yet, only
// what is left of it after the last whole stride is asked for: each rest is a program of its own.
inline Size same_padding(Size n, Size stride, Size window) {
  if (is_same(stride, 1) || is_same(window, 1)) return window - 1;
  const Size rest = n - n / stride * stride;
  const Size covered = sizes_agree(rest, 0) ? stride : Size(static_cast<std::int64_t>(rest));
  return std::max<Size>(0, window - covered);
}

}  // namespace gradus
