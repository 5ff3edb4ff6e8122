// Convolutions and pooling in one dimension or by channel, and blocks of pixels as channels: views
// of the two-dimensional ops.
#include <algorithm>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/nn.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "ops/axes.h"

namespace gradus {
namespace nn {
namespace {

void check_rank(const char* op, const char* what, const Tensor& t, int rank, const char* axes) {
  if (t.rank() == rank) return;
  fail<InvalidArgumentError>("[", op, "] got ", what, " of shape ", t.shape(), "; expected ", axes);
}

Tensor as_image(const char* op, const Tensor& x) {
  check_rank(op, "an input", x, 3, "[batch, width, channels]");
  return expand_dims(x, 1);
}

PoolOptions one_high(std::int64_t ksize, std::int64_t strides, const std::string& padding) {
  return {.ksize = {1, ksize}, .strides = {1, strides}, .padding = padding};
}

// Sizes of [batch, height, width, channels] with block sizes checked.
const Shape& check_blocks(const char* op, const Tensor& x, std::int64_t block_size) {
  check_rank(op, "an input", x, 4, "[batch, height, width, channels]");
  if (block_size < 1 || block_size > 1 << 15)
    fail<InvalidArgumentError>("[", op, "] got block_size ", block_size, "; it must be at least 1");
  return x.shape();
}

[[noreturn]] void bad_blocks(const char* op, const Shape& s, std::int64_t block_size) {
  fail<InvalidArgumentError>("[", op, "] shape ", s, " cannot be cut into blocks of size ",
                             block_size);
}

}  // namespace

Tensor bias_add(In value, In bias) {
  if (value->rank() < 2 || bias->rank() != 1 ||
      !sizes_agree(value->shape().back(), bias->shape()[0])) {
    fail<InvalidArgumentError>("[bias_add] got a bias of shape ", bias->shape(),
                               " for a value of shape ", value->shape(),
                               "; one number for each of the last axis was expected");
  }
  return value + bias;
}

Tensor conv1d(In x, In filters, std::int64_t stride, const std::string& padding,
              std::int64_t dilation) {
  check_rank("conv1d", "filters", filters, 3, "[width, channels, out channels]");
  const ConvOptions options{.strides = {1, stride}, .padding = padding, .dilations = {1, dilation}};
  return squeeze(conv2d(as_image("conv1d", x), expand_dims(filters, 0), options), {1});
}

Tensor depthwise_conv2d(In x, In filter, const ConvOptions& options) {
  check_rank("depthwise_conv2d", "a filter", filter, 4, "[height, width, channels, multiplier]");
  check_rank("depthwise_conv2d", "an input", x, 4, "[batch, height, width, channels]");
  const Shape& f = filter->shape();
  if (!sizes_agree(f[2], x->shape()[3])) {
    fail<InvalidArgumentError>("[depthwise_conv2d] got a filter of shape ", f,
                               " for an input of shape ", x->shape(), "; the channels must agree");
  }
  return conv2d(x, reshape(filter, {f[0], f[1], 1, f[2] * f[3]}), options);
}

Tensor separable_conv2d(In x, In depthwise_filter, In pointwise_filter,
                        const ConvOptions& options) {
  return conv2d(depthwise_conv2d(x, depthwise_filter, options), pointwise_filter);
}

Tensor max_pool1d(In x, std::int64_t ksize, std::int64_t strides, const std::string& padding) {
  return squeeze(max_pool2d(as_image("max_pool1d", x), one_high(ksize, strides, padding)), {1});
}
Tensor avg_pool1d(In x, std::int64_t ksize, std::int64_t strides, const std::string& padding) {
  return squeeze(avg_pool2d(as_image("avg_pool1d", x), one_high(ksize, strides, padding)), {1});
}

Tensor space_to_depth(In x, std::int64_t block_size) {
  const Shape& s = check_blocks("space_to_depth", x, block_size);
  const std::int64_t b = block_size;
  const Size h = s[1] / b, w = s[2] / b;
  if (!sizes_agree(s[1], h * b) || !sizes_agree(s[2], w * b)) bad_blocks("space_to_depth", s, b);
  const Tensor blocks = transpose(reshape(x, {s[0], h, b, w, b, s[3]}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], h, w, b * b * s[3]});
}

Tensor depth_to_space(In x, std::int64_t block_size) {
  const Shape& s = check_blocks("depth_to_space", x, block_size);
  const std::int64_t b = block_size;
  const Size channels = s[3] / (b * b);
  if (!sizes_agree(s[3], channels * (b * b))) bad_blocks("depth_to_space", s, b);
  const Tensor blocks =
      transpose(reshape(x, {s[0], s[1], s[2], b, b, channels}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], s[1] * b, s[2] * b, channels});
}

}  // namespace nn

// The axes in the order [batch, sequence, ...] and back.
Tensor reverse_sequence(In x, In seq_lengths, int seq_axis, int batch_axis) {
  const int s = normal_axis("reverse_sequence", seq_axis, x->rank());
  const int b = normal_axis("reverse_sequence", batch_axis, x->rank());
  if (s == b || seq_lengths->rank() != 1 || !sizes_agree(seq_lengths->shape()[0], x->shape()[b]) ||
      (seq_lengths->dtype() != int32 && seq_lengths->dtype() != int64)) {
    fail<InvalidArgumentError>(
        "[reverse_sequence] got seq_lengths of shape ", seq_lengths->shape(), " and dtype ",
        name_of(seq_lengths->dtype()), ", seq_axis ", s, " and batch_axis ", b, " for shape ",
        x->shape(), "; one integer for each of the batch and two different axes were ", "expected");
  }
  Ints order{b, s}, back;
  for (int i = 0; i < x->rank(); ++i)
    if (i != b && i != s) order.push_back(i);
  for (int i = 0; i < x->rank(); ++i) {
    back.push_back(std::find(order.begin(), order.end(), i) - order.begin());
  }
  const Tensor positions = iota(x->shape()[s], seq_lengths->dtype());
  const Tensor lengths = expand_dims(seq_lengths, 1);
  const Tensor from = where(less(positions, lengths), lengths - 1 - positions, positions);
  return transpose(gather(transpose(x, order), from, 1, 1), back);
}

Tensor cross(In a, In b) {
  if (a->rank() == 0 || b->rank() == 0 || a->shape().back() != 3 || b->shape().back() != 3) {
    fail<InvalidArgumentError>("[cross] got shapes ", a->shape(), " and ", b->shape(),
                               "; the last axis of both must have size 3");
  }
  const auto turned = [](const Tensor& x, std::int64_t n) { return roll(x, {-n}, {-1}); };
  return turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1);
}

Tensor add_n(const std::vector<Tensor>& inputs) {
  if (inputs.empty()) fail<InvalidArgumentError>("[add_n] got no tensors; at least one is needed");
  Tensor sum = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (!shapes_agree(inputs[i].shape(), sum.shape())) {
      fail<InvalidArgumentError>("[add_n] got shapes ", sum.shape(), " and ", inputs[i].shape(),
                                 "; all must be the same");
    }
    sum = sum + inputs[i];
  }
  return sum;
}

}  // namespace gradus
