// Maximum and average over windows of NHWC images, and their gradients.
//
// A window that reaches over the border sees only what is inside. Dtypes: float32 and float64;
// float16 and bfloat16 are widened, pooled and rounded once.
#pragma once
#include <cstdint>

#include "base/blocks.h"
#include "gradus/dtype.h"

namespace gradus::kernels {

struct Pool2dShape {
  DType dtype = DType::float32;
  std::int64_t batch = 0, in_h = 0, in_w = 0, channels = 0;
  std::int64_t window_h = 1, window_w = 1, stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;  // not negative
  bool count_padding = false;  // averages divide by the whole window, not by what is inside

  std::int64_t out_h() const { return out_size(in_h + pad_top + pad_bottom, window_h, stride_h); }
  std::int64_t out_w() const { return out_size(in_w + pad_left + pad_right, window_w, stride_w); }
  std::int64_t in_size() const { return batch * in_h * in_w * channels; }
  std::int64_t out_size() const { return batch * out_h() * out_w() * channels; }

 private:
  static std::int64_t out_size(std::int64_t padded, std::int64_t window, std::int64_t stride) {
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
};

// The first of equal values wins, and the first NaN wins over everything. `taps`, laid out like the
// output, receives where in its window (row * window_w + column) each maximum was; it may be null.
// A window that sees nothing gives -infinity and tap -1.
void max_pool2d(const Pool2dShape& shape, const void* input, void* output, std::int32_t* taps);

// The linear map that the taps describe: the derivative of max_pool2d. Tap -1 gives 0.
void max_pool2d_take(const Pool2dShape& shape, const void* input, const std::int32_t* taps,
                     void* output);
// Its transpose; the second form has d_input, [pixels, channels], taken block by block.
void max_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const std::int32_t* taps,
                         void* d_input, bool accumulate);
void max_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const std::int32_t* taps,
                         const BlockTaker& taker);

// A window that sees nothing gives NaN (0 with count_padding).
void avg_pool2d(const Pool2dShape& shape, const void* input, void* output);
void avg_pool2d_gradient(const Pool2dShape& shape, const void* d_output, void* d_input,
                         bool accumulate);
void avg_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const BlockTaker& taker);

}  // namespace gradus::kernels
