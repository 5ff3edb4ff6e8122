// Parts of the incomplete gamma function.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

Tensor igamma_slope(const Tensor& a, const Tensor& x);  // the derivative of igamma in a

}  // namespace gradus
