// Convolution of every channel with its own filter [filter_h, filter_w, channels]: there is no sum
// over channels, so it is not a matrix product, and memory rather than arithmetic is the limit.
#pragma once
#include "kernels/conv2d.h"

namespace gradus::kernels {

// Whether the functions below apply: as many groups as input and as output channels.
bool is_depthwise(const Conv2dShape& shape);

// As conv2d, conv2d_input_gradient and conv2d_filter_gradient.
void depthwise(const Conv2dShape& shape, const void* input, const void* filter, void* output,
               const void* bias, bool relu);
void depthwise_input_gradient(const Conv2dShape& shape, const void* d_output, const void* filter,
                              void* d_input, bool accumulate, const void* gate);
void depthwise_filter_gradient(const Conv2dShape& shape, const void* input, const void* d_output,
                               void* d_filter, bool accumulate);

}  // namespace gradus::kernels
