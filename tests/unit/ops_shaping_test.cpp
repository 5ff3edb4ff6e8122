#include "unit/ops_util.h"

namespace gradus {
namespace {

using Ints64 = std::vector<std::int64_t>;

Tensor numbered(const Shape& shape) { return reshape(range(shape.num_elements()), shape); }

TEST(StridedSlice, WritesWhatPythonWrites) {
  const Tensor x = numbered({2, 3, 4});
  EXPECT_EQ(integers_of(index(x, {0, 0, Slice{.step = -2}})), (Ints64{3, 1}));
  EXPECT_EQ(integers_of(index(x, {0, 0, Slice{5, -9, -1}})), (Ints64{3, 2, 1, 0}));
  EXPECT_EQ(integers_of(index(x, {0, 0, Slice{2, 1}})), (Ints64{}));
  EXPECT_EQ(integers_of(index(x, {-1, ellipsis, 0})), (Ints64{12, 16, 20}));
  EXPECT_EQ(index(x, {ellipsis, new_axis, Slice{1}}).shape(), Shape({2, 3, 1, 3}));
  EXPECT_EQ(index(x, {new_axis, 1}).shape(), Shape({1, 3, 4}));
  EXPECT_EQ(index(x, {ellipsis}).shape(), x.shape());
  EXPECT_EQ(index(x, {}).shape(), x.shape());
  EXPECT_EQ(index(Tensor(3), {ellipsis, new_axis}).shape(), Shape({1}));
  EXPECT_EQ(integers_of(index(numbered({7}), {Slice{1, 6, 2}})), (Ints64{1, 3, 5}));
  EXPECT_EQ(integers_of(index(numbered({7}), {Slice{-1, std::nullopt, -3}})), (Ints64{6, 3, 0}));
  EXPECT_EQ(index(zeros({0}), {Slice{.step = -1}}).shape(), Shape({0}));
}

TEST(StridedSlice, Masks) {
  const Tensor x = numbered({2, 3, 4});
  EXPECT_EQ(integers_of(strided_slice(x, {0, 1}, {2, 3}, {1, 1})),
            (Ints64{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(strided_slice(x, {-1}, {0}, {1}, {.shrink_axis = 1}).shape(), Shape({3, 4}));
  EXPECT_EQ(strided_slice(x, {0, 0}, {1, 1}, {1, 1}, {.new_axis = 1, .shrink_axis = 1}).shape(),
            Shape({1, 1, 3, 4}));
  EXPECT_EQ(integers_of(strided_slice(x, {0, 1, 9}, {0, 2, 9}, {1, 1, -2},
                                      {.begin = 5, .end = 5, .ellipsis = 1})),
            (Ints64{7, 5, 19, 17}));
  EXPECT_THROW(strided_slice(x, {5}, {6}, {1}, {.shrink_axis = 1}), InvalidArgumentError);
  EXPECT_THROW(strided_slice(x, {1}, {6}, {-1}, {.shrink_axis = 1}), InvalidArgumentError);
  EXPECT_THROW(strided_slice(x, {1}, {6}, {0}), InvalidArgumentError);
  EXPECT_THROW(strided_slice(x, {0, 0}, {1, 1}, {1, 1}, {.ellipsis = 3}), InvalidArgumentError);
  EXPECT_THROW(strided_slice(x, {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}), InvalidArgumentError);
}

TEST(StridedSlice, Derivatives) {
  const auto f = [](const std::vector<Tensor>& in) {
    return index(in[0], {Slice{.step = -2}, 1, new_axis, Slice{1, 3}});
  };
  check_derivatives(f, {random_tensor({5, 2, 4})});
  check_batching(f, {random_tensor({5, 2, 4})}, 0);
}

TEST(Split, EqualPartsAndSizes) {
  const Tensor x = numbered({2, 6});
  const auto halves = split(x, 2, 1);
  EXPECT_EQ(integers_of(halves[1]), (Ints64{3, 4, 5, 9, 10, 11}));
  const auto parts = split(numbered({5}), {1, -1, 2});
  EXPECT_EQ(integers_of(parts[1]), (Ints64{1, 2}));
  EXPECT_EQ(integers_of(parts[2]), (Ints64{3, 4}));
  EXPECT_THROW(split(numbered({5}), 2), InvalidArgumentError);
  EXPECT_THROW(split(numbered({5}), {1, 1}), InvalidArgumentError);
  EXPECT_THROW(split(numbered({5}), {-1, -1}), InvalidArgumentError);
  EXPECT_THROW(split(numbered({5}), 0), InvalidArgumentError);
}

TEST(Split, MorePartsThanAnAttributeHolds) {
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < 25; ++i) sizes.push_back(i % 4);
  std::int64_t total = 0;
  for (std::int64_t s : sizes) total += s;
  const auto parts = split(numbered({total}), sizes);
  ASSERT_EQ(parts.size(), 25u);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].num_elements(), sizes[i]);
    for (std::int64_t v : integers_of(parts[i])) EXPECT_EQ(v, next++);
  }
}

TEST(Split, GradientsOfSomeParts) {
  const auto f = [](const std::vector<Tensor>& in) {
    const auto parts = split(in[0], {1, 2, 1}, 1);
    return square(parts[1]) * parts[0];
  };
  check_derivatives(f, {random_tensor({2, 4})});
  check_batching(f, {random_tensor({2, 4})}, 0);
}

TEST(Stack, AndUnstack) {
  const Tensor a = {1.0, 2.0}, b = {3.0, 4.0};
  EXPECT_TRUE(near(stack({a, b}), {1, 2, 3, 4}));
  EXPECT_TRUE(near(stack({a, b}, -1), {1, 3, 2, 4}));
  const auto rows = unstack(stack({a, b}), 1);
  EXPECT_TRUE(near(rows[1], {2, 4}));
  EXPECT_TRUE(unstack(zeros({0, 2})).empty());
  EXPECT_THROW(stack({a, Tensor{1.0}}), InvalidArgumentError);
  EXPECT_THROW(stack({}), InvalidArgumentError);
  const auto f = [](const std::vector<Tensor>& in) {
    const auto steps = unstack(in[0], 1);
    return stack({steps[0] * steps[2], square(steps[1])}, 1);
  };
  check_derivatives(f, {random_tensor({2, 3, 2})});
}

TEST(Squeeze, TakesOnlyAxesOfSizeOne) {
  const Tensor x = zeros({1, 2, 1});
  EXPECT_EQ(squeeze(x).shape(), Shape({2}));
  EXPECT_EQ(squeeze(x, {-1}).shape(), Shape({1, 2}));
  EXPECT_THROW(squeeze(x, {1}), InvalidArgumentError);
}

TEST(Pad, Modes) {
  const Tensor x = {1, 2, 3};
  EXPECT_EQ(integers_of(pad(x, {{1, 2}})), (Ints64{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(integers_of(pad(x, {{1, 2}}, PadMode::constant, 9)), (Ints64{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(integers_of(pad(x, {{2, 2}}, PadMode::reflect)), (Ints64{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(integers_of(pad(x, {{3, 2}}, PadMode::symmetric)), (Ints64{3, 2, 1, 1, 2, 3, 3, 2}));
  EXPECT_THROW(pad(x, {{3, 2}}, PadMode::reflect), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{4, 0}}, PadMode::symmetric), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{-1, 2}}), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{1, 1}, {1, 1}}), InvalidArgumentError);
  EXPECT_EQ(pad(zeros({0}), {{1, 1}}, PadMode::constant, 2.0).to_vector<float>(),
            (std::vector<float>{2, 2}));
}

TEST(Pad, Derivatives) {
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::symmetric}) {
    const auto f = [mode](const std::vector<Tensor>& in) {
      return square(pad(in[0], {{2, 1}, {0, 2}}, mode));
    };
    check_derivatives(f, {random_tensor({3, 4})});
    check_batching(f, {random_tensor({3, 4})}, 0);
  }
  const auto g = [](const std::vector<Tensor>& in) {
    return square(pad(in[0], {{2, 1}}, PadMode::constant, in[1]));
  };
  check_derivatives(g, {random_tensor({3}), Tensor(0.7)});
}

TEST(Repeat, TileRepeatReverseRoll) {
  const Tensor x = {{1, 2}, {3, 4}};
  EXPECT_EQ(integers_of(tile(x, {2, 2})), (Ints64{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(tile(x, {0, 2}).shape(), Shape({0, 4}));
  EXPECT_EQ(integers_of(repeat(x, 2)), (Ints64{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(integers_of(repeat(x, 2, 0)), (Ints64{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(integers_of(repeat(x, {1, 2}, 0)), (Ints64{1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(integers_of(repeat(x, {0, 2}, 1)), (Ints64{2, 2, 4, 4}));
  EXPECT_EQ(integers_of(reverse(x, {1})), (Ints64{2, 1, 4, 3}));
  EXPECT_EQ(integers_of(roll(Tensor{1, 2, 3, 4}, {7}, {0})), (Ints64{2, 3, 4, 1}));
  EXPECT_EQ(integers_of(roll(Tensor{{1, 2, 3}, {4, 5, 6}}, {1, -1}, {0, 1})),
            (Ints64{5, 6, 4, 2, 3, 1}));
  EXPECT_EQ(integers_of(roll(Tensor{1, 2, 3}, {1, 1}, {0, 0})), (Ints64{2, 3, 1}));
  EXPECT_THROW(tile(x, {2}), InvalidArgumentError);
  EXPECT_THROW(tile(x, {2, -1}), InvalidArgumentError);
  EXPECT_THROW(repeat(x, -1, 0), InvalidArgumentError);
  EXPECT_THROW(repeat(x, {1, 2, 3}, 0), InvalidArgumentError);
  EXPECT_THROW(roll(x, {1}, {0, 1}), InvalidArgumentError);
  EXPECT_THROW(reverse(x, {0, 0}), InvalidArgumentError);
  const auto f = [](const std::vector<Tensor>& in) {
    return tile(square(repeat(roll(reverse(in[0], {0}), {1}, {1}), {2, 1}, 0)), {1, 2});
  };
  check_derivatives(f, {random_tensor({2, 3})});
  check_batching(f, {random_tensor({2, 3})}, 0);
}

// What TensorFlow counts, among random ranges: most of these differ from the count in exact
// arithmetic, since numbers are counted as precisely as they are kept. tests/python compares 2400
// of them.
TEST(Makers, RangesHaveAsManyNumbersAsInTensorFlow) {
  EXPECT_EQ(range(0.1, 1.1, 0.1).num_elements(), 10);
  const struct {
    DType dtype;
    double start, limit, delta;
    std::int64_t count;
  } ranges[] = {
      {float32, 0.1, 1.1, 0.1, 10},
      {float32, -9.666666666666666, 98.22962267653182, 1.046875, 104},
      {float64, -3.5, 7920.880185147974, 97.0, 82},
      {float16, -7.333333333333333, 18.76143113018618, 1.0, 27},
      {bfloat16, -5.0, -148.6284172973678, -4.0, 36},
      {float32, 6.75, -11873.25, -66.0, 180},
      {float64, -6.75, -1221.75, -9.0, 135},
      {float16, 0.6666666666666666, 397.33333333333337, 11.333333333333334, 35},
      {bfloat16, 4.0, 4.0, 1.359375, 0},
      {float32, -2.25, -1266.25, -11.285714285714286, 112},
      {float16, 0.2, 103.53333333333335, 10.333333333333334, 10},
      {float32, -1.6666666666666665, -13.041666666666666, -0.21875, 52},
      {float16, -2.3000000000000003, 282.7, 15.0, 19},
      {float16, 2.4000000000000004, 752.4, 25.0, 30},
      {bfloat16, -0.8, 53.23125, 1.421875, 38},
      {bfloat16, -2.75, 29.234375, 1.390625, 23},
      {float16, -2.2, 1277.8, 64.0, 20},
      {bfloat16, -3.25, 52.75, 5.6, 10},
      {float32, 5.666666666666666, 3665.6666666666665, 60.0, 61},
      {float16, 1.6666666666666665, 7.479166666666666, 0.96875, 6},
      {bfloat16, 0.1, -38.233333333333334, -7.666666666666667, 5},
      {bfloat16, 1.0, -30.6875, -0.8125, 39},
      {bfloat16, -1.0, -0.15999999999999992, 0.28, 3},
      {float32, 6.333333333333333, 121.33333333333333, 5.0, 23},
      {float32, 4.75, 10.870000000000001, 0.06, 102},
      {float16, -2.6, 168.2, 6.1, 28},
      {bfloat16, 4.333333333333333, -402.6666666666667, -12.333333333333334, 33},
      {float32, -6.666666666666666, -32.406666666666666, -0.39, 66},
      {float32, 7.25, 14.809999999999999, 0.09, 84},
      {float32, 2.3000000000000003, 240.3, 34.0, 7},
      {float16, -5.0, 19.0, 1.1428571428571428, 21},
      {bfloat16, -0.4, 161.99999999999997, 5.6, 29},
      {float16, 1.7000000000000002, 18.419999999999998, 0.44, 38},
  };
  for (const auto& r : ranges) {
    const auto as = [&](double x) { return cast(Tensor(x), r.dtype); };
    EXPECT_EQ(range(as(r.start), as(r.limit), as(r.delta)).num_elements(), r.count)
        << name_of(r.dtype) << " " << r.start << " " << r.limit << " " << r.delta;
  }
}

TEST(Elementwise, TheLowerBoundWinsWhereBoundsCross) {
  EXPECT_EQ(clip_by_value(Tensor(1.5f), 3, 2).item<float>(), 3);
  EXPECT_EQ(clip_by_value(Tensor(9.0f), 3, 2).item<float>(), 3);
  EXPECT_EQ(clip_by_value(Tensor(9), 3, 2).item<int>(), 3);
  EXPECT_EQ(clip_by_value(Tensor(9.0f), 1, 2).item<float>(), 2);
}

TEST(Makers, RangesAndSpaces) {
  EXPECT_TRUE(near(range(0, 1, 0.25), {0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(range(0, 1, 0.25).dtype(), float32);
  EXPECT_EQ(range(5).dtype(), int32);
  EXPECT_EQ(integers_of(range(5, 0, -2)), (Ints64{5, 3, 1}));
  EXPECT_EQ(range(Tensor(3.0)).dtype(), float64);
  EXPECT_EQ(range(0).num_elements(), 0);
  EXPECT_EQ(range(0, 3, 0.1).num_elements(), 30);
  EXPECT_EQ(range(0, 3, 0.1).to_vector<float>()[27], 2.7f);  // not a sum of rounded steps
  EXPECT_THROW(range(3, 0), InvalidArgumentError);
  EXPECT_THROW(range(0, 3, 0), InvalidArgumentError);
  EXPECT_THROW(range(Tensor(1.0), Tensor(3)), InvalidArgumentError);
  EXPECT_THROW(range(Tensor{1, 2}), InvalidArgumentError);
  EXPECT_TRUE(near(linspace(0.0, 1.0, 5), {0, 0.25, 0.5, 0.75, 1}));
  EXPECT_TRUE(near(linspace(3.0, 1.0, 1), {3}));
  EXPECT_EQ(linspace(0, 10, 3).dtype(), float64);
  EXPECT_EQ(linspace(0.0, 1.0, 0).shape(), Shape({0}));
  EXPECT_TRUE(near(linspace(Tensor{0.0, 1.0}, Tensor{1.0, 3.0}, 3), {0, 1, 0.5, 2, 1, 3}));
  EXPECT_TRUE(near(linspace(Tensor{0.0, 1.0}, Tensor{1.0, 3.0}, 3, -1), {0, 0.5, 1, 1, 2, 3}));
  EXPECT_THROW(linspace(0.0, 1.0, -1), InvalidArgumentError);
  check_derivatives([](const std::vector<Tensor>& in) { return square(linspace(in[0], in[1], 4)); },
                    {Tensor(0.3), Tensor(2.0)});
}

TEST(Makers, EyeOneHotMasksAndGrids) {
  EXPECT_TRUE(near(eye(2, 3, {1}), {1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, 3, {1}).shape(), Shape({1, 2, 3}));
  EXPECT_TRUE(near(one_hot(Tensor{0, 2, -1, 5}, 3), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(one_hot(Tensor{0, 1}, 2).dtype(), float32);
  EXPECT_EQ(integers_of(one_hot(Tensor{0, 1}, 2, 5, -1)), (Ints64{5, -1, -1, 5}));
  EXPECT_EQ(one_hot(Tensor{{0, 1}}, 3, 1.0, 0.0, 0).shape(), Shape({3, 1, 2}));
  EXPECT_EQ(one_hot(Tensor{{0, 1}}, 3, 1.0, 0.0, 1).shape(), Shape({1, 3, 2}));
  EXPECT_THROW(one_hot(Tensor{0.0f}, 3), InvalidArgumentError);
  EXPECT_THROW(one_hot(Tensor{0}, -3), InvalidArgumentError);
  EXPECT_EQ(sequence_mask(Tensor{1, 3}).to_vector<bool>(),
            (std::vector<bool>{true, false, false, true, true, true}));
  EXPECT_TRUE(near(sequence_mask(Tensor{{1, 3}}, 2, float32), {1, 0, 1, 1}));
  const auto grid = meshgrid({Tensor{1, 2}, Tensor{3, 4, 5}});
  EXPECT_EQ(integers_of(grid[0]), (Ints64{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(integers_of(grid[1]), (Ints64{3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(meshgrid({Tensor{1, 2}, Tensor{3, 4, 5}}, "ij")[0].shape(), Shape({2, 3}));
  EXPECT_THROW(meshgrid({Tensor{1}}, "yx"), InvalidArgumentError);
}

TEST(Makers, ShapesAsTensors) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(integers_of(shape(x)), (Ints64{2, 3}));
  EXPECT_EQ(shape(x).dtype(), int32);
  EXPECT_EQ(shape(x, int64).dtype(), int64);
  EXPECT_EQ(shape(Tensor(1)).shape(), Shape({0}));
  EXPECT_EQ(size(x).item<int>(), 6);
  EXPECT_EQ(rank(x).item<int>(), 2);
  EXPECT_TRUE(near(zeros_like(ones({2}, float64)), {0, 0}));
  EXPECT_EQ(ones_like(Tensor{1, 2}).dtype(), int32);
}

TEST(Bitcast, SameLargerAndSmallerElements) {
  EXPECT_EQ(bitcast(Tensor(1.0f), int32).item<int>(), 0x3f800000);
  EXPECT_EQ(bitcast(Tensor{1.0f, 2.0f}, uint8).shape(), Shape({2, 4}));
  EXPECT_EQ(bitcast(bitcast(Tensor{1.0f, 2.0f}, uint8), float32).to_vector<float>(),
            (std::vector<float>{1, 2}));
  EXPECT_THROW(bitcast(Tensor{1.0f, 2.0f, 3.0f}, float64), InvalidArgumentError);
  EXPECT_THROW(bitcast(Tensor{true}, uint8), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
