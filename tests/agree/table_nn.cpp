// gd::nn, and random numbers that are functions of their seed.
#include "agree/call.h"

namespace agree {
namespace {

gd::nn::ConvOptions convolution_of(const Call& c) {
  gd::nn::ConvOptions options;
  if (c.has("strides")) options.strides = c.ints("strides");
  if (c.has("dilations")) options.dilations = c.ints("dilations");
  options.padding = c.s("padding", "VALID");
  if (c.has("explicit")) {
    options.padding = "EXPLICIT";
    options.explicit_padding = c.ints("explicit");
  }
  return options;
}

void add_activations(Table& table) {
  table["nn.relu"] = one(gd::nn::relu);
  table["nn.relu6"] = one(gd::nn::relu6);
  table["nn.leaky_relu"] =
      calls([](const Call& c) { return gd::nn::leaky_relu(c.t(0), c.d("alpha", 0.2)); });
  table["nn.elu"] = one(gd::nn::elu);
  table["nn.selu"] = one(gd::nn::selu);
  table["nn.gelu"] = calls([](const Call& c) { return gd::nn::gelu(c.t(0), c.b("approximate")); });
  table["nn.silu"] = one(gd::nn::silu);
  table["nn.mish"] = one(gd::nn::mish);
  table["nn.softsign"] = one(gd::nn::softsign);
  table["nn.hard_sigmoid"] = one(gd::nn::hard_sigmoid);
  table["nn.softmax"] =
      calls([](const Call& c) { return gd::nn::softmax(c.t(0), c.small("axis", -1)); });
  table["nn.log_softmax"] =
      calls([](const Call& c) { return gd::nn::log_softmax(c.t(0), c.small("axis", -1)); });
}

void add_entropies(Table& table) {
  table["nn.softmax_cross_entropy_with_logits"] = two(gd::nn::softmax_cross_entropy_with_logits);
  table["nn.sparse_softmax_cross_entropy_with_logits"] =
      two(gd::nn::sparse_softmax_cross_entropy_with_logits);
  table["nn.sigmoid_cross_entropy_with_logits"] = two(gd::nn::sigmoid_cross_entropy_with_logits);
  table["nn.weighted_cross_entropy_with_logits"] =
      three(gd::nn::weighted_cross_entropy_with_logits);
  table["nn.log_poisson_loss"] = calls([](const Call& c) {
    return gd::nn::log_poisson_loss(c.t(0), c.t(1), c.b("compute_full_loss"));
  });
  table["nn.l2_loss"] = one(gd::nn::l2_loss);
  table["nn.l2_normalize"] = calls([](const Call& c) {
    return gd::nn::l2_normalize(c.t(0), c.shape("axis"), c.d("epsilon", 1e-12));
  });
}

void add_windows(Table& table) {
  table["nn.conv2d"] =
      calls([](const Call& c) { return gd::nn::conv2d(c.t(0), c.t(1), convolution_of(c)); });
  table["nn.conv2d_transpose"] = calls([](const Call& c) {
    return gd::nn::conv2d_transpose(c.t(0), c.t(1), c.shape("output_shape"), convolution_of(c));
  });
  table["nn.bias_add"] = two(gd::nn::bias_add);
  table["nn.conv1d"] = calls([](const Call& c) {
    return gd::nn::conv1d(c.t(0), c.t(1), c.i("stride", 1), c.s("padding", "VALID"),
                          c.i("dilations", 1));
  });
  table["nn.depthwise_conv2d"] = calls(
      [](const Call& c) { return gd::nn::depthwise_conv2d(c.t(0), c.t(1), convolution_of(c)); });
  table["nn.separable_conv2d"] = calls([](const Call& c) {
    return gd::nn::separable_conv2d(c.t(0), c.t(1), c.t(2), convolution_of(c));
  });
  table["nn.space_to_depth"] =
      calls([](const Call& c) { return gd::nn::space_to_depth(c.t(0), c.i("block_size", 2)); });
  table["nn.depth_to_space"] =
      calls([](const Call& c) { return gd::nn::depth_to_space(c.t(0), c.i("block_size", 2)); });
#define POOL(name)                                                                                \
  table["nn." #name "2d"] = calls([](const Call& c) {                                             \
    return gd::nn::name##2d(c.t(0),                                                               \
                            {c.ints("ksize"), c.ints("strides"), c.s("padding", "VALID")});       \
  });                                                                                             \
  table["nn." #name "1d"] = calls([](const Call& c) {                                             \
    return gd::nn::name##1d(c.t(0), c.i("ksize", 2), c.i("strides", 2), c.s("padding", "VALID")); \
  })
  POOL(max_pool);
  POOL(avg_pool);
#undef POOL
}

void add_layers(Table& table) {
  table["nn.layer_normalization"] = calls([](const Call& c) {
    return gd::nn::layer_normalization(c.t(0), c.t(1), c.t(2), c.d("epsilon", 1e-3));
  });
  table["nn.batch_normalization"] = calls([](const Call& c) {
    return gd::nn::batch_normalization(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4),
                                       c.d("epsilon", 1e-3));
  });
  table["nn.fused_batch_norm"] = calls([](const Call& c) -> Tensors {
    const auto r = gd::nn::fused_batch_norm(c.t(0), c.t(1), c.t(2), c.d("epsilon", 1e-3));
    return {r.y, r.mean, r.variance};
  });
  table["nn.lstm"] = calls([](const Call& c) -> Tensors {
    const auto r = gd::nn::lstm(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.t(5),
                                c.count() > 6 ? c.t(6) : Tensor());
    return {r.sequence, r.h, r.c};
  });
  table["nn.gru"] = calls([](const Call& c) -> Tensors {
    const auto r =
        gd::nn::gru(c.t(0), c.t(1), c.t(2), c.t(3), c.t(4), c.count() > 5 ? c.t(5) : Tensor());
    return {r.sequence, r.h};
  });
}

void add_random(Table& table) {
  table["random.stateless_uniform"] = calls([](const Call& c) {
    return gd::random::stateless_uniform(c.shape("shape"), c.t(0),
                                         {.minval = c.d("minval", 0),
                                          .maxval = c.d("maxval", 1),
                                          .dtype = c.dtype("dtype", gd::float32)});
  });
  const auto normal = [](const Call& c) {
    return gd::random::NormalOptions{
        .mean = c.d("mean", 0), .stddev = c.d("stddev", 1), .dtype = c.dtype("dtype", gd::float32)};
  };
  table["random.stateless_normal"] = calls([normal](const Call& c) {
    return gd::random::stateless_normal(c.shape("shape"), c.t(0), normal(c));
  });
  table["random.stateless_truncated_normal"] = calls([normal](const Call& c) {
    return gd::random::stateless_truncated_normal(c.shape("shape"), c.t(0), normal(c));
  });
  table["random.stateless_categorical"] = calls([](const Call& c) {
    return gd::random::stateless_categorical(c.t(0), c.i("num_samples", 1), c.t(1));
  });
}

}  // namespace

void add_nn(Table& table) {
  add_activations(table);
  add_entropies(table);
  add_windows(table);
  add_layers(table);
  add_random(table);
}

}  // namespace agree
