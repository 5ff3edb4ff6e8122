#include "unit/ops_util.h"

namespace gradus {
namespace {

const double kNaN = std::nan("");

TEST(Scan, FlagsAsInTensorFlow) {
  const Tensor x = {2.0, 3.0, 4.0};
  EXPECT_TRUE(near(cumsum(x), {2, 5, 9}));
  EXPECT_TRUE(near(cumsum(x, 0, false, true), {9, 7, 4}));
  EXPECT_TRUE(near(cumsum(x, 0, true), {0, 2, 5}));
  EXPECT_TRUE(near(cumsum(x, 0, true, true), {7, 4, 0}));
  EXPECT_TRUE(near(cumprod(x), {2, 6, 24}));
  EXPECT_TRUE(near(cumprod(x, 0, false, true), {24, 12, 4}));
  EXPECT_TRUE(near(cumprod(x, 0, true), {1, 2, 6}));
  EXPECT_TRUE(near(cumprod(x, 0, true, true), {12, 4, 1}));
}

TEST(Scan, LongSumsKeepTheirDigits) {
  // Ones on top of 2^24 would all be lost in float32.
  std::vector<float> values(100, 1.0f);
  values[0] = 0x1p24f;
  const Tensor y = cumsum(Tensor::from(values));
  EXPECT_EQ(y.data<float>()[98], 0x1p24f + 98);
  EXPECT_EQ(cumsum(ones({600}, bfloat16), 0, false, true).to_vector<bfloat>()[0], 600);
  // 1e16 + 1 - 1e16 loses the 1 in plain float64.
  EXPECT_TRUE(near(cumsum(Tensor{1e16, 1.0, -1e16}), {1e16, 1e16, 1}, 0));
}

TEST(Scan, InfinitiesStay) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(near(cumsum(Tensor{1.0, inf, 2.0, -inf, 3.0}), {1, inf, inf, kNaN, kNaN}));
  EXPECT_TRUE(
      near(cumsum(cast(Tensor{40000.0f, 40000.0f, -40000.0f}, float16)), {40000, inf, 40000}));
}

TEST(Scan, IntegersWrap) {
  const Tensor x = cast(Tensor{100, 100, -100}, int8);
  EXPECT_EQ(integers_of(cumsum(x)), (std::vector<std::int64_t>{100, -56, 100}));
}

TEST(Scan, OtherAxesAndManyColumns) {
  const Tensor x = random_tensor({3, 5, 130});
  const Tensor y = cumsum(x, 1);
  const double* p = x.data<double>();
  for (int o = 0; o < 3; ++o) {
    for (int i = 0; i < 130; ++i) {
      double sum = 0;
      for (int k = 0; k < 5; ++k) {
        sum += p[(o * 5 + k) * 130 + i];
        EXPECT_NEAR(y.data<double>()[(o * 5 + k) * 130 + i], sum, 1e-14);
      }
    }
  }
}

TEST(Scan, DerivativesWithEveryFlag) {
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      const auto sum = [&](const std::vector<Tensor>& in) {
        return cumsum(in[0], -1, exclusive, reverse);
      };
      const auto product = [&](const std::vector<Tensor>& in) {
        return cumprod(in[0], 1, exclusive, reverse);
      };
      const Tensor x = {{2.0, 0.0, -3.0, 0.5}, {0.0, 0.0, 1.0, 0.0}};
      check_derivatives(sum, {x});
      check_derivatives(product, {x});
      check_batching(product, {x}, 0);
    }
  }
}

TEST(Scan, ProductGradientWithAZero) {
  const auto f = [](const std::vector<Tensor>& in) { return cumprod(in[0]); };
  EXPECT_TRUE(near(gradient_of(f, {Tensor{2.0, 0.0, 3.0}}), {1, 8, 0}));
}

TEST(Scan, LinearRecurrence) {
  const Tensor a = {9.0, 2.0, 3.0}, b = {1.0, 1.0, 1.0};
  EXPECT_TRUE(near(linear_recurrence(a, b), {1, 3, 10}));
  EXPECT_TRUE(near(linear_recurrence(a, b, 0, true), {28, 3, 1}));
  EXPECT_TRUE(near(linear_recurrence(a, b, 0, false, true), {1, 10, 21}));
  EXPECT_TRUE(near(linear_recurrence(a, b, 0, true, true), {9, 4, 1}));
  for (const bool reverse : {false, true}) {
    for (const bool lag : {false, true}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        return linear_recurrence(in[0], in[1], 1, reverse, lag);
      };
      const std::vector<Tensor> in = {random_tensor({2, 4, 2}), random_tensor({2, 4, 2}, 2)};
      check_derivatives(f, in);
      check_batching(f, in, 1);
    }
  }
  EXPECT_THROW(linear_recurrence(a, zeros({2}, float64)), InvalidArgumentError);
}

TEST(Scan, Empty) {
  EXPECT_EQ(cumsum(zeros({0})).num_elements(), 0);
  EXPECT_EQ(cumprod(zeros({2, 0}), 1).shape(), Shape({2, 0}));
  EXPECT_THROW(cumsum(Tensor(1.0)), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
