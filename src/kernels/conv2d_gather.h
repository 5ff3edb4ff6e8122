// The pass of a convolution that writes every pixel of a target image from a neighbourhood in a
// source image. The forward pass is one; so is the gradient with respect to the input, once for
// each remainder of the pixel's position by the stride.
//
//   target[y, x, :n] = sum over taps  source[y * step_y + dy, x * step_x + dx, :k] filter[tap, :k,
//   :n]
//
// It is a sum of products over the taps, with tiles of neighbouring target pixels as rows, so the
// tile kernel reads the source where it is: no matrix of patches is ever built.
#pragma once
#include <cstdint>
#include <vector>

#include "base/blocks.h"
#include "kernels/conv2d_window.h"

namespace gradus::kernels {

struct GatherTap {
  std::int64_t dy, dx;
  std::int64_t filter;  // index of the tap's matrix in the filter
};

// Strides of target, source and filter are in bytes.
struct GatherPass {
  bool float64 = false;
  std::int64_t batch = 0;

  Image source{};  // of the first item
  std::int64_t source_item = 0;
  std::int64_t step_y = 1, step_x = 1;

  char* target = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t target_item = 0, target_row = 0, target_col = 0;

  // The channels come in groups that do not see each other, k of the source and n of the target
  // in each.
  std::int64_t groups = 1, k = 0, n = 0;

  std::vector<GatherTap> taps;
  const char* filter = nullptr;
  std::int64_t filter_tap = 0, filter_row = 0, filter_group = 0;
  bool filter_transposed = false;  // rows of the filter's matrices are n, and k are neighbours

  bool accumulate = false;
  const char* bias = nullptr;
  bool relu = false;
  const char* gate = nullptr;  // laid out like the target
  // Takes the target, whose pixels must have no gaps between them, block by block.
  const BlockTaker* taker = nullptr;
};

void run_gather(const GatherPass& pass);

}  // namespace gradus::kernels
