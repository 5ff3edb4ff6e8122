#include "unit/ops_util.h"

namespace gradus {
namespace {

using Ints64 = std::vector<std::int64_t>;

Tensor numbered(const Shape& shape) { return reshape(range(shape.num_elements()), shape); }

TEST(Gather, BatchDimsAndAxes) {
  const Tensor x = numbered({2, 3, 2});
  EXPECT_EQ(integers_of(gather(x, Tensor{{0, 2}, {1, 1}}, {}, 1)),
            (Ints64{0, 1, 4, 5, 8, 9, 8, 9}));
  EXPECT_EQ(integers_of(gather(x, Tensor{{0, 1}, {1, 1}}, 2, 1)),
            (Ints64{0, 1, 2, 3, 4, 5, 7, 7, 9, 9, 11, 11}));
  EXPECT_EQ(gather(x, Tensor{{0, 1}}, 1).shape(), Shape({2, 1, 2, 2}));
  EXPECT_EQ(integers_of(gather(Tensor{5, 6, 7}, Tensor(2))), (Ints64{7}));
  EXPECT_EQ(gather(zeros({0, 2}), zeros({0}, int32)).shape(), Shape({0, 2}));
  EXPECT_THROW(gather(Tensor{1, 2}, Tensor{-1}), InvalidArgumentError);
  EXPECT_THROW(gather(Tensor{1, 2}, Tensor{2}), InvalidArgumentError);
  EXPECT_THROW(gather(Tensor{1, 2}, Tensor{0.0f}), InvalidArgumentError);
  EXPECT_THROW(gather(Tensor(1), Tensor{0}), InvalidArgumentError);
  EXPECT_THROW(gather(x, Tensor{{0}, {1}, {2}}, 1, 1), InvalidArgumentError);
  EXPECT_THROW(gather(x, Tensor{{0}, {1}}, 0, 1), InvalidArgumentError);
}

TEST(Gather, Derivatives) {
  const Tensor repeated = {{0, 2, 0}, {1, 1, 1}};
  for (const int axis : {0, 1, 2}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return square(gather(in[0], repeated, axis));
    };
    check_derivatives(f, {random_tensor({3, 4, 3})});
    check_batching(f, {random_tensor({3, 4, 3})}, 0);
  }
  const auto batched = [&](const std::vector<Tensor>& in) {
    return square(gather(in[0], in[1], 2, 1));
  };
  const std::vector<Tensor> in = {random_tensor({2, 2, 3}), repeated};
  check_derivatives(batched, in);
  check_batching(batched, in, 0);
  check_batching(batched, in, 1);
  check_batching([](const std::vector<Tensor>& a) { return gather(a[0], a[1], 2); }, in, 1);
}

TEST(Gather, GradientOfRowsStaysRows) {
  const Variable table(random_tensor({5, 2}));
  GradientTape tape;
  const Tensor y = gather(table, Tensor{3, 1, 3});
  const Gradient g = tape.gradient(reduce_sum(y * Tensor{{1.0}, {2.0}, {10.0}}), table);
  ASSERT_TRUE(g.is_rows());
  EXPECT_EQ(integers_of(g.indices()), (Ints64{3, 1, 3}));
  EXPECT_TRUE(near(g.tensor(), {0, 0, 2, 2, 0, 0, 11, 11, 0, 0}));
}

TEST(Gather, GradientOfGatherNdOfRowsStaysRows) {
  const Tensor x = random_tensor({3, 2});
  GradientTape tape;
  tape.watch(x);
  const Gradient g = tape.gradient(gather_nd(x, Tensor{{2}, {2}}), x);
  EXPECT_TRUE(g.is_rows());
  EXPECT_TRUE(near(g.tensor(), {0, 0, 0, 0, 2, 2}));
}

TEST(Scatter, LongSumsKeepTheirDigits) {
  // Ones on top of 2^24 would all be lost in float32.
  std::vector<float> values(1001, 1.0f);
  values[0] = 0x1p24f;
  const Tensor y = scatter_rows(zeros({1001}, int32), Tensor::from(values), {2});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0x1p24f + 1000, 0}));
}

TEST(GatherNd, CoordinatesAndBatches) {
  const Tensor x = numbered({2, 3, 4});
  EXPECT_EQ(integers_of(gather_nd(x, Tensor{{0, 1}, {1, 2}})),
            (Ints64{4, 5, 6, 7, 20, 21, 22, 23}));
  EXPECT_EQ(gather_nd(x, zeros({2, 0}, int32)).shape(), Shape({2, 2, 3, 4}));
  EXPECT_EQ(integers_of(gather_nd(x, Tensor{{1}, {0}}, 1)), (Ints64{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(gather_nd(x, Tensor{0, 1, 2}).item<int>(), 6);
  EXPECT_THROW(gather_nd(x, Tensor{{0, 5}}), InvalidArgumentError);
  EXPECT_THROW(gather_nd(x, Tensor{{0, -1}}), InvalidArgumentError);
  EXPECT_THROW(gather_nd(x, Tensor{{0, 0, 0, 0}}), InvalidArgumentError);
  EXPECT_THROW(gather_nd(x, Tensor{{1}}, 1), InvalidArgumentError);
}

TEST(ScatterNd, AddsAndReplaces) {
  const Tensor at = {{0}, {2}, {0}};
  EXPECT_EQ(integers_of(scatter_nd(at, Tensor{1, 2, 3}, {4})), (Ints64{4, 0, 2, 0}));
  const Tensor x = {10, 20, 30};
  EXPECT_EQ(integers_of(tensor_scatter_nd_add(x, at, Tensor{1, 2, 3})), (Ints64{14, 20, 32}));
  EXPECT_EQ(integers_of(tensor_scatter_nd_sub(x, at, Tensor{1, 2, 3})), (Ints64{6, 20, 28}));
  EXPECT_EQ(integers_of(tensor_scatter_nd_update(x, at, Tensor{1, 2, 3})), (Ints64{3, 20, 2}));
  EXPECT_EQ(integers_of(tensor_scatter_nd_max(x, at, Tensor{1, 40, 11})), (Ints64{11, 20, 40}));
  EXPECT_EQ(integers_of(tensor_scatter_nd_min(x, at, Tensor{1, 40, 11})), (Ints64{1, 20, 30}));
  EXPECT_EQ(integers_of(x), (Ints64{10, 20, 30}));
  EXPECT_THROW(scatter_nd(Tensor{{5}}, Tensor{1}, {4}), InvalidArgumentError);
  EXPECT_THROW(scatter_nd(at, Tensor{1, 2}, {4}), InvalidArgumentError);
  EXPECT_THROW(tensor_scatter_nd_add(x, at, Tensor{1.0f, 2.0f, 3.0f}), InvalidArgumentError);
}

TEST(ScatterNd, GradientsWithRepeats) {
  const Tensor at = {{1}, {1}};
  const std::vector<Tensor> ties = {Tensor{0.0, 9.0, 0.0}, Tensor{9.0, 9.0}};
  const auto max = [&](const std::vector<Tensor>& in) {
    return tensor_scatter_nd_max(in[0], at, in[1]);
  };
  EXPECT_TRUE(near(gradient_of(max, ties, 0), {1, 1.0 / 3, 1}));
  EXPECT_TRUE(near(gradient_of(max, ties, 1), {1.0 / 3, 1.0 / 3}));
  // Only the update that stays has an effect.
  const auto update = [&](const std::vector<Tensor>& in) {
    return tensor_scatter_nd_update(in[0], at, in[1]);
  };
  EXPECT_TRUE(near(gradient_of(update, ties, 0), {1, 0, 1}));
  EXPECT_TRUE(near(gradient_of(update, ties, 1), {0, 1}));
  const std::vector<Tensor> in = {random_tensor({3, 2}), random_tensor({4, 2}, 2)};
  const Tensor rows = {{2}, {0}, {2}, {2}};
  for (Tensor (*op)(In, In, In) :
       {tensor_scatter_nd_add, tensor_scatter_nd_sub, tensor_scatter_nd_update,
        tensor_scatter_nd_max, tensor_scatter_nd_min}) {
    const auto f = [&](const std::vector<Tensor>& a) { return square(op(a[0], rows, a[1])); };
    check_derivatives(f, in);
    check_batching(f, in, 0);
    check_batching(f, in, 1);
  }
}

// Where a result has no elements there is nothing to compute, but an index can still be wrong.
TEST(IndicesIntoNothing, AreRefusedEagerAndCompiled) {
  using Call = std::function<Tensor(const Tensor& at)>;
  const Tensor no_columns = zeros({3, 0}), no_rows = zeros({0, 2});
  const auto pair_at = [](const Tensor& at) { return stack({at, at}, 1); };
  const std::pair<const char*, Call> cases[] = {
      {"gather", [&](const Tensor& at) { return gather(no_columns, at); }},
      {"gather of an axis",
       [&](const Tensor& at) {
         return gather(zeros({0, 3}), at, 1);
       }},
      {"gather_nd", [&](const Tensor& at) { return gather_nd(no_columns, expand_dims(at, 1)); }},
      {"scatter_nd",
       [&](const Tensor& at) {
         return scatter_nd(expand_dims(at, 1), zeros({1, 0}), {3, 0});
       }},
      {"tensor_scatter_nd_update",
       [&](const Tensor& at) {
         return tensor_scatter_nd_update(no_columns, expand_dims(at, 1), zeros({1, 0}));
       }},
      {"unsorted_segment_sum",
       [&](const Tensor& at) {
         return unsorted_segment_sum(zeros({1, 0}), at, 3);
       }},
      {"sparse_matmul",
       [&](const Tensor& at) { return sparse_matmul(ones({1}), pair_at(at), no_columns, 3); }},
  };
  for (const auto& [name, call] : cases) {
    const auto compiled = gradus::function(call);
    EXPECT_EQ(call(Tensor{2}).shape().num_elements(), 0) << name;
    EXPECT_EQ(compiled(Tensor{2}).shape().num_elements(), 0) << name;
    EXPECT_THROW(call(Tensor{3}), InvalidArgumentError) << name;
    EXPECT_THROW(compiled(Tensor{3}), InvalidArgumentError) << name;
  }
  EXPECT_THROW(unsorted_segment_sum(Tensor{1.0f}, Tensor{0}, 0), InvalidArgumentError);
  EXPECT_THROW(scatter_nd(Tensor{{0}}, zeros({1, 2}), {0, 2}), InvalidArgumentError);
  EXPECT_THROW(tensor_scatter_nd_add(no_rows, Tensor{{0}}, zeros({1, 2})), InvalidArgumentError);
  EXPECT_EQ(unsorted_segment_sum(Tensor{1.0f}, Tensor{-1}, 0).shape(), Shape({0}));
}

}  // namespace
}  // namespace gradus
