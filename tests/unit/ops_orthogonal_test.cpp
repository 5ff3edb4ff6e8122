#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

using linalg::matrix_transpose;

Tensor symmetric(const Tensor& x) { return x + matrix_transpose(x); }

TEST(Eigh, ValuesAndVectors) {
  const Tensor a = {{2.0, 1.0}, {1.0, 2.0}};
  const auto [e, v] = linalg::eigh(a);
  const double h = std::sqrt(0.5);
  EXPECT_TRUE(near(e, {1, 3}));
  EXPECT_TRUE(near(abs(v), {h, h, h, h}));
  // Only the lower triangle is read.
  EXPECT_TRUE(near(linalg::eigvalsh(Tensor{{2.0, 99.0}, {1.0, 2.0}}), {1, 3}));
  EXPECT_TRUE(near(linalg::eigvalsh(zeros({3, 3})), {0, 0, 0}));
  EXPECT_TRUE(near(linalg::eigvalsh(eye(3)), {1, 1, 1}));
  EXPECT_TRUE(near(linalg::eigvalsh(Tensor{{1e-200, 0.0}, {0.0, 1e200}}), {1e-200, 1e200}));
  EXPECT_TRUE(near(linalg::eigvalsh(Tensor{{std::nan(""), 0.0}, {0.0, 1.0}}),
                   {std::nan(""), std::nan("")}));
  EXPECT_EQ(linalg::eigh(zeros({2, 0, 0})).v.shape(), Shape({2, 0, 0}));
  EXPECT_THROW(linalg::eigh(ones({2, 3})), InvalidArgumentError);
  EXPECT_THROW(linalg::eigh(ones({2, 2}, float16)), InvalidArgumentError);
}

TEST(Eigh, PutsLargerMatricesTogetherAgain) {
  const Tensor a = symmetric(random_tensor({2, 17, 17}));
  const auto [e, v] = linalg::eigh(a);
  EXPECT_TRUE(near(matmul(v * expand_dims(e, -2), v, {.transpose_b = true}), values_of(a), 1e-12));
  EXPECT_TRUE(
      near(matmul(v, v, {.transpose_a = true}), values_of(eye(17, -1, {2}, float64)), 1e-12));
}

TEST(Eigh, Derivatives) {
  const auto f = [](const std::vector<Tensor>& in) {
    const auto [e, v] = linalg::eigh(symmetric(in[0]));
    return matmul(square(v), expand_dims(exp(e), -1));
  };
  check_derivatives(f, {random_tensor({3, 3})}, 1e-4);
  check_batching(f, {random_tensor({3, 3})}, 0);
  const auto values = [](const std::vector<Tensor>& in) { return linalg::eigvalsh(in[0]); };
  EXPECT_TRUE(near(gradient_of(values, {Tensor{{2.0, 0.0}, {0.0, 2.0}}}), {1, 0, 0, 1}))
      << "equal values";
}

TEST(Eigh, EqualValuesGiveWhatIsRightOrNan) {
  const auto whole = [](const std::vector<Tensor>& in) {
    const auto [e, v] = linalg::eigh(in[0]);
    return matmul(v * expand_dims(e, -2), v, {.transpose_b = true});
  };
  const Tensor a = 2.0 * eye(2, -1, {}, float64), c = {{1.0, 0.5}, {0.5, 3.0}};
  for (double x : values_of(gradient_of(whole, {a}, 0, c))) EXPECT_TRUE(std::isnan(x));
  const auto squares = [&](const std::vector<Tensor>& in) { return square(whole(in)); };
  EXPECT_TRUE(near(gradient_of(squares, {a}), {4, 0, 0, 4}));
  const auto along = [&](const Tensor& d) {
    return jvp([&](const Tensor& x) { return whole({x}); }, a, d).second;
  };
  EXPECT_TRUE(near(along(eye(2, -1, {}, float64)), {1, 0, 0, 1}));
  for (double x : values_of(along(c))) EXPECT_TRUE(std::isnan(x));
}

TEST(Determinant, OfSingularMatricesHasTheCofactorsAsGradient) {
  const auto f = [](const std::vector<Tensor>& in) { return linalg::det(in[0]); };
  const Tensor a = {{0.0, 1.0, 2.0}, {3.0, 4.0, 5.0}, {6.0, 7.0, 8.0}};
  EXPECT_TRUE(near(gradient_of(f, {a}), {-3, 6, -3, 6, -12, 6, -3, 6, -3}));
  EXPECT_TRUE(near(gradient_of(f, {zeros({2, 2}, float64)}), {0, 0, 0, 0}));
  EXPECT_TRUE(near(gradient_of(f, {Tensor{{0.0}}}), {1}));
  check_derivatives(f, {a}, 1e-4);
  check_derivatives(f, {zeros({3, 3}, float64)}, 1e-4);
}

TEST(Qr, PutsTogetherAgain) {
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 5, 5}, Shape{3, 1}, Shape{1, 1}}) {
    const Tensor a = random_tensor(shape);
    const auto [q, r] = linalg::qr(a);
    EXPECT_TRUE(near(matmul(q, r), values_of(a), 1e-13));
    const Tensor products = matmul(q, q, {.transpose_a = true});
    EXPECT_TRUE(near(products - eye(shape.back(), -1, {}, float64),
                     Values(static_cast<std::size_t>(products.num_elements()), 0), 1e-13));
    EXPECT_TRUE(near(linalg::band_part(r, 0, -1), values_of(r)));
  }
  EXPECT_TRUE(near(linalg::qr(zeros({2, 2})).r, {0, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(linalg::qr(Tensor{{std::nan("")}}).q.item<double>()));
  EXPECT_THROW(linalg::qr(ones({2})), InvalidArgumentError);
}

TEST(Qr, Derivatives) {
  const auto f = [](const std::vector<Tensor>& in) {
    const auto [q, r] = linalg::qr(in[0]);
    return matmul(square(q), r);
  };
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 2, 2}}) {
    check_derivatives(f, {random_tensor(shape)}, 1e-4);
    check_batching(f, {random_tensor(shape)}, 0);
  }
}

TEST(Qr, TheColumnThatCompletesABasisHasDerivatives) {
  const Tensor weights = random_tensor({4, 4}, 5);
  const auto squares = [&](const Tensor& basis) { return matmul(square(basis), weights); };
  const auto f = [&](const std::vector<Tensor>& in) {
    const auto [q, r] = linalg::qr(in[0], true);
    return matmul(squares(q), r);
  };
  check_derivatives(f, {random_tensor({4, 3})}, 1e-4);
  check_batching(f, {random_tensor({4, 3})}, 0);
  const auto u = [&](const std::vector<Tensor>& in) {
    return squares(linalg::svd(in[0], true).u) + reduce_sum(linalg::svd(in[0], true).v);
  };
  const auto v = [&](const std::vector<Tensor>& in) { return squares(linalg::svd(in[0], true).v); };
  check_derivatives(u, {random_tensor({4, 3})}, 1e-4);
  check_derivatives(v, {random_tensor({3, 4})}, 1e-4);
}

// N N^T = 1 - Q Q^T for the columns N beside Q.
TEST(Qr, SeveralColumnsThatCompleteABasisAreDeterminedAsASpace) {
  const Tensor a = random_tensor({2, 5, 3}), c = random_tensor({2, 5, 5}, 7);
  const auto beside = [](const Tensor& x) { return split(linalg::qr(x, true).q, {3, 2}, -1)[1]; };
  const auto space = [](const Tensor& n) { return matmul(n, n, {.transpose_b = true}); };
  const auto by_columns = [&](const std::vector<Tensor>& in) { return space(beside(in[0])); };
  const auto by_others = [&](const std::vector<Tensor>& in) {
    return 0.0 - space(linalg::qr(in[0]).q);
  };
  EXPECT_TRUE(near(gradient_of(by_columns, {a}, 0, c), values_of(gradient_of(by_others, {a}, 0, c)),
                   1e-12));
  const auto [q, r] = linalg::qr(a, true);
  EXPECT_TRUE(near(matmul(q, r), values_of(a), 1e-13));
  const auto apart = [&](const std::vector<Tensor>& in) { return square(beside(in[0])); };
  const Tensor told = gradient_of(apart, {a}, 0, random_tensor({2, 5, 2}, 9));
  for (double x : values_of(told)) EXPECT_TRUE(std::isnan(x));
  for (double x : values_of(jvp(beside, a, a).second)) EXPECT_TRUE(std::isnan(x));
}

TEST(BiasAdd, AlongTheLastAxis) {
  EXPECT_TRUE(near(nn::bias_add(zeros({2, 2}), Tensor{1.0f, 2.0f}), {1, 2, 1, 2}));
  EXPECT_THROW(nn::bias_add(zeros({2, 2}), Tensor{1.0f}), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
