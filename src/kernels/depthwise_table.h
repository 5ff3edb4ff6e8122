// What depthwise_isa.cpp makes for each instruction set.
#pragma once
#include "kernels/conv2d.h"

namespace gradus::kernels {

struct DepthwiseArgs {
  const Conv2dShape* shape;
  std::int64_t out_h, out_w;
  const void *input, *filter, *d_output;  // what is read
  void* to;                               // what is written
  const void* bias = nullptr;
  const void* gate = nullptr;
  bool relu = false, accumulate = false;
};

// Rows are counted through all images: of the output, of the input, and of the output again, whose
// contributions to the filter's gradient are then in `to`.
using DepthwiseRows = void (*)(const DepthwiseArgs& args, std::int64_t begin, std::int64_t end);

struct DepthwiseTable {
  DepthwiseRows forward, input_gradient, filter_gradient;
};

struct DepthwiseTables {
  DepthwiseTable float32, float64;
};

namespace baseline {
extern const DepthwiseTables depthwise_tables;
}
namespace avx2 {
extern const DepthwiseTables depthwise_tables;
}
namespace avx512 {
extern const DepthwiseTables depthwise_tables;
}

}  // namespace gradus::kernels
