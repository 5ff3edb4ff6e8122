#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

using Ints64 = std::vector<std::int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();

// The numbers below are TensorFlow's.
TEST(Bincount, LengthsAndWeights) {
  const Tensor x = {1, 1, 3};
  EXPECT_EQ(integers_of(bincount(x)), (Ints64{0, 2, 0, 1}));
  EXPECT_EQ(integers_of(bincount(x, {.minlength = 6})), (Ints64{0, 2, 0, 1, 0, 0}));
  EXPECT_EQ(integers_of(bincount(x, {.maxlength = 2})), (Ints64{0, 2}));
  EXPECT_TRUE(near(bincount(x, {.weights = Tensor{1.0f, 2.0f, 3.0f}}), {0, 3, 0, 3}));
  EXPECT_EQ(bincount(zeros({0}, int32)).num_elements(), 0);
  EXPECT_EQ(bincount(x, {.dtype = int64}).dtype(), int64);
  EXPECT_THROW(bincount(Tensor{1, -1, 3}), InvalidArgumentError);
  EXPECT_THROW(bincount(Tensor{1.0}), InvalidArgumentError);
  EXPECT_THROW(bincount(x, {.weights = Tensor{1.0f}}), InvalidArgumentError);
  const auto f = [&](const std::vector<Tensor>& in) {
    return square(bincount(x, {.weights = in[0]}));
  };
  check_derivatives(f, {random_tensor({3})});
}

TEST(ConfusionMatrix, RowsAreLabels) {
  const Tensor m = confusion_matrix(Tensor{1, 2, 4}, Tensor{2, 2, 4});
  EXPECT_EQ(m.shape(), Shape({5, 5}));
  EXPECT_EQ(m.dtype(), int32);
  EXPECT_EQ(integers_of(reduce_sum(m, {1})), (Ints64{0, 1, 1, 0, 1}));
  EXPECT_EQ(integers_of(confusion_matrix(Tensor{1, 2}, Tensor{2, 2}, 3, Tensor{0.5f, 2.0f})),
            (Ints64{0, 0, 0, 0, 0, 0, 0, 0, 2}));
  EXPECT_THROW(confusion_matrix(Tensor{1, 2, 4}, Tensor{2, 2, 4}, 3), InvalidArgumentError);
  EXPECT_THROW(confusion_matrix(Tensor{1, 2}, Tensor{2}), InvalidArgumentError);
}

TEST(InTopK, TiesAndWhatIsNotFinite) {
  const Tensor p = {{1.0, 2.0, 2.0}, {std::nan(""), 1.0, 2.0}, {1.0, 1.0, 1.0}};
  EXPECT_EQ(integers_of(cast(in_top_k(Tensor{1, 0, 2}, p, 2), int32)), (Ints64{1, 0, 1}));
  const Tensor q = {{1.0, 2.0, 2.0}, {1.0, 1.0, 2.0}};
  EXPECT_EQ(integers_of(cast(in_top_k(Tensor{5, -1}, q, 2), int32)), (Ints64{0, 0}));
  const Tensor r = {{1.0, 2.0, kInf}, {1.0, kInf, 2.0}};
  EXPECT_EQ(integers_of(cast(in_top_k(Tensor{1, 1}, r, 2), int32)), (Ints64{0, 0}));
  EXPECT_THROW(in_top_k(Tensor{1}, q, 2), InvalidArgumentError);
}

TEST(Losses, OfLogits) {
  const Tensor labels = {1.0, 0.0, 0.5}, logits = {2.0, -1000.0, 1000.0}, tame = {2.0, -1.0, 1.0};
  EXPECT_TRUE(
      near(nn::sigmoid_cross_entropy_with_logits(labels, logits), {0.12692801104297263, 0, 500}));
  // No digits are lost where the loss is small.
  EXPECT_TRUE(near(nn::sigmoid_cross_entropy_with_logits(Tensor{1.0}, Tensor{40.0}) * 1e17,
                   {0.42483542552915889}));
  EXPECT_TRUE(near(nn::weighted_cross_entropy_with_logits(labels, Tensor{2.0, -1000.0, 1.0}, 2),
                   {0.253856022, 0, 0.969892531}, 1e-7));
  const Tensor targets = {1.0, 0.0, 3.0};
  EXPECT_TRUE(
      near(nn::log_poisson_loss(targets, tame), {5.3890561, 0.36787944, -0.28171817}, 1e-7));
  EXPECT_TRUE(
      near(nn::log_poisson_loss(targets, tame, true), {5.3890561, 0.36787944, 1.4823633}, 1e-6));
  EXPECT_TRUE(near(nn::l2_loss(Tensor{3.0, 4.0}), {12.5}));
  EXPECT_TRUE(near(nn::l2_normalize(Tensor{{3.0, 4.0}, {0.0, 0.0}}, {1}), {0.6, 0.8, 0, 0}));
  const auto all = [&](const std::vector<Tensor>& in) {
    return nn::sigmoid_cross_entropy_with_logits(in[0], in[1]) +
           nn::weighted_cross_entropy_with_logits(in[0], in[1], 3.0) +
           nn::log_poisson_loss(2.0 + in[0], in[1], true) + nn::l2_normalize(in[1], {0});
  };
  check_derivatives(all, {random_tensor({3}, 1, 0.1, 0.9), random_tensor({3}, 2)});
}

TEST(BatchNorm, StatisticsAndGradients) {
  const Tensor x = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 7.0}}, ones_ = {1.0, 1.0}, zeros_ = {0.0, 0.0};
  const auto [y, mean, variance] = nn::fused_batch_norm(x, ones_, zeros_);
  EXPECT_TRUE(near(y, {-1.2245152, -1.1354156, 0, -0.16220224, 1.2245154, 1.2976177}, 2e-7));
  EXPECT_TRUE(near(mean, {3, 13.0 / 3}));
  EXPECT_TRUE(near(variance, {8.0 / 3, 38.0 / 9}));
  const auto f = [](const std::vector<Tensor>& in) {
    return square(nn::fused_batch_norm(in[0], in[1], in[2], 0.1).y);
  };
  const std::vector<Tensor> in = {random_tensor({2, 3, 2}), random_tensor({2}, 2),
                                  random_tensor({2}, 3)};
  check_derivatives(f, in);
  check_batching(f, in, 0);
  check_batching(f, in, 1);
  const auto through_statistics = [](const std::vector<Tensor>& in) {
    const auto r = nn::fused_batch_norm(in[0], Tensor{1.0, 2.0}, Tensor{0.0, 0.0});
    return r.mean * r.variance;
  };
  check_derivatives(through_statistics, {random_tensor({4, 2})});
  EXPECT_EQ(
      nn::fused_batch_norm(cast(x, float16), ones({2}, float16), zeros({2}, float16)).y.dtype(),
      float16);
  EXPECT_THROW(nn::fused_batch_norm(x, Tensor{1.0}, zeros_), InvalidArgumentError);
}

TEST(BatchNorm, ManyRowsAgainstSingleOps) {
  for (const Shape& shape : {Shape{1000, 7}, Shape{5, 3000}, Shape{70, 1}, Shape{1, 4}}) {
    const Tensor x = cast(random_tensor(shape), float32) + 3.0;
    const Tensor scale = cast(random_tensor({shape.back()}, 2), float32);
    const Tensor w = cast(random_tensor(shape, 5), float32);
    GradientTape tape;
    tape.watch(x);
    const Tensor fused = nn::fused_batch_norm(x, scale, scale).y;
    const auto [mean, variance] = moments(x, {0});
    const Tensor single = nn::batch_normalization(x, mean, variance, scale, scale, 1e-3);
    EXPECT_TRUE(near(fused, values_of(single), 2e-5));
    GradientTape again;
    again.watch(x);
    const auto [m, v] = moments(x, {0});
    const Tensor other = reduce_sum(nn::batch_normalization(x, m, v, scale, scale, 1e-3) * w);
    const Tensor one = reduce_sum(nn::fused_batch_norm(x, scale, scale).y * w);
    const auto want = again.gradient(other, x).tensor();
    const auto got = tape.gradient(one, x).tensor();
    EXPECT_TRUE(near(got, values_of(want), 2e-4)) << to_string(shape);
  }
}

// Rows that several threads would share add to the same sums.
TEST(LayerNorm, WideRowsOnSeveralThreads) {
  const Tensor x = cast(random_tensor({8, 5000}), float32),
               w = cast(random_tensor({8, 5000}, 2), float32);
  const Tensor scale = ones({5000}), offset = zeros({5000});
  const Tensor mean = reduce_mean(x, {1}, true);
  const Tensor normal = (x - mean) / sqrt(reduce_variance(x, {1}, true) + 1e-3);
  const Values want = values_of(reduce_sum(normal * w, {0}));
  for (int run = 0; run < 20; ++run) {
    GradientTape tape;
    tape.watch(scale);
    const Tensor y = nn::layer_normalization(x, scale, offset) * w;
    ASSERT_TRUE(near(tape.gradient(y, scale).tensor(), want, 1e-4));
  }
}

TEST(BatchNorm, LayerMovesItsStatisticsAsKeras) {
  keras::BatchNormalization layer(2);
  const Tensor x = {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 7.0f}};
  layer(x, true);
  EXPECT_TRUE(near(layer.moving_mean.value(), {0.03, 0.043333333}, 1e-6));
  EXPECT_TRUE(near(layer.moving_variance.value(), {1.0166667, 1.0322223}, 1e-6));
  EXPECT_TRUE(near(layer(zeros({1, 2}), false),
                   {-0.03 / std::sqrt(1.0176667), -0.043333333 / std::sqrt(1.0332223)}, 1e-5));
}

Tensor counted(const Shape& shape) {
  return cast(reshape(range(shape.num_elements()), shape), float64);
}

TEST(ImageShapes, OneDimensionAndChannels) {
  EXPECT_TRUE(
      near(nn::conv1d(counted({1, 4, 2}), counted({3, 2, 2}), 2, "SAME"), {110, 125, 76, 98}));
  EXPECT_TRUE(near(nn::depthwise_conv2d(counted({1, 2, 4, 2}), counted({2, 1, 2, 2})),
                   {32, 40, 56, 66, 40, 52, 72, 86, 48, 64, 88, 106, 56, 76, 104, 126}));
  EXPECT_EQ(
      nn::separable_conv2d(counted({1, 2, 4, 2}), counted({2, 1, 2, 2}), counted({1, 1, 4, 3}))
          .shape(),
      Shape({1, 1, 4, 3}));
  EXPECT_TRUE(near(nn::max_pool1d(counted({1, 4, 2}), 2, 2, "VALID"), {2, 3, 6, 7}));
  EXPECT_TRUE(near(nn::avg_pool1d(counted({1, 3, 2}), 2, 2, "SAME"), {1, 2, 4, 5}));
  EXPECT_THROW(nn::conv1d(counted({4, 2}), counted({3, 2, 2})), InvalidArgumentError);
  EXPECT_THROW(nn::depthwise_conv2d(counted({1, 2, 4, 3}), counted({2, 1, 2, 2})),
               InvalidArgumentError);
}

TEST(ImageShapes, BlocksAndDepth) {
  const Tensor deep = nn::space_to_depth(counted({1, 2, 4, 2}), 2);
  EXPECT_EQ(deep.shape(), Shape({1, 1, 2, 8}));
  EXPECT_TRUE(near(deep, {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_TRUE(near(nn::depth_to_space(counted({1, 1, 2, 8}), 2),
                   {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_THROW(nn::space_to_depth(counted({1, 3, 4, 2}), 2), InvalidArgumentError);
  EXPECT_THROW(nn::depth_to_space(counted({1, 1, 2, 6}), 2), InvalidArgumentError);
  EXPECT_THROW(nn::depth_to_space(counted({1, 1, 2, 6}), 0), InvalidArgumentError);
}

TEST(ReverseSequence, FirstPartsBackwards) {
  const Tensor x = counted({2, 4});
  EXPECT_TRUE(near(reverse_sequence(x, Tensor{2, 3}, 1), {1, 0, 2, 3, 6, 5, 4, 7}));
  EXPECT_TRUE(near(reverse_sequence(x, Tensor{1, 2, 0, 2}, 0, 1), {0, 5, 2, 7, 4, 1, 6, 3}));
  EXPECT_THROW(reverse_sequence(x, Tensor{1, 5}, 1), InvalidArgumentError);
  EXPECT_THROW(reverse_sequence(x, Tensor{1, 2}, 0), InvalidArgumentError);
  const auto f = [](const std::vector<Tensor>& in) {
    return square(reverse_sequence(in[0], Tensor{2, 3}, 2));
  };
  check_derivatives(f, {random_tensor({2, 2, 3})});
  check_batching(f, {random_tensor({2, 2, 3})}, 0);
}

TEST(Products, CrossAndSums) {
  EXPECT_TRUE(near(cross(Tensor{1.0, 2.0, 3.0}, Tensor{4.0, 5.0, 7.0}), {-1, 5, -3}));
  EXPECT_THROW(cross(Tensor{1.0}, Tensor{1.0}), InvalidArgumentError);
  EXPECT_TRUE(near(add_n({Tensor{1.0, 2.0}, Tensor{3.0, 4.0}, Tensor{5.0, 6.0}}), {9, 12}));
  EXPECT_THROW(add_n({}), InvalidArgumentError);
  EXPECT_THROW(add_n({Tensor{1.0}, Tensor{1.0, 2.0}}), InvalidArgumentError);
}

TEST(Categorical, TheNumbersOfTensorFlow) {
  const Tensor logits = log(Tensor{{0.5f, 0.5f, 1e-9f}, {0.1f, 0.1f, 0.8f}});
  random::set_seed(1);
  EXPECT_EQ(integers_of(random::categorical(logits, 8)),
            (Ints64{0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 2, 2, 0, 2, 0, 2}));
  random::set_seed(1);
  EXPECT_EQ(integers_of(random::categorical(logits, 8, 7)),
            (Ints64{0, 0, 1, 0, 0, 0, 1, 0, 2, 2, 2, 2, 2, 2, 0, 0}));
  EXPECT_EQ(integers_of(random::stateless_categorical(logits, 8, Tensor{1, 2})),
            (Ints64{1, 1, 0, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(integers_of(random::categorical(Tensor{{-kInf, 0.0, -kInf}}, 3)), (Ints64{1, 1, 1}));
  EXPECT_EQ(random::categorical(logits, 0).shape(), Shape({2, 0}));
  EXPECT_THROW(random::categorical(Tensor{1.0}, 3), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
