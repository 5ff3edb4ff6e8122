#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

using Ints64 = std::vector<std::int64_t>;

TEST(Segments, AsInTensorFlow) {
  const Tensor x = {1.0f, 2.0f, 3.0f}, ids = {0, 0, 2};
  const float lowest = std::numeric_limits<float>::lowest();
  EXPECT_TRUE(near(unsorted_segment_sum(x, ids, 4), {3, 0, 3, 0}));
  EXPECT_TRUE(near(unsorted_segment_mean(x, ids, 4), {1.5, 0, 3, 0}));
  EXPECT_TRUE(near(unsorted_segment_sqrt_n(x, ids, 4), {3 / std::sqrt(2.0), 0, 3, 0}, 1e-6));
  EXPECT_TRUE(near(unsorted_segment_prod(x, ids, 4), {2, 1, 3, 1}));
  EXPECT_TRUE(near(unsorted_segment_max(x, ids, 4), {2, lowest, 3, lowest}));
  EXPECT_TRUE(near(unsorted_segment_min(x, ids, 4), {1, -lowest, 3, -lowest}));
  EXPECT_EQ(integers_of(unsorted_segment_max(Tensor{1, 2, 3}, ids, 2 + 1))[1], INT32_MIN);
  EXPECT_EQ(integers_of(unsorted_segment_sum(Tensor{1, 2, 3}, Tensor{0, -1, 2}, 3)),
            (Ints64{1, 0, 3}));
  EXPECT_THROW(unsorted_segment_sum(x, Tensor{0, 5, 2}, 3), InvalidArgumentError);
  EXPECT_THROW(unsorted_segment_sum(x, Tensor{0, 1}, 3), InvalidArgumentError);
  EXPECT_THROW(unsorted_segment_sum(x, ids, -1), InvalidArgumentError);
  EXPECT_THROW(unsorted_segment_sum(x, Tensor{0.0f, 1.0f, 2.0f}, 3), InvalidArgumentError);
}

TEST(Segments, SortedOnes) {
  const Tensor x = {1.0f, 2.0f, 3.0f}, ids = {0, 0, 2};
  EXPECT_TRUE(near(segment_sum(x, ids), {3, 0, 3}));
  EXPECT_TRUE(near(segment_mean(x, ids), {1.5, 0, 3}));
  EXPECT_TRUE(near(segment_prod(x, ids), {2, 1, 3}));
  EXPECT_TRUE(near(segment_max(x, ids), {2, 0, 3}));
  EXPECT_TRUE(near(segment_min(x, ids), {1, 0, 3}));
  EXPECT_EQ(segment_sum(zeros({0, 2}), zeros({0}, int32)).shape(), Shape({0, 2}));
  EXPECT_THROW(segment_sum(x, Tensor{1, 0, 2}), InvalidArgumentError);
  EXPECT_THROW(segment_sum(x, Tensor{-1, 0, 2}), InvalidArgumentError);
  EXPECT_THROW(segment_sum(x, make_batched(Tensor{{0, 0, 0}}, 1)), UnimplementedError);
}

TEST(Segments, TiesShareTheGradient) {
  const auto f = [](const std::vector<Tensor>& in) {
    return unsorted_segment_max(in[0], Tensor{0, 0, 1, -1}, 3);
  };
  EXPECT_TRUE(near(gradient_of(f, {Tensor{2.0, 2.0, 1.0, 4.0}}), {0.5, 0.5, 1, 0}));
  // A row that belongs to no segment gets nothing, even if it equals the filler.
  EXPECT_TRUE(near(gradient_of(f, {Tensor{2.0, 3.0, 1.0, 0.0}}), {0, 1, 1, 0}));
}

TEST(Segments, Derivatives) {
  const Tensor ids = {2, 0, -1, 2, 2, 1};
  const Tensor x = random_tensor({6, 2});
  for (Tensor (*op)(In, In, Size) : {unsorted_segment_sum, unsorted_segment_mean,
                                     unsorted_segment_sqrt_n, unsorted_segment_prod}) {
    const auto f = [&](const std::vector<Tensor>& in) { return square(op(in[0], in[1], 4)); };
    check_derivatives(f, {x, ids});
    check_batching(f, {x, ids}, 0);
    check_batching(f, {x, ids}, 1);
  }
  for (Tensor (*op)(In, In, Size) : {unsorted_segment_max, unsorted_segment_min}) {
    const auto f = [&](const std::vector<Tensor>& in) { return op(in[0], in[1], 4); };
    check_batching(f, {x, ids}, 0);
    const auto g = [&](const std::vector<Tensor>& in) { return square(op(in[0], ids, 3)); };
    check_derivatives(g, {x});
  }
  const auto matrix_ids = [](const std::vector<Tensor>& in) {
    return square(unsorted_segment_sum(in[0], Tensor{{0, 1}, {1, 1}}, 2));
  };
  check_derivatives(matrix_ids, {random_tensor({2, 2, 3})});
}

TEST(Segments, ProductsWithZeros) {
  const auto f = [](const std::vector<Tensor>& in) {
    return unsorted_segment_prod(in[0], Tensor{1, 0, 1, 1, 0, 2}, 4);
  };
  EXPECT_TRUE(near(gradient_of(f, {Tensor{2.0, 0.0, 0.0, 5.0, 3.0, 7.0}}), {0, 3, 10, 0, 0, 1}));
  check_derivatives(f, {Tensor{2.0, 0.0, 0.0, 0.0, 3.0, 0.0}});
  EXPECT_EQ(gradient_of(f, {Tensor{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}}).num_elements(), 6);
}

}  // namespace
}  // namespace gradus
