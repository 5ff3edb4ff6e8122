#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");
using Ints64 = std::vector<std::int64_t>;

TEST(Sort, OrdersAndPositions) {
  EXPECT_TRUE(near(sort(Tensor{3.0, kNaN, 1.0, -kInf}), {-kInf, 1, 3, kNaN}));
  EXPECT_TRUE(near(sort(Tensor{3.0, kNaN, 1.0}, -1, Direction::descending), {3, 1, kNaN}));
  EXPECT_EQ(integers_of(argsort(Tensor{2, 1, 2, 1})), (Ints64{1, 3, 0, 2}));
  EXPECT_EQ(integers_of(argsort(Tensor{2, 1, 2, 1}, 0, Direction::descending)),
            (Ints64{0, 2, 1, 3}));
  EXPECT_EQ(integers_of(sort(Tensor{{3, 1}, {2, 4}, {1, 9}}, 0)), (Ints64{1, 1, 2, 4, 3, 9}));
  EXPECT_EQ(sort(zeros({2, 0})).shape(), Shape({2, 0}));
  EXPECT_THROW(sort(Tensor(1.0)), InvalidArgumentError);
  EXPECT_THROW(sort(Tensor{1.0}, 1), InvalidArgumentError);
}

TEST(Sort, Derivatives) {
  for (const int axis : {0, 1, 2}) {
    const auto f = [axis](const std::vector<Tensor>& in) {
      return square(sort(in[0], axis, Direction::descending));
    };
    check_derivatives(f, {random_tensor({3, 2, 4})});
    check_batching(f, {random_tensor({3, 2, 4})}, 0);
  }
}

TEST(TopK, LargestFirst) {
  const auto [values, indices] = top_k(Tensor{1.0, 3.0, 3.0, kNaN, 2.0}, 3);
  EXPECT_TRUE(near(values, {3, 3, 2}));
  EXPECT_EQ(indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(top_k(Tensor{1, 2}, 0).values.shape(), Shape({0}));
  EXPECT_THROW(top_k(Tensor{1, 2}, 3), InvalidArgumentError);
  EXPECT_THROW(top_k(Tensor{1, 2}, -1), InvalidArgumentError);
  const auto f = [](const std::vector<Tensor>& in) { return square(top_k(in[0], 2).values); };
  EXPECT_TRUE(near(gradient_of(f, {Tensor{2.0, 2.0, 1.0, 4.0}}), {4, 0, 0, 8}));
  check_derivatives(f, {random_tensor({2, 4})});
  check_batching(f, {random_tensor({2, 4})}, 0);
}

TEST(SearchSorted, Sides) {
  const Tensor row = {1, 3, 3, 5}, values = {3, 0, 9};
  EXPECT_EQ(integers_of(searchsorted(row, values)), (Ints64{1, 0, 4}));
  EXPECT_EQ(integers_of(searchsorted(row, values, Side::right)), (Ints64{3, 0, 4}));
  EXPECT_EQ(searchsorted(row, values).dtype(), int32);
  EXPECT_EQ(searchsorted(row, values, Side::left, int64).dtype(), int64);
  EXPECT_EQ(integers_of(searchsorted(Tensor{{1, 3}, {2, 4}}, Tensor{{3}, {3}})), (Ints64{1, 1}));
  EXPECT_THROW(searchsorted(row, Tensor{{3}}), InvalidArgumentError);
  EXPECT_THROW(searchsorted(row, Tensor{3.0}), InvalidArgumentError);
  EXPECT_THROW(searchsorted(row, values, Side::left, float32), InvalidArgumentError);
}

TEST(Unique, InOrderOfAppearance) {
  const auto [y, idx, count] = unique(Tensor{3, 1, 3, 2});
  EXPECT_EQ(integers_of(y), (Ints64{3, 1, 2}));
  EXPECT_EQ(idx.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 0, 2}));
  EXPECT_EQ(integers_of(count), (Ints64{2, 1, 1}));
  EXPECT_EQ(unique(Tensor{kNaN, kNaN, 0.0, -0.0}).y.num_elements(), 3);
  EXPECT_EQ(unique(zeros({0})).y.num_elements(), 0);
  EXPECT_EQ(unique(Tensor{1}, int64).idx.dtype(), int64);
  EXPECT_THROW(unique(Tensor{{1}}), InvalidArgumentError);
}

TEST(Where, CoordinatesOfWhatIsTrue) {
  EXPECT_EQ(integers_of(where(Tensor{{true, false}, {false, true}})), (Ints64{0, 0, 1, 1}));
  EXPECT_EQ(integers_of(where(Tensor{0, 1, -2})), (Ints64{1, 2}));
  EXPECT_EQ(where(zeros({2, 3}, bool_)).shape(), Shape({0, 2}));
  EXPECT_THROW(where(Tensor(true)), InvalidArgumentError);
}

TEST(BooleanMask, AlongAxes) {
  const Tensor x = {{1, 2}, {3, 4}};
  EXPECT_EQ(integers_of(boolean_mask(x, Tensor{true, false})), (Ints64{1, 2}));
  EXPECT_EQ(integers_of(boolean_mask(x, Tensor{{true, false}, {false, true}})), (Ints64{1, 4}));
  EXPECT_EQ(integers_of(boolean_mask(x, Tensor{true, false}, 1)), (Ints64{1, 3}));
  EXPECT_EQ(boolean_mask(x, Tensor{false, false}).shape(), Shape({0, 2}));
  EXPECT_THROW(boolean_mask(x, Tensor{true}), InvalidArgumentError);
  EXPECT_THROW(boolean_mask(x, Tensor{1, 0}), InvalidArgumentError);
  EXPECT_THROW(boolean_mask(x, Tensor(true)), InvalidArgumentError);
  const Tensor mask = {{true, false, true}, {false, true, true}};
  check_derivatives(
      [&](const std::vector<Tensor>& in) { return square(boolean_mask(in[0], mask, 1)); },
      {random_tensor({2, 2, 3, 2})});
}

TEST(Choosing, ExamplesOfDifferentSizesAreRefused) {
  const Tensor example = make_batched(Tensor{{true, false}}, 1);
  EXPECT_THROW(where(example), UnimplementedError);
  EXPECT_THROW(boolean_mask(Tensor{1.0, 2.0}, example), UnimplementedError);
  EXPECT_THROW(unique(make_batched(Tensor{{1, 2}}, 1)), UnimplementedError);
  const Tensor masks = {{true, false, true}, {false, false, true}};
  EXPECT_EQ(to_string(vmap([](const Tensor& m) { return where(m, 2); })(masks)),
            "[[[0]\n  [2]]\n\n [[2]\n  [0]]]");
}

}  // namespace
}  // namespace gradus
