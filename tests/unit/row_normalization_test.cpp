// Normalisation written with moments and batch_normalization: by rows it is two ops, which give
// what the single ops give.
#include <gtest/gtest.h>

#include <cmath>

#include "gradus/gradus.h"

namespace gradus {
namespace {

Tensor normal(const Shape& shape, int seed, DType dtype = float32) {
  return random::stateless_normal(shape, Tensor({seed, 7}), {.dtype = dtype});
}

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset) {
  const auto [mean, variance] = moments(x, {-1}, true);
  return nn::batch_normalization(x, mean, variance, offset, scale, 1e-3);
}

Tensor layer_norm_of_single_ops(const Tensor& x, const Tensor& scale, const Tensor& offset) {
  const Tensor centred = x - reduce_mean(x, {-1}, true);
  return centred / sqrt(reduce_mean(square(centred), {-1}, true) + 1e-3) * scale + offset;
}

void expect_close(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  const std::vector<double> x = cast(a, float64).to_vector<double>();
  const std::vector<double> y = cast(b, float64).to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << "element " << i;
}

TEST(RowNormalization, ValuesAndGradientsAreThoseOfSingleOps) {
  for (const DType dtype : {float32, float64}) {
    const double tolerance = dtype == float32 ? 2e-4 : 1e-11;
    for (const Shape& shape : {Shape{3, 5}, Shape{100, 70}, Shape{2, 17, 33}, Shape{40, 1}}) {
      const Tensor x = normal(shape, 1, dtype), w = normal(shape, 2, dtype);
      const Tensor scale = normal({shape.back()}, 3, dtype),
                   offset = normal({shape.back()}, 4, dtype);
      const auto all = [&](auto f) {
        GradientTape tape;
        for (const Tensor& t : {x, scale, offset}) tape.watch(t);
        const Tensor y = f(x, scale, offset);
        std::vector<Tensor> out{y};
        for (const Gradient& g :
             tape.gradient(reduce_sum(y * w), std::vector<Source>{x, scale, offset}))
          out.push_back(g.tensor());
        return out;
      };
      const auto want = all(layer_norm_of_single_ops), got = all(layer_norm);
      const auto compiled = function([&] { return all(layer_norm); })();
      for (std::size_t i = 0; i < want.size(); ++i) {
        expect_close(got[i], want[i], tolerance);
        expect_close(compiled[i], want[i], tolerance);
      }
    }
  }
}

TEST(RowNormalization, IsTwoOpsWithOneSweepBack) {
  GradientTape tape;
  const Tensor x = normal({64, 48}, 1);
  tape.watch(x);
  const auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor one = ones({48});
    return tape.gradient(reduce_sum(square(layer_norm(x, one, one))), x).tensor();
  });
  f(x);
  EXPECT_NE(f.text().find("loop=[row_moments, "), std::string::npos) << f.text();
  EXPECT_EQ(f.text().find("= row_"), std::string::npos) << f.text();
}

TEST(RowNormalization, MomentsOfOtherAxesHalvesAndOneGradientOnly) {
  const Tensor x = normal({6, 4}, 5);
  const auto [over_rows, spread] = moments(x, {0});
  expect_close(over_rows, reduce_mean(x, {0}), 1e-6);
  expect_close(spread, reduce_variance(x, {0}), 1e-6);
  const auto [flat, variance] = moments(x, {1});
  EXPECT_EQ(flat.shape(), Shape({6}));
  expect_close(variance, reduce_variance(x, {1}), 1e-6);
  EXPECT_EQ(moments(cast(x, float16), {-1}).first.dtype(), float16);

  const auto by_mean =
      grad([](const Tensor& x) { return reduce_sum(square(moments(x, {-1}).first)); });
  const auto plain_mean =
      grad([](const Tensor& x) { return reduce_sum(square(reduce_mean(x, {-1}))); });
  expect_close(by_mean(x), plain_mean(x), 1e-6);
  const auto by_variance =
      grad([](const Tensor& x) { return reduce_sum(square(moments(x, {-1}).second)); });
  const auto plain_variance =
      grad([](const Tensor& x) { return reduce_sum(square(reduce_variance(x, {-1}))); });
  expect_close(by_variance(x), plain_variance(x), 1e-5);
}

TEST(RowNormalization, ShapesThatAreNoRowsGoThroughSingleOps) {
  const Tensor x = normal({5, 3}, 1), mean = normal({3}, 2), variance = square(normal({3}, 3));
  const Tensor y = nn::batch_normalization(x, mean, variance, Tensor(0.5f), Tensor(2.0f), 1e-3);
  expect_close(y, (x - mean) / sqrt(variance + 1e-3) * 2 + 0.5, 1e-4);
  EXPECT_EQ(layer_norm(zeros({0, 3}), ones({3}), zeros({3})).shape(), Shape({0, 3}));
  EXPECT_TRUE(std::isnan(moments(zeros({2, 0}), {-1}).first.data<float>()[0]));
}

}  // namespace
}  // namespace gradus
