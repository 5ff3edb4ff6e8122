#include <complex>
#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

using Ints64 = std::vector<std::int64_t>;
constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();

Ints64 of(const Tensor& t) { return integers_of(t); }

// The numbers below are TensorFlow's.
TEST(IntegerDivision, Signs) {
  const Tensor x = {7, -7, 7, -7}, y = {2, 2, -2, -2};
  EXPECT_EQ(of(floordiv(x, y)), (Ints64{3, -4, -4, 3}));
  EXPECT_EQ(of(floormod(x, y)), (Ints64{1, 1, -1, -1}));
  EXPECT_EQ(of(truncatediv(x, y)), (Ints64{3, -3, -3, 3}));
  EXPECT_EQ(of(truncatemod(x, y)), (Ints64{1, -1, 1, -1}));
  EXPECT_EQ(of(x / y), (Ints64{3, -3, -3, 3}));
  EXPECT_EQ(of(floordiv(Tensor{-6, 6, 0}, Tensor{3, -3, -3})), (Ints64{-2, -2, 0}));
  EXPECT_EQ(of(floormod(Tensor{-6, 6, 0}, 3)), (Ints64{0, 0, 0}));
  EXPECT_EQ(of(floordiv(Tensor{kLowest}, -1)), (Ints64{kLowest}));
  EXPECT_EQ(of(floormod(Tensor{kLowest}, -1)), (Ints64{0}));
  EXPECT_EQ(of(floordiv(cast(x, int8), cast(y, int8))), (Ints64{3, -4, -4, 3}));
  EXPECT_EQ(of(floordiv(cast(Tensor{-128}, int8), cast(-1, int8))), (Ints64{-128}));
  EXPECT_EQ(of(floormod(cast(x, int64), cast(y, int64))), (Ints64{1, 1, -1, -1}));
  EXPECT_EQ(of(floordiv(cast(Tensor{200, 7}, uint8), cast(Tensor{3, 9}, uint8))), (Ints64{66, 0}));
  EXPECT_TRUE(near(floordiv(Tensor{7.0, -7.0}, 2), {3, -4}));
  EXPECT_TRUE(near(truncatediv(Tensor{7.0, -7.0}, 2), {3, -3}));
}

TEST(IntegerDivision, ByZeroIsAnErrorOfIntegersOnly) {
  for (Tensor (*op)(In, In) : {divide, floordiv, floormod, truncatediv, truncatemod}) {
    EXPECT_THROW(op(Tensor{7, 8}, Tensor{2, 0}), InvalidArgumentError);
    EXPECT_THROW(op(Tensor{7, 8}, 0), InvalidArgumentError);
    EXPECT_THROW(op(Tensor{7}, make_batched(Tensor{{1}, {0}}, 1)), InvalidArgumentError);
    EXPECT_NO_THROW(op(Tensor{7.0}, 0));
    EXPECT_EQ(unbatch(op(Tensor{7}, make_batched(Tensor{{1}, {2}}, 1)), 1, 2).shape(),
              Shape({2, 1}));
  }
}

TEST(IntegerPower, Wraps) {
  EXPECT_EQ(of(pow(Tensor{2, -3, 0, 2, 5}, Tensor{10, 3, 0, 31, 40})),
            (Ints64{1024, -27, 1, kLowest, -1413876383}));
  EXPECT_EQ(of(pow(cast(Tensor{3, -1}, int64), cast(Tensor{39, 1000000001}, int64))),
            (Ints64{4052555153018976267, -1}));
  EXPECT_EQ(of(pow(cast(Tensor{2, 3}, uint8), 7)), (Ints64{128, 139}));
  EXPECT_EQ(pow(cast(Tensor{3}, uint64), 40).to_vector<std::uint64_t>()[0], 12157665459056928801u);
  EXPECT_THROW(pow(Tensor{2}, -1), InvalidArgumentError);
  EXPECT_THROW(pow(Tensor{1}, Tensor{-1}), InvalidArgumentError);
  EXPECT_TRUE(near(pow(Tensor{2.0}, -1), {0.5}));
}

TEST(Bitwise, AsInTensorFlow) {
  using namespace bitwise;
  EXPECT_EQ(of(bitwise_and(Tensor{5, -1}, Tensor{3, 7})), (Ints64{1, 7}));
  EXPECT_EQ(of(bitwise_or(Tensor{5, 0}, 3)), (Ints64{7, 3}));
  EXPECT_EQ(of(bitwise_xor(Tensor{5, -1}, Tensor{3, 7})), (Ints64{6, -8}));
  EXPECT_EQ(of(invert(Tensor{0, 5, -1})), (Ints64{-1, -6, 0}));
  EXPECT_EQ(of(invert(cast(Tensor{0, 5}, uint8))), (Ints64{255, 250}));
  EXPECT_EQ(of(left_shift(Tensor{1, 1, 1, -1}, Tensor{3, 31, 32, -1})),
            (Ints64{8, kLowest, kLowest, -1}));
  EXPECT_EQ(of(right_shift(Tensor{-8, 8, 1, -1}, Tensor{1, 1, 40, -1})), (Ints64{-4, 4, 0, -1}));
  EXPECT_EQ(of(right_shift(cast(Tensor{200}, uint8), cast(Tensor{9}, uint8))), (Ints64{1}));
  EXPECT_EQ(of(right_shift(cast(Tensor{-128}, int8), cast(Tensor{9}, int8))), (Ints64{-1}));
  const Tensor top = cast(Tensor{1}, uint64);
  EXPECT_EQ(of(right_shift(left_shift(top, 63), 62)), (Ints64{2}));
  EXPECT_THROW(bitwise_and(Tensor{1.0}, Tensor{1.0}), InvalidArgumentError);
}

TEST(IntegerMatmul, WrapsWithoutUndefinedBehaviour) {
  EXPECT_EQ(of(matmul(Tensor{{65536, 1}}, Tensor{{65536}, {5}})), (Ints64{5}));
  const Tensor big = cast(Tensor{{4294967296.0, 1.0}}, int64);
  EXPECT_EQ(of(matmul(big, big, {.transpose_b = true})), (Ints64{1}));
}

TEST(IntegerFunctions, OfTensorFlow) {
  EXPECT_EQ(of(sign(Tensor{-3, 0, 9})), (Ints64{-1, 0, 1}));
  EXPECT_EQ(of(sign(cast(Tensor{0, 9}, uint64))), (Ints64{0, 1}));
  EXPECT_EQ(of(clip_by_value(Tensor{-3, 0, 9}, -1, 4)), (Ints64{-1, 0, 4}));
  EXPECT_EQ(of(squared_difference(Tensor{-3, 4}, 1)), (Ints64{16, 9}));
}

Tensor z(double re, double im) { return complex(Tensor{re}, Tensor{im}); }
std::complex<double> first(const Tensor& t) { return t.data<std::complex<double>>()[0]; }
std::complex<double> slope(Tensor (*f)(In), const Tensor& at) {
  GradientTape tape;
  tape.watch(at);
  const Tensor y = f(at);
  return first(tape.gradient(y, at).tensor());
}

TEST(Complex, PartsAndGradients) {
  const Tensor x = z(3, 4);
  EXPECT_EQ(x.dtype(), complex128);
  EXPECT_EQ(complex(Tensor{1.0f}, Tensor{2.0f}).dtype(), complex64);
  EXPECT_TRUE(near(real(x), {3}));
  EXPECT_TRUE(near(imag(x), {4}));
  EXPECT_TRUE(near(abs(x), {5}));
  EXPECT_TRUE(near(abs(z(1e200, 1e200)), {1.4142135623730951e200}));
  EXPECT_TRUE(near(angle(x), {0.9272952180016122}));
  EXPECT_TRUE(near(angle(Tensor{1.0, -1.0, 0.0}), {0, 3.141592653589793, 0}));
  EXPECT_TRUE(near(imag(Tensor{1.0, -1.0}), {0, 0}));
  EXPECT_EQ(first(sqrt(z(-4, 0))), std::complex<double>(0, 2));
  EXPECT_EQ(slope(real, x), std::complex<double>(1, 0));
  EXPECT_EQ(slope(imag, x), std::complex<double>(0, 1));
  EXPECT_EQ(slope(abs, z(0, 0)), std::complex<double>(0, 0));
  EXPECT_NEAR(std::abs(slope(abs, x) - std::complex<double>(0.6, 0.8)), 0, 1e-15);
  EXPECT_NEAR(std::abs(slope(angle, x) - std::complex<double>(-0.16, 0.12)), 0, 1e-15);
  EXPECT_EQ(complex(Tensor{1.0, 2.0}, Tensor{{1.0}, {2.0}}).shape(), Shape({2, 2}));
  EXPECT_THROW(complex(Tensor{1.0}, Tensor{1.0f}), InvalidArgumentError);
}

TEST(Complex, DerivativesOfWhatPassesThroughThem) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor product = exp(complex(in[0], in[1])) * complex(in[1], 2.0 * in[0]);
    return abs(product) + imag(product) * angle(complex(in[0], in[1]));
  };
  const std::vector<Tensor> in = {random_tensor({3}, 1, 0.5, 1), random_tensor({3}, 2, 0.5, 1)};
  check_derivatives(f, in);
  check_batching(f, in, 0);
}

TEST(Complex, Matmul) {
  const Tensor a = complex(Tensor{{1.0, 2.0}}, Tensor{{0.0, 1.0}});
  EXPECT_EQ(first(matmul(a, linalg::adjoint(a))), std::complex<double>(6, 0));
  EXPECT_EQ(first(matmul(a, a, {.transpose_b = true})), std::complex<double>(4, 4));
}

TEST(EmptyRows, CrossEntropies) {
  EXPECT_TRUE(near(nn::softmax_cross_entropy_with_logits(zeros({2, 0}), zeros({2, 0})), {0, 0}));
  EXPECT_THROW(nn::sparse_softmax_cross_entropy_with_logits(Tensor{0, 0}, zeros({2, 0})),
               InvalidArgumentError);
  EXPECT_EQ(nn::softmax(zeros({2, 0})).shape(), Shape({2, 0}));
  EXPECT_EQ(nn::layer_normalization(zeros({2, 0}), zeros({0}), zeros({0})).shape(), Shape({2, 0}));
}

TEST(Predicates, OfFloats) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = {1.0, -inf, std::nan("")};
  EXPECT_EQ(of(cast(is_nan(x), int32)), (Ints64{0, 0, 1}));
  EXPECT_EQ(of(cast(is_inf(x), int32)), (Ints64{0, 1, 0}));
  EXPECT_EQ(of(cast(is_finite(x), int32)), (Ints64{1, 0, 0}));
  EXPECT_EQ(of(cast(logical_xor(Tensor{true, true}, Tensor{true, false}), int32)), (Ints64{0, 1}));
}

}  // namespace
}  // namespace gradus
