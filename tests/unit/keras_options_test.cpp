// Every option of layers, losses and optimizers with a value that is not its default, beside what
// Keras gives for it (the names that begin with "o/" in keras_numbers.h).
#include <memory>

#include "gradus/gradus.h"
#include "keras_util.h"

namespace gradus {
namespace {

using namespace keras;
namespace each = keras::per_sample;

template <class L>
L with_ramps(L layer) {
  give_ramps(layer.variables());
  return layer;
}

const Tensor kMask = {{true, true, false}, {false, true, true}};

TEST(KerasOptions, Convolutions) {
  expect_as_keras("o/conv2d/strides", ramp({1, 4, 5, 2}),
                  with_ramps(Conv2D(2, 2, 2, {.strides = {2, 1}})));
  expect_as_keras("o/conv2d/dilations", ramp({1, 4, 5, 2}),
                  with_ramps(Conv2D(2, 2, 2, {.padding = "same", .dilations = {2, 1}})));
  expect_as_keras(
      "o/conv2d/first", ramp({1, 2, 4, 3}),
      with_ramps(Conv2D(2, 4, 2, {.channels_first = true, .groups = 2, .use_bias = false})));
  expect_as_keras("o/conv1d/same", ramp({1, 5, 2}),
                  with_ramps(Conv1D(2, 2, 3, {.strides = {2}, .padding = "same"})));
  expect_as_keras("o/conv2d_transpose/first", ramp({1, 2, 2, 3}),
                  with_ramps(Conv2DTranspose(
                      2, 1, 2, {.strides = {2, 1}, .channels_first = true, .use_bias = false})));
  expect_as_keras("o/conv1d_transpose/dilations", ramp({1, 3, 2}),
                  with_ramps(Conv1DTranspose(2, 2, 3, {.dilations = {2}})));
}

TEST(KerasOptions, Pooling) {
  const PoolingOptions size{.pool_size = {3, 2}, .strides = {1, 2}, .padding = "same"};
  const PoolingOptions first{.pool_size = {3}, .strides = {2}, .channels_first = true};
  const GlobalPoolingOptions all{.keepdims = true, .channels_first = true};
  expect_as_keras("o/Max/size", ramp({1, 4, 5, 1}), MaxPooling2D(size));
  expect_as_keras("o/Average/size", ramp({1, 4, 5, 1}), AveragePooling2D(size));
  expect_as_keras("o/Max/first", ramp({1, 2, 7}), MaxPooling1D(first));
  expect_as_keras("o/Average/first", ramp({1, 2, 7}), AveragePooling1D(first));
  expect_as_keras("o/Max/global", ramp({1, 2, 3, 2}), GlobalMaxPooling2D(all));
  expect_as_keras("o/Average/global", ramp({1, 2, 3, 2}), GlobalAveragePooling2D(all));
}

TEST(KerasOptions, Normalizations) {
  const auto made = [](std::int64_t channels, BatchNormalizationOptions options) {
    const BatchNormalization layer(channels, options);
    give_ramps({layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance});
    layer.moving_variance.assign(square(layer.moving_variance));
    return layer;
  };
  expect_as_keras("o/batch/epsilon", ramp({4, 3}),
                  [layer = made(3, {.epsilon = 0.3})](const Tensor& x) { return layer(x, true); });
  const auto masked = [](const BatchNormalization& l, const Tensor& x) {
    return forms::batch_normalization_in_training(x, l.gamma, l.beta, l.moving_mean,
                                                  l.moving_variance, l.options, kMask);
  };
  const BatchNormalization once = made(2, {.momentum = 0.5});
  masked(once, ramp({2, 3, 2}));
  expect_near("mean", once.moving_mean, keras_says("o/batch/mask/mean"));
  expect_near("variance", once.moving_variance, keras_says("o/batch/mask/variance"));
  expect_as_keras("o/batch/mask", ramp({2, 3, 2}),
                  [&, layer = made(2, {})](const Tensor& x) { return masked(layer, x); });
  expect_as_keras("o/batch/mask_axis", ramp({2, 3, 2}),
                  [&, layer = made(3, {.axis = 1})](const Tensor& x) { return masked(layer, x); });
  EXPECT_THROW(masked(made(2, {}), ramp({2, 3, 4, 2})), InvalidArgumentError);
  expect_as_keras("o/layer/epsilon", ramp({2, 4}), with_ramps(LayerNormalization(4, 0.3)));
  expect_as_keras("o/layer/rms", ramp({2, 4}), [](const Tensor& x) {
    return forms::layer_normalization(x, ramp({4}, 1), {}, {.epsilon = 0.2, .rms = true});
  });
}

template <class L>
void expect_zeros_where_masked(const std::string& name) {
  const L layer = with_ramps(L(2, 2, {.return_sequences = true, .zero_output_for_mask = true}));
  expect_as_keras("o/" + name + "/zeros", ramp({2, 3, 2}),
                  [&](const Tensor& x) { return layer(x, kMask); });
}

TEST(KerasOptions, Recurrent) {
  expect_zeros_where_masked<LSTM>("lstm");
  expect_zeros_where_masked<GRU>("gru");
  expect_zeros_where_masked<SimpleRNN>("simple_rnn");
  expect_as_keras("o/simple_rnn/relu", ramp({2, 3, 2}), with_ramps(SimpleRNN(2, 2, {}, "relu")));
  for (const char* mode : {"sum", "mul", "ave"})
    expect_as_keras(std::string("o/bidirectional/") + mode, ramp({2, 3, 2}),
                    with_ramps(Bidirectional<GRU>(2, 2, {}, mode)));
}

Tensor between(const Shape& shape, double phase) { return abs(ramp(shape, phase)) * 0.8f + 0.1f; }
const Tensor& targets() {
  static const Tensor made = between({3, 4}, 2);
  return made;
}

template <class F>
void expect_loss(const std::string& name, const F& loss) {
  expect_as_keras("o/loss/" + name, between({3, 4}, 0.3),
                  [&](const Tensor& p) { return loss(targets(), p); });
}
template <class F>
void expect_wide_loss(const std::string& name, const F& loss) {
  expect_as_keras("o/loss/" + name, between({3, 4, 2}, 0.3), [&](const Tensor& p) {
    return loss(between({3, 4, 2}, 2), p);
  });
}

TEST(KerasOptions, Losses) {
  expect_loss("huber", [](In t, In p) { return each::huber(t, p, 0.1); });
  expect_loss("cosine", [](In t, In p) { return each::cosine_similarity(t, p, {0}); });
  expect_loss("tversky", [](In t, In p) {
    return each::tversky(t, p, {.alpha = 0.2, .beta = 0.9, .axes = Shape{1}});
  });
  expect_loss("dice", [](In t, In p) { return each::dice(t, p, Shape{1}); });
  const CrossentropyOptions smooth{.from_logits = false, .label_smoothing = 0.3};
  const CrossentropyOptions along{.from_logits = false, .axis = {1}};
  expect_loss("binary/smooth", [&](In t, In p) { return each::binary_crossentropy(t, p, smooth); });
  expect_loss("categorical/smooth",
              [&](In t, In p) { return each::categorical_crossentropy(t, p, smooth); });
  expect_wide_loss("binary/axis",
                   [&](In t, In p) { return each::binary_crossentropy(t, p, along); });
  expect_wide_loss("categorical/axis",
                   [&](In t, In p) { return each::categorical_crossentropy(t, p, along); });
}

TEST(KerasOptions, FocalLosses) {
  using Focal = Tensor (*)(In, In, const FocalOptions&);
  for (const auto& [name, focal] :
       {std::pair<std::string, Focal>("binary_focal", each::binary_focal_crossentropy),
        std::pair<std::string, Focal>("categorical_focal", each::categorical_focal_crossentropy)}) {
    const Focal f = focal;
    const bool is_binary = name == "binary_focal";
    expect_loss(name + "/gamma", [&](In t, In p) { return f(t, p, {.gamma = 1.5}); });
    expect_loss(name + "/alpha", [&](In t, In p) {
      return f(t, p, {.alpha = 0.7, .apply_class_balancing = is_binary});
    });
    expect_wide_loss(name + "/axis", [&](In t, In p) { return f(t, p, {.axis = {1}}); });
    expect_as_keras("o/loss/" + name + "/logits", ramp({3, 4}), [&](const Tensor& x) {
      return f(targets(), x, {.from_logits = true, .label_smoothing = 0.2});
    });
  }
}

TEST(KerasOptions, CirclesAndSequences) {
  const Tensor labels = {0, 1, 0, 2};
  const auto circle = [&](const Tensor& x, const CircleOptions& options) {
    return each::circle(labels, nn::l2_normalize(x, {1}), options);
  };
  expect_as_keras("o/loss/circle", ramp({4, 3}),
                  [&](const Tensor& x) { return circle(x, {.gamma = 2, .margin = 0.1}); });
  expect_as_keras("o/loss/circle/diagonal", ramp({4, 3}), [&](const Tensor& x) {
    return circle(x, {.gamma = 2, .remove_diagonal = false});
  });
  // Rows without a pair do not count.
  expect_as_keras("o/loss/circle/mean", ramp({4, 3}), [&](const Tensor& x) {
    return keras::circle(labels, nn::l2_normalize(x, {1}), {.gamma = 2});
  });
  // A label may have the number of the blank, and there may be none.
  expect_near("inside",
              each::ctc(Tensor{{1, 0, 2}, {0, 0, 0}}, ramp({2, 6, 4}), Tensor{2, 0}, Tensor{6, 6}),
              keras_says("o/loss/ctc/inside"));
  expect_as_keras("o/loss/ctc/blank", ramp({2, 5, 4}), [](const Tensor& x) {
    return each::ctc(Tensor{{1, 0}, {0, 2}}, x, Tensor{2, 2}, Tensor{5, 4}, 3);
  });
}

// A matrix after three steps of gradients that are ramps.
void expect_steps(const std::string& name, std::unique_ptr<Optimizer> optimizer) {
  const Variable v(Tensor{{1.0f, -2.0f, 0.5f}, {0.5f, 3.0f, -1.0f}}, {.name = "matrix"});
  for (int i = 0; i < 3; ++i) optimizer->apply({Gradient(ramp({2, 3}, i))}, {v});
  expect_near(name, v, keras_says("o/step/" + name), 5e-5);
}

TEST(KerasOptions, WhatAllOptimizersTake) {
  const std::pair<const char*, OptimizerOptions> options[] = {
      {"decay", {.weight_decay = 0.1}},
      {"norm", {.clipnorm = 0.5}},
      {"value", {.clipvalue = 0.3}},
      {"global", {.global_clipnorm = 0.7}},
      {"ema", {.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2}},
      {"scale", {.loss_scale_factor = 4}},
      {"several", {.gradient_accumulation_steps = 2}}};
  for (const auto& [name, o] : options) {
    expect_steps(std::string("sgd/") + name, std::make_unique<SGD>(0.1, 0, false, o));
    expect_steps(std::string("adam/") + name,
                 std::make_unique<Adam>(AdamSettings{.learning_rate = 0.1}, o));
  }
}

TEST(KerasOptions, Optimizers) {
  const AdamSettings adam{.learning_rate = 0.1, .beta_1 = 0.5, .beta_2 = 0.7, .epsilon = 0.1};
  const OptimizerOptions none{};
  expect_steps("sgd", std::make_unique<SGD>(0.1, 0.7, true));
  expect_steps("adagrad", std::make_unique<Adagrad>(0.1, 0.5, 0.1));
  expect_steps("adam", std::make_unique<Adam>(adam, none, true));
  expect_steps("adamw",
               std::make_unique<AdamW>(AdamWSettings{
                   .learning_rate = 0.1, .weight_decay = 0.2, .beta_1 = 0.5, .beta_2 = 0.7}));
  expect_steps("adamax", std::make_unique<Adamax>(adam));
  expect_steps("nadam", std::make_unique<Nadam>(adam));
  expect_steps(
      "rmsprop",
      std::make_unique<RMSprop>(RMSpropSettings{
          .learning_rate = 0.1, .rho = 0.5, .momentum = 0.6, .epsilon = 0.1, .centered = true}));
  expect_steps("adadelta", std::make_unique<Adadelta>(0.5, 0.7, 0.1));
  expect_steps("lion", std::make_unique<Lion>(0.1, 0.5, 0.7));
  expect_steps("ftrl",
               std::make_unique<Ftrl>(FtrlSettings{.learning_rate = 0.5,
                                                   .learning_rate_power = -0.3,
                                                   .initial_accumulator_value = 0.5,
                                                   .l1_regularization_strength = 0.02,
                                                   .l2_regularization_strength = 0.2,
                                                   .l2_shrinkage_regularization_strength = 0.1,
                                                   .beta = 0.4}));
  expect_steps("lamb", std::make_unique<Lamb>(LambSettings{
                           .learning_rate = 0.1, .beta_1 = 0.5, .beta_2 = 0.7, .epsilon = 0.1}));
  expect_steps("adafactor", std::make_unique<Adafactor>(AdafactorSettings{.learning_rate = 0.5,
                                                                          .beta_2_decay = -0.5,
                                                                          .epsilon_1 = 0.1,
                                                                          .epsilon_2 = 0.1,
                                                                          .clip_threshold = 0.5,
                                                                          .relative_step = false}));
  expect_steps("muon", std::make_unique<Muon>(MuonSettings{.learning_rate = 0.1,
                                                           .muon_a = 3.0,
                                                           .muon_b = -4.0,
                                                           .muon_c = 1.5,
                                                           .momentum = 0.5,
                                                           .ns_steps = 3,
                                                           .nesterov = false,
                                                           .rms_rate = 0.5}));
}

}  // namespace
}  // namespace gradus
