// The building blocks of neural networks: TensorFlow's tf.nn. Images are NHWC, filters HWIO.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gradus/in.h"

namespace gradus::nn {

// Activations.
Tensor relu(In x);
Tensor relu6(In x);
Tensor leaky_relu(In x, double alpha = 0.2);
Tensor elu(In x);
Tensor selu(In x);
Tensor gelu(In x, bool approximate = false);
Tensor silu(In x);
Tensor mish(In x);
Tensor softsign(In x);
Tensor hard_sigmoid(In x);

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

// Along one axis, the last unless said.
Tensor softmax(In logits, int axis = -1);
Tensor log_softmax(In logits, int axis = -1);

// Per row of logits: labels are probabilities of the same shape, or class numbers.
Tensor softmax_cross_entropy_with_logits(In labels, In logits);
Tensor sparse_softmax_cross_entropy_with_logits(In labels, In logits);

struct PoolOptions {
  std::vector<std::int64_t> ksize = {2, 2}, strides = {2, 2};
  std::string padding = "VALID";
};
Tensor max_pool2d(In x, const PoolOptions& options = {});
Tensor avg_pool2d(In x, const PoolOptions& options = {});

// (x - mean) / sqrt(variance + epsilon) * scale + offset over the last axis.
Tensor layer_normalization(In x, In scale, In offset, double epsilon = 1e-3);
// The same with given statistics; offset and scale broadcast against x.
Tensor batch_normalization(In x, In mean, In variance, In offset, In scale, double epsilon);

// A long short-term memory layer over x [batch, time, features], with Keras's weights: kernel
// [features, 4 units], recurrent kernel [units, 4 units], bias [4 units], gates i, f, c, o.
struct LstmResult {
  Tensor sequence;  // the output at every time, [batch, time, units]
  Tensor h, c;      // the states after the last one
};
LstmResult lstm(In x, In kernel, In recurrent_kernel, In bias, In h0, In c0);

}  // namespace gradus::nn
