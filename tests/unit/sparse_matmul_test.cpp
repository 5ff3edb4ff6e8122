// Products with sparse matrices against dense ones: widths around the vector size, order, empty
// rows, long rows, dtypes, errors. Derivatives are tested with the record (tests/ops).
#include "gradus/sparse_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/threads.h"

namespace gradus {
namespace {

struct Sparse {
  Tensor values, places, dense;  // the same matrix in both forms
};

// Elements anywhere, several at one place.
Sparse random_sparse(DType dtype, std::int64_t rows, std::int64_t columns, int count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> values;
  std::vector<std::int64_t> places;
  for (int e = 0; e < count; ++e) {
    values.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8));
    places.push_back(static_cast<std::int64_t>(random()) % rows);
    places.push_back(static_cast<std::int64_t>(random()) % columns);
  }
  const Tensor v = cast(Tensor::from(values, {count}), dtype);
  const Tensor at = Tensor::from(places, {count, 2});
  return {v, at, scatter_nd(at, v, {rows, columns})};
}

Tensor whole_numbers(DType dtype, const Shape& shape) {
  std::vector<float> n;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    n.push_back(static_cast<float>(i * 7 % 11));
  return cast(Tensor::from(n, shape), dtype);
}

std::vector<double> numbers(const Tensor& t) {
  return reshape(cast(t, float64), {t.num_elements()}).to_vector<double>();
}

TEST(SparseMatmul, EqualsTheDenseProduct) {
  for (const DType dtype : {float32, float64, float16, bfloat16, int32, int64}) {
    for (const std::int64_t width : {1, 3, 8, 17, 64, 131}) {
      const Sparse s = random_sparse(dtype, 5, 4, 9, static_cast<int>(width));
      const Tensor b = whole_numbers(dtype, {4, width}), c = whole_numbers(dtype, {5, width});
      EXPECT_EQ(numbers(sparse_matmul(s.values, s.places, b, 5)), numbers(matmul(s.dense, b)));
      EXPECT_EQ(numbers(sparse_matmul(s.values, s.places, c, 4, {.transpose = true})),
                numbers(matmul(s.dense, c, {.transpose_a = true})));
      EXPECT_EQ(numbers(sampled_matmul(c, b, s.places)),
                numbers(gather_nd(matmul(c, b, {.transpose_b = true}), s.places)));
    }
  }
}

TEST(SparseMatmul, LeadingAxesAreABatch) {
  const Sparse s = random_sparse(float32, 3, 4, 6, 1);
  const Tensor b = whole_numbers(float32, {2, 3, 4, 5});
  EXPECT_EQ(numbers(sparse_matmul(s.values, s.places, b, 3)), numbers(matmul(s.dense, b)));
}

TEST(SparseMatmul, LongRowsKeepTheirDigitsAndTheirBits) {
  const std::int64_t count = 300001;
  const Tensor values = fill({count}, 0.1f), places = zeros({count, 2}, int64);
  const Tensor b = ones({1, 3}, float32);
  const int before = thread_count();
  set_thread_count(1);
  const std::vector<double> sum = numbers(sparse_matmul(values, places, b, 2));
  EXPECT_NEAR(sum[0], 0.1f * static_cast<double>(count), 0.1);
  EXPECT_EQ(sum[3], 0);
  set_thread_count(2);
  EXPECT_EQ(numbers(sparse_matmul(values, places, b, 2)), sum);
  set_thread_count(before);
}

TEST(SparseMatmul, NothingIsZeros) {
  const Tensor none = zeros({0}, float32), nowhere = zeros({0, 2}, int32);
  EXPECT_EQ(numbers(sparse_matmul(none, nowhere, ones({4, 2}, float32), 3)),
            std::vector<double>(6, 0.0));
  EXPECT_EQ(sparse_matmul(none, nowhere, ones({4, 0}, float32), 3).shape(), Shape({3, 0}));
  EXPECT_EQ(sparse_matmul(none, nowhere, ones({0, 2}, float32), 0).shape(), Shape({0, 2}));
  EXPECT_EQ(sampled_matmul(ones({2, 3}, float32), ones({4, 3}, float32), nowhere).shape(),
            Shape({0}));
}

TEST(SparseMatmul, SpecialValuesComeFromElementsOnly) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor values = {2.0f, 0.0f}, places = reshape(Tensor{0, 0, 1, 1}, {2, 2});
  const Tensor b = reshape(Tensor{-0.0f, inf}, {2, 1});
  const std::vector<double> y = numbers(sparse_matmul(values, places, b, 3));
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]));  // 0 * inf
  EXPECT_EQ(y[2], 0);             // no element
}

TEST(SparseMatmul, ErrorsSayWhatIsWrong) {
  const Tensor values = {1.0f}, b = ones({2, 2}, float32);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const InvalidArgumentError& e) {
      return e.message();
    }
    return "nothing";
  };
  EXPECT_NE(message([&] {
              sparse_matmul(values, reshape(Tensor{0, 5}, {1, 2}), b, 2);
            }).find("row 0 and column 5"),
            std::string::npos);
  EXPECT_NE(message([&] {
              sparse_matmul(values, Tensor{0, 1}, b, 2);
            }).find("[n, 2]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              sparse_matmul(cast(values, float64), reshape(Tensor{0, 1}, {1, 2}), b, 2);
            }).find("same dtype"),
            std::string::npos);
  EXPECT_NE(message([&] {
              sampled_matmul(b, ones({2, 3}, float32), reshape(Tensor{0, 1}, {1, 2}));
            }).find("number of their rows only"),
            std::string::npos);
}

}  // namespace
}  // namespace gradus
