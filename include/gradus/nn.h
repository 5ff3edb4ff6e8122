// The building blocks of neural networks: TensorFlow's tf.nn. Images are NHWC, filters HWIO.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gradus/in.h"

namespace gradus::nn {

struct ConvOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::string padding = "VALID";  // "SAME", "VALID" or "EXPLICIT"
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> explicit_padding = {};  // top, bottom, left, right
};

// x [n, h, w, c], filter [h, w, c / groups, out]: the number of groups follows from the shapes.
Tensor conv2d(In x, In filter, const ConvOptions& options = {});
// The transpose of conv2d in its input, as tf.nn.conv2d_transpose: filter [h, w, out, in].
Tensor conv2d_transpose(In x, In filter, const Shape& output_shape,
                        const ConvOptions& options = {});

}  // namespace gradus::nn
