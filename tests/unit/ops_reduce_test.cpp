#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Function over(Tensor (*op)(In, const Shape&, bool), Shape axes, bool keepdims = false) {
  return [=](const std::vector<Tensor>& in) { return op(in[0], axes, keepdims); };
}

TEST(Reduce, ProductIsDifferentiatedExactlyWithZeros) {
  const auto prod = [](const std::vector<Tensor>& in) { return reduce_prod(in[0]); };
  EXPECT_TRUE(near(gradient_of(prod, {Tensor{2.0, 0.0, 3.0}}), {0, 6, 0}));
  EXPECT_TRUE(near(gradient_of(prod, {Tensor{2.0, 0.0, 0.0}}), {0, 0, 0}));
  for (const Tensor& x : {Tensor{2.0, 0.0, 3.0, 0.0}, Tensor{0.0, 0.0, 0.0}, Tensor{1.0, 2.0}}) {
    check_derivatives(prod, {x});
    check_batching(prod, {x}, 0);
  }
}

TEST(Reduce, ThirdOrderOfAProductWithZeros) {
  // d3/dx0 dx1 dx2 of x0 x1 x2 is 1 wherever it is taken.
  const Tensor x = {0.0, 0.0, 0.0};
  const auto pick = [](const Tensor& g, std::int64_t i) { return reduce_sum(slice(g, {i}, {1})); };
  GradientTape outer;
  outer.watch(x);
  GradientTape middle;
  middle.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor g1 = inner.gradient(reduce_prod(x), x);
  const Tensor g2 = middle.gradient(pick(g1, 0), x);
  const Tensor g3 = outer.gradient(pick(g2, 1), x);
  EXPECT_TRUE(near(g3, {0, 0, 1}));
}

TEST(Reduce, ProductOverSeveralAxes) {
  const Tensor x = random_tensor({2, 3, 4});
  check_derivatives(over(reduce_prod, {0, 2}), {x});
  check_derivatives(over(reduce_prod, {1}, true), {x});
  check_derivatives(over(reduce_prod, {}), {x});
  EXPECT_TRUE(near(reduce_prod(zeros({2, 0}, float64), {1}), {1, 1}));
}

TEST(Reduce, ExtremaShareTheGradientAmongTies) {
  const auto max = [](const std::vector<Tensor>& in) { return reduce_max(in[0]); };
  EXPECT_TRUE(near(gradient_of(max, {Tensor{2.0, 5.0, 5.0, 1.0}}), {0, 0.5, 0.5, 0}));
  EXPECT_TRUE(near(gradient_of(max, {Tensor{2.0, kNaN, 5.0, kNaN}}), {0, 0.5, 0, 0.5}));
  EXPECT_TRUE(near(gradient_of(max, {Tensor{-0.0, 0.0}}), {0.5, 0.5}));
  const auto min = [](const std::vector<Tensor>& in) { return reduce_min(in[0]); };
  EXPECT_TRUE(near(gradient_of(min, {Tensor{-kInf, 5.0, -kInf}}), {0.5, 0, 0.5}));
  check_derivatives(over(reduce_max, {1}), {random_tensor({3, 4})});
  check_derivatives(over(reduce_min, {0, 2}, true), {random_tensor({2, 3, 4})});
  check_batching(over(reduce_max, {1}), {random_tensor({3, 4})}, 0);
}

TEST(Reduce, ExtremaOfNothingAreTheirIdentities) {
  EXPECT_TRUE(near(reduce_max(zeros({2, 0}, float64), {1}), {-kInf, -kInf}));
  EXPECT_EQ(reduce_max(zeros({2, 0}, int32), {1}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{INT32_MIN, INT32_MIN}));
  EXPECT_TRUE(near(reduce_min(zeros({0})), {kInf}));
  EXPECT_FALSE(reduce_any(zeros({0}, bool_)).item<bool>());
  EXPECT_TRUE(reduce_all(zeros({0}, bool_)).item<bool>());
  EXPECT_TRUE(reduce_any(Tensor{{false, true}, {false, false}}).item<bool>());
  EXPECT_EQ(reduce_all(Tensor{{false, true}, {true, true}}, {1}).to_vector<bool>(),
            (std::vector<bool>{false, true}));
}

TEST(Reduce, MeanOfNothingAndOfIntegers) {
  EXPECT_TRUE(std::isnan(reduce_mean(zeros({0})).item<float>()));
  EXPECT_EQ(reduce_mean(Tensor{1, 2, 4}).item<int>(), 2);
  EXPECT_EQ(reduce_mean(Tensor{-1, -2, -4}).item<int>(), -2);
  EXPECT_EQ(reduce_mean(zeros({0}, int32)).item<int>(), 0);
}

TEST(Reduce, VarianceAndDeviation) {
  EXPECT_TRUE(near(reduce_variance(Tensor{1.0, 2.0, 6.0}), {14.0 / 3}));
  const auto std = [](const std::vector<Tensor>& in) { return reduce_std(in[0]); };
  EXPECT_TRUE(near(gradient_of(std, {Tensor{2.0, 2.0, 2.0}}), {0, 0, 0}));
  EXPECT_TRUE(near(reduce_std(Tensor{2.0, 2.0}), {0}));
  EXPECT_TRUE(std::isnan(reduce_std(Tensor{2.0, kNaN}).item<double>()));
  check_derivatives(over(reduce_variance, {1}), {random_tensor({3, 4})});
  check_derivatives(over(reduce_std, {0}, true), {random_tensor({3, 4})});
  check_batching(over(reduce_variance, {0}), {random_tensor({3, 4})}, 0);
  // 16-bit floats far from zero: deviations are taken in float32.
  const Tensor x = cast(Tensor{1000.0f, 1001.0f, 1003.0f}, float16);
  EXPECT_NEAR(reduce_variance(x).item<float>(), 14.0 / 9, 1e-3);
  const auto [mean, variance] = moments(Tensor{{1.0, 2.0}, {3.0, 6.0}}, {0});
  EXPECT_TRUE(near(mean, {2, 4}));
  EXPECT_TRUE(near(variance, {1, 4}));
}

TEST(Reduce, EuclideanNormAtAnyScale) {
  const auto norm = [](const std::vector<Tensor>& in) { return reduce_euclidean_norm(in[0]); };
  for (const double scale : {1.0, 1e-200, 1e-320, 1e200, 3e307}) {
    const Tensor x = {3 * scale, -4 * scale};
    EXPECT_NEAR(norm({x}).item<double>() / (5 * scale), 1, scale < 1e-308 ? 1e-3 : 1e-15);
    EXPECT_TRUE(near(gradient_of(norm, {x}), {0.6, -0.8}, scale < 1e-308 ? 1e-3 : 1e-15));
  }
  EXPECT_FLOAT_EQ(reduce_euclidean_norm(Tensor{3e-30f, 4e-30f}).item<float>(), 5e-30f);
  EXPECT_EQ(reduce_euclidean_norm(cast(Tensor{300.0f, 400.0f}, float16)).item<float>(), 500);
  EXPECT_TRUE(near(gradient_of(norm, {Tensor{0.0, 0.0}}), {0, 0}));
  EXPECT_EQ(norm({Tensor{0.0, 0.0}}).item<double>(), 0);
  EXPECT_EQ(norm({Tensor{1.0, -kInf}}).item<double>(), kInf);
  EXPECT_TRUE(std::isnan(norm({Tensor{1.0, kNaN}}).item<double>()));
  EXPECT_EQ(norm({zeros({0}, float64)}).item<double>(), 0);
  // One row in range, one out of it.
  EXPECT_TRUE(
      near(reduce_euclidean_norm(Tensor{{3.0, 4.0}, {3e-200, 4e-200}}, {1}) * Tensor{1.0, 1e200},
           {5, 5}));
  check_derivatives(over(reduce_euclidean_norm, {1}), {random_tensor({3, 4})});
  check_derivatives(over(reduce_euclidean_norm, {0, 2}, true), {random_tensor({2, 3, 2})});
  check_batching(over(reduce_euclidean_norm, {1}), {random_tensor({3, 4})}, 0);
}

TEST(Reduce, CountsAndPositions) {
  EXPECT_EQ(integers_of(count_nonzero(Tensor{{0, 1}, {2, 3}}, {0})),
            (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(count_nonzero(Tensor{0.0, kNaN, -0.0}).item<int>(), 1);
  EXPECT_EQ(count_nonzero(Tensor{true, false, true}).item<int>(), 2);
  EXPECT_EQ(argmax(Tensor{1.0, 3.0, 3.0}).item<int>(), 1);
  EXPECT_EQ(argmax(Tensor{kNaN, 1.0}).item<int>(), 1);
  EXPECT_EQ(argmin(Tensor{kNaN, kNaN}).item<int>(), 0);
  EXPECT_EQ(argmax(Tensor{false, true}).item<int>(), 1);
  const Tensor positions = argmin(Tensor{{5, 1, 7}, {0, 2, 0}}, -1, int32);
  EXPECT_EQ(positions.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(argmax(Tensor{{5, 1, 7}, {0, 2, 0}}).dtype(), int64);
  EXPECT_THROW(argmax(zeros({0})), InvalidArgumentError);
  EXPECT_THROW(argmax(zeros({})), InvalidArgumentError);
  EXPECT_THROW(argmax(zeros({2}), 0, float32), InvalidArgumentError);
  check_batching([](const std::vector<Tensor>& in) { return argmax(in[0], -1); },
                 {random_tensor({3, 4})}, 0);
}

TEST(Reduce, BadAxesAreRefused) {
  EXPECT_THROW(reduce_sum(zeros({2, 2}), {2}), InvalidArgumentError);
  EXPECT_THROW(reduce_sum(zeros({2, 2}), {0, -2}), InvalidArgumentError);
  EXPECT_EQ(reduce_sum(ones({2, 2}), {}).shape(), Shape({2, 2}));
}

}  // namespace
}  // namespace gradus
