// The gradient of a convolution with respect to its filter: for each tap a product of the input,
// transposed, and the gradient of the output, summed over all pixels of all images.
#pragma once
#include "kernels/conv2d.h"

namespace gradus::kernels {

void run_filter_gradient(const Conv2dShape& shape, const void* input, const void* d_output,
                         void* d_filter, bool accumulate);

}  // namespace gradus::kernels
