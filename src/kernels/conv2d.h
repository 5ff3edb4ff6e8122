// Two-dimensional convolution over raw pointers and its two gradients, float32 or float64.
//
// Images are NHWC, filters HWIO (as in TensorFlow: a correlation, the filter is not flipped). With
// groups the filter is [filter_h, filter_w, in_c / groups, out_c], and group g maps the g-th part
// of the input channels to the g-th part of the output channels; groups == in_c is depthwise.
#pragma once
#include <cstdint>

#include "base/blocks.h"
#include "gradus/dtype.h"

namespace gradus::kernels {

struct Conv2dShape {
  DType dtype = DType::float32;
  std::int64_t batch = 0, in_h = 0, in_w = 0, in_c = 0;
  std::int64_t filter_h = 1, filter_w = 1, out_c = 0;
  std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;  // zeros; not negative
  std::int64_t groups = 1;

  std::int64_t out_h() const {
    return out_size(in_h + pad_top + pad_bottom, filter_h, stride_h, dilation_h);
  }
  std::int64_t out_w() const {
    return out_size(in_w + pad_left + pad_right, filter_w, stride_w, dilation_w);
  }

 private:
  static std::int64_t out_size(std::int64_t padded, std::int64_t filter, std::int64_t stride,
                               std::int64_t dilation) {
    const std::int64_t window = (filter - 1) * dilation + 1;
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
};

// output = input * filter, then + bias[out_c] (unless null), then relu if asked.
void conv2d(const Conv2dShape& shape, const void* input, const void* filter, void* output,
            const void* bias = nullptr, bool relu = false);
// The output, [pixels, out_c], is taken block by block.
void conv2d(const Conv2dShape& shape, const void* input, const void* filter,
            const BlockTaker& taker);

// d_input (+)= the gradient with respect to the input; 0 where gate (like the input, unless null)
// is not > 0.
void conv2d_input_gradient(const Conv2dShape& shape, const void* d_output, const void* filter,
                           void* d_input, bool accumulate, const void* gate = nullptr);
// The gradient, [pixels, in_c], is taken block by block.
void conv2d_input_gradient(const Conv2dShape& shape, const void* d_output, const void* filter,
                           const BlockTaker& taker);

// d_filter (+)= the gradient with respect to the filter.
void conv2d_filter_gradient(const Conv2dShape& shape, const void* input, const void* d_output,
                            void* d_filter, bool accumulate);

}  // namespace gradus::kernels
