// What users read when they call an op wrongly: the op, what it got and what it expected.
#include <gtest/gtest.h>

#include "errors/message.h"

namespace gradus {
namespace {

TEST(OpErrors, ShapesThatDoNotBroadcast) {
  EXPECT_EQ(message([] {
              add(zeros({2, 3}), zeros({4}));
            }),
            "[add] shapes (2, 3) and (4,) do not broadcast: axis -1 is 3 and 4; sizes must be "
            "equal or 1");
  EXPECT_EQ(message([] { broadcast_to(zeros({3}), {2}); }),
            "[broadcast_to] shapes (3,) and (2,) do not broadcast: axis -1 is 3 and 2; sizes must "
            "be equal or 1");
  EXPECT_EQ(message([] {
              broadcast_to(zeros({2, 3}), {3});
            }),
            "[broadcast_to] shape (2, 3) does not broadcast to (3,)");
  EXPECT_EQ(message([] {
              broadcast_to(zeros({}), {2, -3});
            }),
            "[broadcast_to] got shape (2, -3); sizes must be at least 0");
}

TEST(OpErrors, MixedDtypes) {
  EXPECT_EQ(message([] { add(zeros({2}), zeros({2}, int32)); }),
            "[add] got dtypes float32 and int32; both must be the same, cast one of them");
  EXPECT_EQ(message([] {
              matmul(zeros({2, 2}), zeros({2, 2}, float64));
            }),
            "[matmul] got dtypes float32 and float64; both must be the same, cast one of them");
  EXPECT_EQ(message([] {
              nn::conv2d(zeros({1, 4, 4, 1}), zeros({2, 2, 1, 1}, float64));
            }),
            "[conv2d] got dtypes float32 and float64; all must be the same, cast one of them");
  EXPECT_EQ(message([] { zeros({2}, int32) + 0.5; }),
            "[add] cannot combine the real number 0.5 with a tensor of int32; cast the tensor to "
            "a float dtype first");
  EXPECT_EQ(message([] {
              GradientTape tape;
              tape.watch(zeros({2}, int32));
            }),
            "[GradientTape.watch] got a tensor of int32; only float and complex tensors have "
            "gradients, cast it");
  EXPECT_EQ(message([] { nn::softmax(zeros({2}, int32)); }),
            "[softmax] got dtype int32; it works on float16, bfloat16, float32, float64; cast the "
            "argument first");
}

TEST(OpErrors, Axes) {
  EXPECT_EQ(message([] {
              reduce_sum(zeros({2, 3}), {2});
            }),
            "[reduce_sum] axis 2 is out of range for a tensor of rank 2; it must be in [-2, 2)");
  EXPECT_EQ(message([] {
              reduce_sum(zeros({2, 3}), {1, -1});
            }),
            "[reduce_sum] axes (1, -1) name axis -1 twice");
  EXPECT_EQ(message([] {
              argmax(zeros({2, 3}), -3);
            }),
            "[argmax] axis -3 is out of range for a tensor of rank 2; it must be in [-2, 2)");
  EXPECT_EQ(message([] {
              argmax(zeros({2, 0}), 1);
            }),
            "[argmax] axis 1 of shape (2, 0) is empty; there is nothing to choose from");
  EXPECT_EQ(message([] { argmax(zeros({2}), 0, float32); }),
            "[argmax] output_type float32 cannot hold positions; use int32 or int64");
  EXPECT_EQ(message([] { cumsum(zeros({}), 0); }),
            "[cumsum] axis 0 is out of range for a tensor of rank 0; it must be in [0, 0)");
  EXPECT_EQ(message([] {
              transpose(zeros({2, 3}), {0});
            }),
            "[transpose] (0,) is not a permutation of the axes of a tensor of shape (2, 3)");
}

TEST(OpErrors, Matmul) {
  EXPECT_EQ(message([] {
              matmul(zeros({2, 3}), zeros({4, 5}));
            }),
            "[matmul] inner sizes 3 and 4 differ: shapes (2, 3) and (4, 5)");
  EXPECT_EQ(message([] {
              matmul(zeros({2, 3}), zeros({3, 5}), {.transpose_a = true});
            }),
            "[matmul] inner sizes 2 and 3 differ: shapes (2, 3) (transposed) and (3, 5)");
  EXPECT_EQ(message([] {
              matmul(zeros({3}), zeros({3, 5}));
            }),
            "[matmul] got shapes (3,) and (3, 5); both need at least two axes, add one with "
            "expand_dims");
}

TEST(OpErrors, Reshape) {
  EXPECT_EQ(message([] {
              reshape(zeros({2, 3}), {4});
            }),
            "[reshape] a tensor of shape (2, 3) has 6 elements; it cannot have shape (4,)");
  EXPECT_EQ(message([] {
              reshape(zeros({2, 3}), {4, -1});
            }),
            "[reshape] a tensor of shape (2, 3) has 6 elements; it cannot have shape (4, -1)");
  EXPECT_EQ(message([] {
              reshape(zeros({2, 3}), {-1, -1});
            }),
            "[reshape] shape (-1, -1) has more than one -1");
  EXPECT_EQ(message([] {
              reshape(zeros({2, 3}), {-2, -3});
            }),
            "[reshape] got shape (-2, -3); sizes must be at least 0 (or -1, once, for what is "
            "left)");
}

TEST(OpErrors, Blocks) {
  EXPECT_EQ(message([] {
              slice(zeros({2, 3}), {0, 2}, {2, 2});
            }),
            "[slice] begin (0, 2) and size (2, 2) do not describe a block of a tensor of shape "
            "(2, 3)");
  EXPECT_EQ(message([] {
              slice(zeros({2, 3}), {-1, 0}, {1, 1});
            }),
            "[slice] begin (-1, 0) and size (1, 1) do not describe a block of a tensor of shape "
            "(2, 3)");
  EXPECT_EQ(message([] { concat({}, 0); }), "[concat] got no tensors");
  EXPECT_EQ(
      message([] {
        concat({zeros({2, 3}), zeros({3, 3})}, 1);
      }),
      "[concat] part 1 has shape (3, 3), part 0 has (2, 3); they must agree except along axis 1");
}

TEST(OpErrors, Indices) {
  const Tensor table = zeros({4, 2});
  EXPECT_EQ(message([&] {
              gather(table, Tensor::from(std::vector<int>{0, 4}));
            }),
            "[gather] indices[1] = 4 is not in [0, 4)");
  EXPECT_EQ(message([&] { gather(table, zeros({2})); }),
            "[gather] indices must be int32 or int64, got float32");
  const Tensor logits = zeros({2, 3});
  EXPECT_EQ(
      message([&] {
        nn::sparse_softmax_cross_entropy_with_logits(Tensor::from(std::vector<int>{0, 3}), logits);
      }),
      "[sparse_softmax_cross_entropy_with_logits] label 3 at row 1 is out of range: it must "
      "be in [0, 3)");
  EXPECT_EQ(message([&] {
              nn::sparse_softmax_cross_entropy_with_logits(zeros({2, 3}, int32), logits);
            }),
            "[sparse_softmax_cross_entropy_with_logits] logits of shape (2, 3) need int32 or int64 "
            "labels of shape (2,); got shape (2, 3) and dtype int32");
}

TEST(OpErrors, Images) {
  EXPECT_EQ(message([] {
              nn::conv2d(zeros({1, 4, 4, 3}), zeros({2, 2, 2, 5}));
            }),
            "[conv2d] an input with 3 channels does not fit a filter of shape (2, 2, 2, 5); its in "
            "channels must divide them");
  EXPECT_EQ(message([] {
              nn::conv2d(zeros({4, 4, 3}), zeros({2, 2, 3, 5}));
            }),
            "[conv2d] got shapes (4, 4, 3) and (2, 2, 3, 5); the input is [batch, height, width, "
            "channels], the filter [height, width, in channels, out channels]");
  EXPECT_EQ(message([] {
              nn::max_pool2d(zeros({4, 4}));
            }),
            "[max_pool2d] got shape (4, 4); images are [batch, height, width, channels]");
}

TEST(OpErrors, UndefinedTensors) {
  EXPECT_EQ(message([] { add(zeros({2}), Tensor()); }),
            "[add] argument 1 is an undefined tensor: it was default-constructed or moved from, or "
            "is a gradient that does not exist");
  EXPECT_NE(message([] { reduce_sum(Tensor()); }).find("an undefined tensor was used"),
            std::string::npos);
  EXPECT_NE(message([] {
              concat({Tensor(), zeros({2})}, 0);
            }).find("undefined tensor"),
            std::string::npos);
}

TEST(OpErrors, SizesThatNoMemoryHolds) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(message<ResourceExhaustedError>([&] {
              zeros({huge, huge});
            }),
            "a tensor of shape (1099511627776, 1099511627776) and dtype float32 does not fit into "
            "memory");
  // Also when it is empty: what is around the empty axis would be walked through.
  EXPECT_EQ(message<ResourceExhaustedError>([&] {
              zeros({0, huge, huge});
            }),
            "a tensor of shape (0, 1099511627776, 1099511627776) and dtype float32 does not fit "
            "into memory");
  EXPECT_EQ(message<ResourceExhaustedError>([&] {
              reshape(zeros({2}), {huge, huge});
            }),
            "the size 1099511627776 * 1099511627776 does not fit into memory");
  EXPECT_EQ(cumsum(zeros({huge, 0}), 1).shape(), (Shape{huge, 0}));  // without walking through it
}

}  // namespace
}  // namespace gradus
