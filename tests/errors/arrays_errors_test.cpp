// What users read when they call ops on matrices, orders and segments wrongly.
#include <gtest/gtest.h>

#include "errors/message.h"

namespace gradus {
namespace {

TEST(MatrixErrors, Shapes) {
  EXPECT_EQ(message([] {
              linalg::cholesky(ones({2, 3}));
            }),
            "[cholesky] got shape (2, 3); square matrices (the last two axes) were expected");
  EXPECT_EQ(message([] {
              linalg::cholesky(ones({2, 2}, float16));
            }),
            "[cholesky] got dtype float16; it works on float32, float64; cast the argument first");
  EXPECT_EQ(message([] {
              linalg::solve(ones({2, 2}), ones({2, 1}));
            }),
            "[solve] matrix 0 of shape (2, 2) is singular: it has no inverse");
  EXPECT_EQ(message([] {
              linalg::solve(ones({2, 2}), ones({3, 1}));
            }),
            "[solve] got matrices of shape (2, 2) and dtype float32 and right-hand sides of shape "
            "(3, 1) and dtype float32; the number of rows and the dtype must agree");
  EXPECT_EQ(
      message([] {
        linalg::solve(ones({2, 2}), ones({2}));
      }),
      "[solve] got shapes (2, 2) and (2,); both need at least two axes, add one with expand_dims");
  EXPECT_EQ(message([] {
              linalg::det(ones({2, 3}));
            }),
            "[det] got shape (2, 3); square matrices (the last two axes) were expected");
  EXPECT_EQ(message([] {
              linalg::diag_part(ones({2, 3}), 3);
            }),
            "[matrix_diag_part] matrices of shape (2, 3) have no diagonal 3");
  EXPECT_EQ(message([] {
              linalg::diag(Tensor{1, 2}, -1, 4, 3);
            }),
            "[diag] a diagonal of length 2 is not diagonal -1 of a matrix of shape (4, 3)");
  EXPECT_EQ(message([] {
              linalg::set_diag(zeros({2, 2}), ones({3}));
            }),
            "[matrix_set_diag] got a diagonal of shape (3,) and dtype float32; shape (2,) and "
            "dtype float32 were expected");
  EXPECT_EQ(message([] {
              linalg::band_part(ones({2, 2}), 5, 0);
            }),
            "[band_part] num_lower 5 and num_upper 0 exceed matrices of shape (2, 2)");
  EXPECT_EQ(message([] { norm(ones({2}), -1); }),
            "[norm] ord is -1; use 1, 2, another number above 0 or infinity");
}

TEST(EinsumErrors, Equations) {
  const Tensor a = ones({2, 3}), b = ones({4, 3});
  EXPECT_EQ(message([&] {
              einsum("ij,jk->ik", {a, b});
            }),
            "[einsum] equation 'ij,jk->ik': label 'j' has size 3 and size 4");
  EXPECT_EQ(message([&] {
              einsum("ij->ij", {a, b});
            }),
            "[einsum] equation 'ij->ij': it has 1 operands, 2 tensors were given");
  EXPECT_EQ(message([&] {
              einsum("ij,kj->il", {a, b});
            }),
            "[einsum] equation 'ij,kj->il': output label 'l' must occur in an operand and once in "
            "the output");
  EXPECT_EQ(message([&] {
              einsum("ijk,kj->i", {a, b});
            }),
            "[einsum] equation 'ijk,kj->i': operand 0 has 3 labels for a tensor of shape (2, 3)");
  EXPECT_EQ(message([&] {
              einsum("i..j,kj->ik", {a, b});
            }),
            "[einsum] equation 'i..j,kj->ik': dots must be one '...' per operand");
  EXPECT_EQ(message([&] {
              einsum("ij,k1->ik", {a, b});
            }),
            "[einsum] equation 'ij,k1->ik': '1' is not a label");
  EXPECT_EQ(
      message([&] { tensordot(a, b, {1}, {0}); }),
      "[tensordot] axes (1,) of shape (2, 3) and (0,) of shape (4, 3) do not have the same sizes");
}

TEST(SortErrors, AxesAndSizes) {
  EXPECT_EQ(message([] { sort(Tensor(1.0)); }),
            "[sort] axis -1 is out of range for a tensor of rank 0; it must be in [0, 0)");
  EXPECT_EQ(
      message([] {
        top_k(Tensor{1, 2}, 3);
      }),
      "[top_k] k is 3 for a tensor of shape (2,); it must be at least 0 and at most the last size");
  EXPECT_EQ(message([] {
              searchsorted(Tensor{1, 2}, Tensor{1.0});
            }),
            "[searchsorted] got a sorted_sequence of shape (2,) and dtype int32 and values of "
            "shape (1,) and dtype float64; all axes but the last and the dtype must agree");
  EXPECT_EQ(message([] { unique(Tensor{{1}}); }),
            "[unique] got shape (1, 1); a vector was expected");
  EXPECT_EQ(message([] { where(Tensor(true)); }),
            "[where] got a scalar; a condition with at least one axis expected");
  EXPECT_EQ(message([] {
              boolean_mask(Tensor{1, 2}, Tensor{true});
            }),
            "[boolean_mask] a bool mask of shape (1,) does not fit a tensor of shape (2,) from "
            "axis 0 on; it must be bool and have at least one axis");
}

TEST(SegmentErrors, Ids) {
  const Tensor x = {1.0f, 2.0f, 3.0f};
  EXPECT_EQ(message([&] {
              unsorted_segment_sum(x, Tensor{0, 5, 2}, 3);
            }),
            "[unsorted_segment_sum] indices[1] = 5 is not in [0, 3)");
  EXPECT_EQ(message([&] {
              unsorted_segment_sum(x, Tensor{0, 1}, 3);
            }),
            "[unsorted_segment_sum] got data of shape (3,), segment_ids of shape (2,) and 3 "
            "segments; the data's shape must begin with that of the ids");
  EXPECT_EQ(message([&] { unsorted_segment_sum(x, x, 3); }),
            "[unsorted_segment_sum] indices must be int32 or int64, got float32");
  EXPECT_EQ(message([&] {
              segment_sum(x, Tensor{1, 0, 2});
            }),
            "[segment_sum] segment_ids[1] = 0; they must start at 0 or above and never decrease");
}

TEST(IntegerErrors, DivisorsAndExponents) {
  EXPECT_EQ(message([] {
              floordiv(Tensor{1, 2}, Tensor{1, 0});
            }),
            "[floordiv] element 1 of the divisor is 0; integers cannot be divided by zero");
  EXPECT_EQ(message([] {
              Tensor{1, 2} / 0;
            }),
            "[divide] element 0 of the divisor is 0; integers cannot be divided by zero");
  EXPECT_EQ(message([] {
              pow(Tensor{2, 2}, Tensor{1, -3});
            }),
            "[pow] element 1 of the exponent is -3; integers have no negative powers, cast them to "
            "a float dtype first");
  EXPECT_EQ(message([] { bitwise::invert(Tensor{1.0f}); }),
            "[invert] got dtype float32; it works on int8, int16, int32, int64, uint8, uint16, "
            "uint32, uint64; cast the argument first");
  EXPECT_EQ(message([] { complex(Tensor{1.0f}, Tensor{1.0}); }),
            "[complex] got dtypes float32 and float64; all must be the same, cast one of them");
  EXPECT_EQ(message([] {
              nn::sparse_softmax_cross_entropy_with_logits(Tensor{0}, zeros({1, 0}));
            }),
            "[sparse_softmax_cross_entropy_with_logits] logits of shape (1, 0) have no classes; at "
            "least one is needed");
}

}  // namespace
}  // namespace gradus
