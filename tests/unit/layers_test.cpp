#include "gradus/layers.h"

#include "keras_util.h"

namespace gradus {
namespace {

using namespace keras;

template <class L>
L with_ramps(L layer) {
  give_ramps(layer.variables());
  return layer;
}

const Tensor kMask = {{true, true, false}, {false, true, true}};

TEST(Layers, Dense) {
  expect_as_keras("dense", ramp({2, 3}), with_ramps(Dense(3, 2, "tanh")));
  const Dense plain = with_ramps(Dense(3, 2, {}, false));
  EXPECT_EQ(plain.variables().size(), 1u);
  expect_as_keras("dense/plain", ramp({2, 2, 3}), plain);
  EXPECT_EQ(plain(Tensor{{1, 2, 3}}).dtype(), float32);  // integers are cast
  EXPECT_THROW(plain(ramp({2, 4})), InvalidArgumentError);
}

TEST(Layers, Embedding) {
  const Embedding table = with_ramps(Embedding(4, 2));
  const Tensor rows = table(Tensor{{3, 0}});
  EXPECT_EQ(rows.shape(), Shape({1, 2, 2}));
  expect_near("row 3", index(rows, {0, 0}), {std::sin(0.7 * 6 + 1), std::sin(0.7 * 7 + 1)});
  EXPECT_EQ(table(Tensor{{3.0f, 0.0f}}).to_vector<float>(), rows.to_vector<float>());
  GradientTape tape;
  EXPECT_TRUE(tape.gradient(table(Tensor{{3, 0}}), table.embeddings).is_rows());
}

TEST(Layers, Convolutions) {
  expect_as_keras("conv1d", ramp({1, 5, 2}),
                  with_ramps(Conv1D(2, 2, 2, {.padding = "causal", .dilations = {2}})));
  const Conv2D conv = with_ramps(Conv2D(2, 2, 3, {.strides = {2, 2}, .padding = "same"}, "relu"));
  expect_as_keras("conv2d", ramp({1, 4, 5, 2}), conv);
  expect_as_keras("conv2d/groups", ramp({1, 2, 3, 4}),
                  with_ramps(Conv2D(4, 4, Shape{1, 2}, {.groups = 2})));
  expect_as_keras("conv1d_transpose", ramp({1, 3, 2}),
                  with_ramps(Conv1DTranspose(2, 2, 3, {.strides = {2}})));
  expect_as_keras("conv2d_transpose", ramp({1, 2, 2, 2}),
                  with_ramps(Conv2DTranspose(
                      2, 1, 3, {.strides = {2, 2}, .padding = "same", .output_padding = {1, 1}})));
  Conv2D first = conv;
  first.options.channels_first = true;
  const Tensor y = first(forms::to_channels_first(ramp({1, 4, 5, 2})));
  expect_near("channels first", forms::to_channels_last(y), keras_says("conv2d"));
  expect_near("halves", conv(cast(ramp({1, 4, 5, 2}), float16)), keras_says("conv2d"), 1e-2);
}

TEST(Layers, ConvolutionsRefuse) {
  EXPECT_THROW(Conv2D(2, 2, 3)(ramp({1, 2, 5, 2})), InvalidArgumentError);  // beyond the input
  EXPECT_THROW(Conv2D(2, 2, 3)(ramp({1, 5, 2})), InvalidArgumentError);
  EXPECT_THROW(Conv2D(2, 2, 3, {.padding = "causal"})(ramp({1, 5, 5, 2})), InvalidArgumentError);
  EXPECT_THROW(Conv2D(3, 4, 3, {.groups = 2}), InvalidArgumentError);
  EXPECT_THROW(Conv1D(2, 2, Shape{3, 3}), InvalidArgumentError);
}

TEST(Layers, Pooling) {
  const Tensor sequences = ramp({1, 5, 2}), images = ramp({1, 4, 5, 2});
  const PoolingOptions same{.padding = "same"};
  expect_as_keras("max_pooling1D", sequences, MaxPooling1D(same));
  expect_as_keras("max_pooling2D", images, MaxPooling2D(same));
  expect_as_keras("average_pooling1D", sequences,
                  AveragePooling1D({.pool_size = {2}, .strides = {1}}));
  expect_as_keras("average_pooling2D", images, AveragePooling2D({.strides = {1, 1}}));
  expect_as_keras("global_max_pooling1D", sequences, GlobalMaxPooling1D());
  expect_as_keras("global_max_pooling2D", images, GlobalMaxPooling2D());
  expect_as_keras("global_average_pooling1D", sequences,
                  GlobalAveragePooling1D({.keepdims = true}));
  expect_as_keras("global_average_pooling2D", images, GlobalAveragePooling2D({.keepdims = true}));
  expect_as_keras("global_average_pooling/mask", ramp({2, 3, 2}),
                  [](const Tensor& x) { return GlobalAveragePooling1D()(x, kMask); });
  const Tensor first =
      MaxPooling2D({.padding = "same", .channels_first = true})(forms::to_channels_first(images));
  expect_near("channels first", forms::to_channels_last(first), keras_says("max_pooling2D"));
}

TEST(Layers, BatchNormalization) {
  const auto made = [](std::int64_t channels, BatchNormalizationOptions options = {}) {
    const BatchNormalization layer(channels, options);
    give_ramps({layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance});
    layer.moving_variance.assign(square(layer.moving_variance));
    return layer;
  };
  expect_as_keras("batch_normalization", ramp({4, 3}),
                  [layer = made(3)](const Tensor& x) { return layer(x, false); });
  expect_as_keras("batch_normalization/training", ramp({4, 3}),
                  [layer = made(3)](const Tensor& x) { return layer(x, true); });
  expect_as_keras("batch_normalization/axis", ramp({2, 3, 2}),
                  [layer = made(3, {.axis = 1})](const Tensor& x) { return layer(x, true); });
  const BatchNormalization layer = made(3, {.momentum = 0.9});
  layer(ramp({4, 3}), true);
  expect_near("mean", layer.moving_mean, keras_says("batch_normalization/moving_mean"));
  expect_near("variance", layer.moving_variance, keras_says("batch_normalization/moving_variance"));
  EXPECT_THROW(made(3, {.axis = 3})(ramp({4, 3}), true), InvalidArgumentError);
}

TEST(Layers, Normalizations) {
  expect_as_keras("layer_normalization", ramp({2, 4}), with_ramps(LayerNormalization(4)));
  expect_as_keras("layer_normalization/axes", ramp({2, 2, 3}), [](const Tensor& x) {
    return forms::layer_normalization(x, ramp({2, 3}, 1), ramp({2, 3}, 2), {.axes = {1, 2}});
  });
  expect_as_keras("layer_normalization/first", ramp({2, 3, 2}), [](const Tensor& x) {
    return forms::layer_normalization(x, ramp({3}, 1), ramp({3}, 2), {.axes = {1}});
  });
  expect_as_keras("normalization", ramp({2, 3}), Normalization::adapted_to(ramp({5, 3}, 4)));
  const Normalization there = Normalization::adapted_to(ramp({5, 3}, 4));
  const Normalization back(there.mean, there.variance, true);
  const auto v = ramp({2, 3}).to_vector<float>();
  expect_near("back", back(there(ramp({2, 3}))), std::vector<double>(v.begin(), v.end()));
  expect_as_keras("rescaling", ramp({2, 3}), Rescaling(0.5, 0.25));
  expect_near("pixels", Rescaling(1 / 255.0)(cast(Tensor{0, 51, 255}, uint8)), {0, 0.2, 1});
}

TEST(Layers, DropoutDropsWhatKerasDrops) {
  const Dropout dropout(0.4, 3);
  expect_near("dropout", dropout(ones({4, 5}), true), keras_says("dropout"));
  EXPECT_EQ(dropout.seed_generator.state.value().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{3, 1}));
  const Tensor x = ramp({4, 5});
  EXPECT_EQ(dropout(x, false).impl(), x.impl());
  EXPECT_EQ(reduce_sum(abs(Dropout(1)(x, true))).item<float>(), 0);
  const Tensor rows = forms::dropout(ones({3, 50}), 0.5, Tensor{7, 8}, {0});
  EXPECT_EQ(reduce_sum(abs(index(rows, {0}) - index(rows, {2}))).item<float>(), 0);
  EXPECT_THROW(Dropout(1.5), InvalidArgumentError);
  EXPECT_THROW(forms::dropout(x, 0.5, Tensor{7, 8}, {2}), InvalidArgumentError);
}

template <class L>
void expect_recurrent(const std::string& name) {
  expect_as_keras(name, ramp({2, 3, 2}), with_ramps(L(2, 2)));
  expect_as_keras(name + "/mask", ramp({2, 3, 2}),
                  [layer = with_ramps(L(2, 2, {.return_sequences = true}))](const Tensor& x) {
                    return layer(x, kMask);
                  });
  expect_as_keras(name + "/backwards", ramp({2, 3, 2}),
                  with_ramps(L(2, 2, {.return_sequences = true, .go_backwards = true})));
  // A sequence in two parts, with the states handed over.
  const L layer = with_ramps(L(2, 2));
  const Tensor x = ramp({2, 3, 2});
  const RecurrentResult begun = layer.run(index(x, {Slice{}, Slice{.end = 2}}));
  expect_near(name, layer.run(index(x, {Slice{}, Slice{.begin = 2}}), begun.states).last,
              keras_says(name));
}

TEST(Layers, Recurrent) {
  expect_recurrent<LSTM>("lstm");
  expect_recurrent<GRU>("gru");
  expect_recurrent<SimpleRNN>("simple_rnn");
  EXPECT_THROW(LSTM(2, 2)(ramp({2, 2})), InvalidArgumentError);
  EXPECT_THROW(LSTM(2, 2).run(ramp({2, 3, 2}), {ramp({2, 2})}), InvalidArgumentError);
}

TEST(Layers, Bidirectional) {
  expect_as_keras("bidirectional", ramp({2, 3, 2}),
                  with_ramps(Bidirectional<GRU>(2, 2, {.return_sequences = true})));
  const auto mean = with_ramps(Bidirectional<LSTM>(2, 2, {.return_sequences = true}, "ave"));
  expect_as_keras("bidirectional/mask", ramp({2, 3, 2}),
                  [&](const Tensor& x) { return mean(x, kMask); });
  EXPECT_THROW(Bidirectional<GRU>(2, 2, {}, "both")(ramp({2, 3, 2})), InvalidArgumentError);
}

TEST(Layers, MultiHeadAttention) {
  const MultiHeadAttention attention = with_ramps(MultiHeadAttention(4, 2, 3));
  expect_as_keras("attention", ramp({2, 3, 4}), [&](const Tensor& x) { return attention(x, x); });
  expect_as_keras("attention/causal", ramp({2, 3, 4}),
                  [&](const Tensor& x) { return attention(x, x, forms::causal_mask(3, 3)); });
  EXPECT_THROW(attention(ramp({2, 3, 4}), ramp({1, 3, 4})), InvalidArgumentError);
  EXPECT_THROW(attention(ramp({3, 4}), ramp({3, 4})), InvalidArgumentError);
  const Tensor x = ramp({1, 2, 4}), never = zeros({1, 2, 2}, bool_);
  const forms::AttentionWeights w{
      attention.query_kernel, attention.query_bias, attention.key_kernel,    attention.key_bias,
      attention.value_kernel, attention.value_bias, attention.output_kernel, attention.output_bias};
  const auto scores = [&](bool all) {
    return forms::multi_head_attention(x, x, x, w, never, {.sees_all_if_nothing = all}).scores;
  };
  expect_near("all", scores(true), std::vector<double>(8, 0.5));
  expect_near("nothing", scores(false), std::vector<double>(8, 0));
}

TEST(Layers, Shaping) {
  const Tensor x = ramp({2, 3, 4});
  EXPECT_EQ(Flatten()(x).shape(), Shape({2, 12}));
  EXPECT_EQ(Flatten()(ramp({2})).shape(), Shape({2, 1}));
  EXPECT_EQ(Reshape({6, -1})(x).shape(), Shape({2, 6, 2}));
  EXPECT_EQ(Reshape({4, 3})(x).shape(), Shape({2, 4, 3}));
  EXPECT_THROW(Reshape({8})(x), InvalidArgumentError);  // 24 elements, but 12 of each example
  EXPECT_THROW(Reshape({5, -1})(x), InvalidArgumentError);
  const auto step = function([](const Tensor& in) { return Reshape({-1, 2})(Flatten()(in)); });
  EXPECT_EQ(step(x).shape(), Shape({2, 6, 2}));
  EXPECT_EQ(step(ramp({5, 3, 4})).shape(), Shape({5, 6, 2}));
  EXPECT_EQ(step(ramp({7, 3, 4})).shape(), Shape({7, 6, 2}));
}

TEST(Layers, Merging) {
  const Tensor a = {{1.0f, 2.0f}, {3.0f, 4.0f}}, b = {{5.0f, 6.0f}, {7.0f, 8.0f}};
  expect_near("add", Add()({a, b}), {6, 8, 10, 12});
  expect_near("subtract", Subtract()({a, b}), {-4, -4, -4, -4});
  expect_near("multiply", Multiply()({a, b}), {5, 12, 21, 32});
  expect_near("average", Average()({a, b}), {3, 4, 5, 6});
  expect_near("average of integers", Average()({Tensor{1, 2}, Tensor{2, 2}}), {1.5, 2});
  expect_near("maximum", Maximum()({a, 4 - a}), {3, 2, 3, 4});
  expect_near("minimum", Minimum()({a, 4 - a}), {1, 2, 1, 0});
  expect_near("concatenate", Concatenate()({a, b}), {1, 2, 5, 6, 3, 4, 7, 8});
  // What is missing stands behind the batch.
  EXPECT_EQ(Add()({ramp({2, 3, 4}), ramp({2, 4})}).shape(), Shape({2, 3, 4}));
  EXPECT_THROW(Add()({}), InvalidArgumentError);
}

TEST(Layers, SequentialPassesTheTrainingFlagOn) {
  random::set_seed(3);
  const Sequential model(Dense(4, 8, "relu"), Dropout(0.5), BatchNormalization(8), Reshape({2, 4}),
                         LSTM(4, 3), Lambda([](const Tensor& x) { return 2 * x; }), Softmax());
  EXPECT_EQ(model.variables().size(), 2u + 2u + 3u);
  const Tensor x = ramp({6, 4});
  EXPECT_EQ(model(x).shape(), Shape({6, 3}));
  const auto same = [&](bool training) {
    return reduce_all(equal(model(x, training), model(x, training))).item<bool>();
  };
  EXPECT_TRUE(same(false));
  EXPECT_FALSE(same(true));
}

template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const InvalidArgumentError& e) {
    return e.message();
  }
  return "";
}

TEST(Layers, RefuseSettingsThatMakeNoSense) {
  EXPECT_EQ(refusal([] { Conv2D(4, 8, 3, {.groups = 0}); }),
            "[convolution] got 0 groups of 4 channels and 8 filters; expected equal groups");
  EXPECT_EQ(refusal([] { Conv2DTranspose(4, 8, 3, {.groups = 2}); }),
            "[convolution_transpose] got 2 groups of 4 channels and 8 filters; expected 1 group");
  for (const Shape& size : {Shape{}, Shape{0}, Shape{3, 3, 3}})
    EXPECT_EQ(refusal([&] { Conv2D(1, 8, size); }),
              "[convolution] got a kernel of size " +
                  to_string(size.rank() == 1 ? Shape{0, 0} : size) +
                  "; expected 2 sizes of at least 1");
  EXPECT_EQ(
      refusal([] {
        Conv2D(1, 8, 3, {.strides = {1, 2, 3}})(ramp({1, 5, 5, 1}));
      }),
      "[convolution] got 3 strides for 2 spatial axes; expected one for each, or one for all");
  EXPECT_EQ(refusal([] {
              MaxPooling2D({.padding = "SAME"})(ramp({1, 5, 5, 1}));
            }),
            "[pooling] got padding 'SAME'; expected 'valid' or 'same'");
  EXPECT_EQ(refusal([] {
              GlobalMaxPooling1D()(ramp({4, 3}));
            }),
            "[global_pooling] got shape (4, 3); expected [batch, spatial..., channels]");
  EXPECT_EQ(refusal([] {
              SimpleRNN(3, 4)(ramp({2, 3}));
            }),
            "[recurrent] got sequences of shape (2, 3); expected [batch, time, features]");
  EXPECT_EQ(refusal([] { MultiHeadAttention(8, 2, 4, 1.5); }),
            "[MultiHeadAttention] got dropout 1.500000; expected a number from 0 to 1");
}

TEST(Layers, OneStrideStandsForAllAxes) {
  EXPECT_EQ(Conv2D(1, 2, 3, {.strides = {2}})(ramp({1, 9, 7, 1})).shape(), Shape({1, 4, 3, 2}));
  const Conv2DTranspose back(2, 1, 3, {.strides = {2}, .output_padding = {1}});
  EXPECT_EQ(back(ramp({1, 4, 3, 2})).shape(), Shape({1, 10, 8, 1}));
}

TEST(Layers, GlorotOfVectorsAndNumbersAsKeras) {
  EXPECT_LE(reduce_max(abs(glorot_uniform({1000}))).item<float>(), std::sqrt(6 / 2000.0));
  EXPECT_LE(std::abs(glorot_uniform({}).item<float>()), std::sqrt(3.0));
}

TEST(Activations, AreKerass) {
  const Tensor x = 3 * ramp({2, 4}, 0.3);
  int count = 0;
  for (const auto& [name, want] : kKerasNumbers) {
    if (name.rfind("activation/", 0) != 0 || name.find("/dx") != std::string::npos) continue;
    expect_as_keras(name, x, Activation(name.substr(11)));
    ++count;
  }
  EXPECT_EQ(count, 27);
  EXPECT_EQ(Activation("linear")(x).impl(), x.impl());
  EXPECT_EQ(Activation()(x).impl(), x.impl());
  expect_near("own", Activation([](const Tensor& v) { return v + 1; })(Tensor(1.0f)), {2});
  expect_near("sparsemax", Activation("sparsemax")(Tensor{{1.0f, 0.8f, -3.0f}}), {0.6, 0.4, 0});
  EXPECT_THROW(Activation("no such"), InvalidArgumentError);
}

TEST(Activations, Layers) {
  const Tensor x = ramp({2, 4});
  expect_as_keras("relu", x, ReLU({.negative_slope = 0.1, .threshold = 0.2, .max_value = 0.8}));
  expect_as_keras("leaky_relu", x, LeakyReLU());
  expect_as_keras("elu", x, ELU(0.5));
  const Tensor mask = {{true, false, true, true}, {true, true, false, true}};
  expect_as_keras("softmax/mask", x, [&](const Tensor& in) { return Softmax()(in, mask); });
  expect_near("all axes", reduce_sum(Softmax({0, 1})(x)), {1});
}

}  // namespace
}  // namespace gradus
