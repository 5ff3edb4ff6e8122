#include "kernels/conv2d.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/conv2d_filter.h"
#include "kernels/conv2d_gather.h"
#include "kernels/depthwise.h"
#include "kernels/gemm.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

int64_t element_of(const Conv2dShape& s) {
  GRADUS_ASSERT(s.dtype == DType::float32 || s.dtype == DType::float64);
  return static_cast<int64_t>(size_of(s.dtype));
}

const char* bytes(const void* p) { return static_cast<const char*>(p); }

// A filter of one pixel that touches every pixel: the convolution is a product of matrices.
bool is_matrix_product(const Conv2dShape& s) {
  return s.filter_h == 1 && s.filter_w == 1 && s.stride_h == 1 && s.stride_w == 1 &&
         s.pad_top == 0 && s.pad_bottom == 0 && s.pad_left == 0 && s.pad_right == 0 &&
         s.groups == 1;
}

GemmArgs matrix_product(const Conv2dShape& s, int64_t m, int64_t n, int64_t k) {
  GemmArgs g;
  g.dtype = s.dtype;
  g.m = m, g.n = n, g.k = k;
  return g;
}

// To `output`, or to the taker if there is one.
void convolve(const Conv2dShape& s, const void* input, const void* filter, void* output,
              const BlockTaker* taker, const void* bias, bool relu) {
  const int64_t element = element_of(s), pixels = s.batch * s.in_h * s.in_w;
  if (is_matrix_product(s)) {
    GemmArgs g = matrix_product(s, pixels, s.out_c, s.in_c);
    g.a = input, g.lda = s.in_c;
    g.b = filter, g.ldb = s.out_c;
    g.c = output, g.ldc = s.out_c, g.taker = taker;
    g.bias = bias, g.relu = relu;
    return gemm(g);
  }
  if (is_depthwise(s)) {
    const int64_t out_pixels = s.batch * s.out_h() * s.out_w();
    const auto compute = [&](void* to, int64_t) { depthwise(s, input, filter, to, bias, relu); };
    if (!taker) return compute(output, 0);
    if (out_pixels > 0) (*taker)({0, out_pixels, 0, s.out_c}, compute);
    return;
  }
  const int64_t group_in = s.in_c / s.groups, group_out = s.out_c / s.groups;
  GatherPass pass;
  pass.float64 = s.dtype == DType::float64;
  pass.batch = s.batch;
  pass.source = {bytes(input), s.in_h, s.in_w, s.in_c * element};
  pass.source_item = s.in_h * s.in_w * s.in_c * element;
  pass.step_y = s.stride_h;
  pass.step_x = s.stride_w;
  pass.target = static_cast<char*>(output);
  pass.rows = s.out_h();
  pass.cols = s.out_w();
  pass.target_col = s.out_c * element;
  pass.target_row = pass.cols * pass.target_col;
  pass.target_item = pass.rows * pass.target_row;
  for (int64_t i = 0; i < s.filter_h; ++i)
    for (int64_t j = 0; j < s.filter_w; ++j)
      pass.taps.push_back(
          {i * s.dilation_h - s.pad_top, j * s.dilation_w - s.pad_left, i * s.filter_w + j});
  pass.groups = s.groups;
  pass.k = group_in;
  pass.n = group_out;
  pass.filter = bytes(filter);
  pass.filter_row = s.out_c * element;
  pass.filter_tap = group_in * pass.filter_row;
  pass.filter_group = group_out * element;
  pass.bias = bytes(bias);
  pass.relu = relu;
  pass.taker = taker;
  run_gather(pass);
}

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// To `d_input`, or with strides of 1 to the taker if there is one.
void convolve_back(const Conv2dShape& s, const void* d_output, const void* filter, void* d_input,
                   const BlockTaker* taker, bool accumulate, const void* gate) {
  const int64_t element = element_of(s), pixels = s.batch * s.in_h * s.in_w;
  if (is_matrix_product(s)) {
    GemmArgs g = matrix_product(s, pixels, s.in_c, s.out_c);
    g.a = d_output, g.lda = s.out_c;
    g.b = filter, g.ldb = s.out_c, g.trans_b = true;
    g.c = d_input, g.ldc = s.in_c, g.accumulate = accumulate, g.taker = taker;
    g.gate = gate, g.ld_gate = s.in_c;
    return gemm(g);
  }
  if (is_depthwise(s))
    return depthwise_input_gradient(s, d_output, filter, d_input, accumulate, gate);
  const int64_t group_in = s.in_c / s.groups, group_out = s.out_c / s.groups;
  const int64_t pixel = s.in_c * element;
  GatherPass pass;
  pass.float64 = s.dtype == DType::float64;
  pass.batch = s.batch;
  pass.source = {bytes(d_output), s.out_h(), s.out_w(), s.out_c * element};
  pass.source_item = s.out_h() * s.out_w() * s.out_c * element;
  pass.target_item = s.in_h * s.in_w * pixel;
  pass.target_row = s.stride_h * s.in_w * pixel;
  pass.target_col = s.stride_w * pixel;
  pass.groups = s.groups;
  pass.k = group_out;
  pass.n = group_in;
  pass.filter = bytes(filter);
  pass.filter_row = s.out_c * element;
  pass.filter_tap = group_in * pass.filter_row;
  pass.filter_group = group_out * element;
  pass.filter_transposed = true;
  pass.accumulate = accumulate;
  pass.taker = taker;

  // Input pixel (y, x) was read through tap (i, j) by output pixel ((y + pad - i * dilation) /
  // stride, ...) if that is whole: with y = stride * t + phase, taps depend on the phase only.
  for (int64_t phase_y = 0; phase_y < std::min(s.stride_h, s.in_h); ++phase_y)
    for (int64_t phase_x = 0; phase_x < std::min(s.stride_w, s.in_w); ++phase_x) {
      pass.rows = (s.in_h - phase_y + s.stride_h - 1) / s.stride_h;
      pass.cols = (s.in_w - phase_x + s.stride_w - 1) / s.stride_w;
      pass.taps.clear();
      for (int64_t i = 0; i < s.filter_h; ++i)
        for (int64_t j = 0; j < s.filter_w; ++j) {
          const int64_t y = phase_y + s.pad_top - i * s.dilation_h;
          const int64_t x = phase_x + s.pad_left - j * s.dilation_w;
          const int64_t dy = floor_div(y, s.stride_h), dx = floor_div(x, s.stride_w);
          if (dy * s.stride_h == y && dx * s.stride_w == x)
            pass.taps.push_back({dy, dx, i * s.filter_w + j});
        }
      const int64_t corner = (phase_y * s.in_w + phase_x) * pixel;
      pass.target = static_cast<char*>(d_input) + corner;
      if (gate) pass.gate = bytes(gate) + corner;
      run_gather(pass);
    }
}

}  // namespace

void conv2d(const Conv2dShape& s, const void* input, const void* filter, void* output,
            const void* bias, bool relu) {
  convolve(s, input, filter, output, nullptr, bias, relu);
}

void conv2d(const Conv2dShape& s, const void* input, const void* filter, const BlockTaker& taker) {
  convolve(s, input, filter, nullptr, &taker, nullptr, false);
}

void conv2d_input_gradient(const Conv2dShape& s, const void* d_output, const void* filter,
                           void* d_input, bool accumulate, const void* gate) {
  convolve_back(s, d_output, filter, d_input, nullptr, accumulate, gate);
}

void conv2d_input_gradient(const Conv2dShape& s, const void* d_output, const void* filter,
                           const BlockTaker& taker) {
  if (s.stride_h == 1 && s.stride_w == 1 && (is_matrix_product(s) || !is_depthwise(s)))
    return convolve_back(s, d_output, filter, nullptr, &taker, false, nullptr);
  const int64_t pixels = s.batch * s.in_h * s.in_w;
  if (pixels * s.in_c == 0) return;
  taker({0, pixels, 0, s.in_c}, [&](void* to, int64_t) {
    convolve_back(s, d_output, filter, to, nullptr, false, nullptr);
  });
}

void conv2d_filter_gradient(const Conv2dShape& s, const void* input, const void* d_output,
                            void* d_filter, bool accumulate) {
  element_of(s);
  if (is_depthwise(s)) return depthwise_filter_gradient(s, input, d_output, d_filter, accumulate);
  if (!is_matrix_product(s)) return run_filter_gradient(s, input, d_output, d_filter, accumulate);
  GemmArgs g = matrix_product(s, s.in_c, s.out_c, s.batch * s.in_h * s.in_w);
  g.a = input, g.lda = s.in_c, g.trans_a = true;
  g.b = d_output, g.ldb = s.out_c;
  g.c = d_filter, g.ldc = s.out_c, g.accumulate = accumulate;
  gemm(g);
}

}  // namespace gradus::kernels
