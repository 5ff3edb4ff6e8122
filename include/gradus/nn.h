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

// x + bias along the last axis.
Tensor bias_add(In value, In bias);

// In one dimension: x [n, width, c], filters [width, c / groups, out].
Tensor conv1d(In x, In filters, std::int64_t stride = 1, const std::string& padding = "VALID",
              std::int64_t dilation = 1);
// Each channel with its own filters [h, w, c, multiplier]; then, for separable_conv2d, a product
// over channels with a filter [1, 1, c * multiplier, out].
Tensor depthwise_conv2d(In x, In filter, const ConvOptions& options = {});
Tensor separable_conv2d(In x, In depthwise_filter, In pointwise_filter,
                        const ConvOptions& options = {});
// Blocks of pixels as channels, and back.
Tensor space_to_depth(In x, std::int64_t block_size);
Tensor depth_to_space(In x, std::int64_t block_size);

// Along one axis, the last unless said.
Tensor softmax(In logits, int axis = -1);
Tensor log_softmax(In logits, int axis = -1);

// Per row of logits: labels are probabilities of the same shape, or class numbers.
Tensor softmax_cross_entropy_with_logits(In labels, In logits);
Tensor sparse_softmax_cross_entropy_with_logits(In labels, In logits);

// Elementwise, of logits: labels are probabilities of the same shape.
Tensor sigmoid_cross_entropy_with_logits(In labels, In logits);
Tensor weighted_cross_entropy_with_logits(In labels, In logits, In pos_weight);
// exp(log_input) - log_input * targets, with Stirling's approximation of log(targets!) if asked.
Tensor log_poisson_loss(In targets, In log_input, bool compute_full_loss = false);
Tensor l2_loss(In x);  // half the sum of squares
// x / sqrt(max(sum(x^2), epsilon)) over axes.
Tensor l2_normalize(In x, const Shape& axes, double epsilon = 1e-12);

struct PoolOptions {
  std::vector<std::int64_t> ksize = {2, 2}, strides = {2, 2};
  std::string padding = "VALID";
};
Tensor max_pool2d(In x, const PoolOptions& options = {});
Tensor avg_pool2d(In x, const PoolOptions& options = {});
Tensor max_pool1d(In x, std::int64_t ksize, std::int64_t strides, const std::string& padding);
Tensor avg_pool1d(In x, std::int64_t ksize, std::int64_t strides, const std::string& padding);

// (x - mean) / sqrt(variance + epsilon) * scale + offset over the last axis.
Tensor layer_normalization(In x, In scale, In offset, double epsilon = 1e-3);
// The same with given statistics; offset and scale broadcast against x.
Tensor batch_normalization(In x, In mean, In variance, In offset, In scale, double epsilon);

// Batch normalisation in training, with the statistics of x over all axes but the last, which are
// given too; the variance is the mean square (not divided by n - 1).
struct BatchNormResult {
  Tensor y, mean, variance;
};
BatchNormResult fused_batch_norm(In x, In scale, In offset, double epsilon = 1e-3);

// A long short-term memory layer over x [batch, time, features], with Keras's weights: kernel
// [features, 4 units], recurrent kernel [units, 4 units], bias [4 units], gates i, f, c, o.
struct LstmResult {
  Tensor sequence;  // the output at every time, [batch, time, units]
  Tensor h, c;      // the states after the last one
};
// Where the mask, bool [batch, time], is false, a step passes its states on.
LstmResult lstm(In x, In kernel, In recurrent_kernel, In bias, In h0, In c0,
                const Tensor& mask = {});

// A layer of gated recurrent units, with Keras's weights for reset_after: kernel [features, 3
// units], recurrent kernel [units, 3 units], biases [2, 3 units] of the inputs and of the state,
// gates z, r, h.
struct GruResult {
  Tensor sequence, h;
};
GruResult gru(In x, In kernel, In recurrent_kernel, In bias, In h0, const Tensor& mask = {});

}  // namespace gradus::nn
