#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

using linalg::band_part;
using linalg::cholesky;
using linalg::diag;
using linalg::diag_part;
using linalg::matrix_transpose;

using Ints64 = std::vector<std::int64_t>;

Tensor numbered(const Shape& shape) { return reshape(range(shape.num_elements()), shape); }
Tensor symmetric(const Tensor& x) { return matmul(x, x, {.transpose_b = true}); }
// Well away from singular.
Tensor regular(const Shape& shape, unsigned seed = 3) {
  return random_tensor(shape, seed) + 4.0 * eye(shape.back(), -1, {}, float64);
}

// Small integers are exact in half precision, and so are these sums: any order gives the same.
TEST(Matmul, HalfPrecisionAndBatchesThatBroadcast) {
  const auto operand = [](Shape shape, std::int64_t factor) {
    return cast(floormod(numbered(shape) * factor, Tensor(5)) - 2, float64);
  };
  struct Case {
    Shape a, b;
    bool transpose_a, transpose_b;
  };
  const Case cases[] = {
      {{5, 7}, {7, 3}, false, false},          {{33, 17}, {33, 20}, true, false},
      {{4, 6, 5}, {4, 5, 3}, false, false},    {{4, 6, 5}, {1, 5, 3}, false, false},
      {{4, 5, 6}, {5, 3}, true, false},        {{5, 6}, {4, 7, 6}, false, true},
      {{2, 1, 3, 4}, {5, 4, 6}, false, false}, {{2, 3, 1, 4}, {2, 3, 1, 5}, true, false},
      {{3, 0, 4}, {3, 4, 2}, false, false},    {{3, 2, 0}, {3, 0, 4}, false, false}};
  for (const Case& c : cases) {
    const Tensor a = operand(c.a, 7), b = operand(c.b, 3);
    const MatmulOptions options{.transpose_a = c.transpose_a, .transpose_b = c.transpose_b};
    const Tensor exact = matmul(a, b, options);
    // By the definition, through broadcasting.
    const Tensor left = c.transpose_a ? matrix_transpose(a) : a;
    const Tensor right = c.transpose_b ? b : matrix_transpose(b);
    const Tensor sums = reduce_sum(expand_dims(left, -2) * expand_dims(right, -3), {-1});
    EXPECT_EQ(integers_of(cast(exact, int64)), integers_of(cast(sums, int64)));
    for (DType t : {float16, bfloat16, float32, int32}) {
      const Tensor half = matmul(cast(a, t), cast(b, t), options);
      EXPECT_EQ(half.dtype(), t);
      EXPECT_EQ(integers_of(cast(half, int64)), integers_of(cast(exact, int64))) << name_of(t);
    }
  }
}

TEST(Matmul, GradientOfOneMatrixForManyIsOneProduct) {
  const Tensor x = random_tensor({2, 3, 5, 4}, 1), w = random_tensor({4, 6}, 2);
  const Tensor weight = random_tensor({2, 3, 5, 6}, 3);
  for (bool transposed : {false, true}) {
    const Tensor used = transposed ? transpose(w) : w;
    GradientTape tape;
    tape.watch(used);
    const Tensor y = matmul(x, used, {.transpose_b = transposed});
    const Tensor g = tape.gradient(reduce_sum(y * weight), used);
    const Tensor expected =
        matmul(reshape(x, {30, 4}), reshape(weight, {30, 6}), {.transpose_a = true});
    EXPECT_LE(reduce_max(abs((transposed ? transpose(g) : g) - expected)).item<double>(), 1e-12);
  }
}

TEST(Diagonals, InAndOut) {
  EXPECT_EQ(integers_of(diag(Tensor{1, 2})), (Ints64{1, 0, 0, 2}));
  EXPECT_EQ(integers_of(diag(Tensor{1, 2}, 1)), (Ints64{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(integers_of(diag(Tensor{1, 2}, -1, 3, 4)),
            (Ints64{0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_THROW(diag(Tensor{1, 2}, -1, 4, 3), InvalidArgumentError);
  EXPECT_EQ(integers_of(diag_part(numbered({2, 3}), 1)), (Ints64{1, 5}));
  EXPECT_EQ(integers_of(diag_part(numbered({2, 2, 2}))), (Ints64{0, 3, 4, 7}));
  EXPECT_THROW(diag_part(numbered({2, 3}), 3), InvalidArgumentError);
  EXPECT_THROW(diag_part(Tensor{1, 2}), InvalidArgumentError);
  EXPECT_EQ(integers_of(linalg::set_diag(zeros({2, 2}, int32), Tensor{1, 2})),
            (Ints64{1, 0, 0, 2}));
  EXPECT_THROW(linalg::set_diag(zeros({2, 2}, int32), Tensor{1, 2, 3}), InvalidArgumentError);
  EXPECT_EQ(linalg::tensor_diag(numbered({1, 2})).shape(), Shape({1, 2, 1, 2}));
  EXPECT_EQ(integers_of(linalg::tensor_diag_part(linalg::tensor_diag(numbered({2, 3})))),
            (Ints64{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(linalg::tensor_diag_part(zeros({2, 3})), InvalidArgumentError);
  EXPECT_EQ(linalg::trace(numbered({3, 3})).item<int>(), 12);
}

TEST(Diagonals, Bands) {
  EXPECT_TRUE(near(band_part(ones({3, 3}), 1, 0), {1, 0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_TRUE(near(band_part(ones({2, 3}), -1, 0), {1, 0, 0, 1, 1, 0}));
  EXPECT_THROW(band_part(ones({2, 2}), 5, 0), InvalidArgumentError);
}

TEST(Diagonals, Derivatives) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor x = linalg::set_diag(square(in[0]), in[1], 1);
    return band_part(matmul(x, diag(diag_part(in[0], -1))), -1, 1) * linalg::trace(in[0]);
  };
  const std::vector<Tensor> in = {random_tensor({3, 2}), random_tensor({1}, 4)};
  check_derivatives(f, in);
  check_batching(f, in, 0);
}

TEST(Cholesky, FactorsAndGradient) {
  const Tensor a = {{4.0, 2.0}, {2.0, 5.0}};
  EXPECT_TRUE(near(cholesky(a), {2, 0, 1, 2}));
  // Only the lower triangle is read.
  EXPECT_TRUE(near(cholesky(Tensor{{4.0, std::nan("")}, {2.0, 5.0}}), {2, 0, 1, 2}));
  const Tensor not_positive = cholesky(Tensor{{1.0, 2.0}, {2.0, 1.0}});
  EXPECT_TRUE(reduce_any(is_nan(not_positive)).item<bool>());
  EXPECT_THROW(cholesky(ones({2, 3})), InvalidArgumentError);
  EXPECT_THROW(cholesky(cast(a, float16)), InvalidArgumentError);
  const auto f = [](const std::vector<Tensor>& in) { return cholesky(symmetric(in[0])); };
  check_derivatives(f, {regular({3, 3})});
  check_batching(f, {regular({3, 3})}, 0);
  const Tensor g = gradient_of([](const std::vector<Tensor>& in) { return cholesky(in[0]); }, {a});
  EXPECT_TRUE(near(g, values_of(matrix_transpose(g)))) << "the gradient is symmetric";
}

TEST(Solve, TriangularSystems) {
  const Tensor a = {{2.0, 7.0}, {1.0, 4.0}}, b = {{2.0}, {9.0}};
  EXPECT_TRUE(near(linalg::triangular_solve(a, b), {1, 2}));
  EXPECT_TRUE(near(linalg::triangular_solve(a, b, true, true), {-0.125, 2.25}));
  EXPECT_TRUE(near(linalg::triangular_solve(a, b, false), {-6.875, 2.25}));
  EXPECT_THROW(linalg::triangular_solve(a, Tensor{1.0, 2.0}), InvalidArgumentError);
  EXPECT_THROW(linalg::triangular_solve(a, ones({3, 1}, float64)), InvalidArgumentError);
  for (const bool lower : {false, true}) {
    for (const bool adjoint : {false, true}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        return linalg::triangular_solve(in[0], in[1], lower, adjoint);
      };
      const std::vector<Tensor> in = {regular({3, 3}), random_tensor({2, 3, 2}, 5)};
      check_derivatives(f, in);
      check_batching(f, in, 0);
    }
  }
}

TEST(Solve, GeneralSystems) {
  const Tensor a = {{0.0, 2.0}, {4.0, 1.0}}, b = {{2.0}, {9.0}};
  EXPECT_TRUE(near(linalg::solve(a, b), {2, 1}));
  EXPECT_TRUE(near(linalg::solve(a, b, true), {4.25, 0.5}));
  EXPECT_TRUE(near(linalg::inv(a), {-0.125, 0.25, 0.5, 0}));
  EXPECT_THROW(linalg::solve(ones({2, 2}), ones({2, 1})), InvalidArgumentError);
  EXPECT_THROW(linalg::inv(ones({2, 2})), InvalidArgumentError);
  for (const bool adjoint : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return linalg::solve(in[0], in[1], adjoint);
    };
    const std::vector<Tensor> in = {regular({2, 3, 3}), random_tensor({3, 1}, 5)};
    check_derivatives(f, in);
    check_batching(f, in, 0);
    check_batching(f, in, 1);
  }
  check_derivatives([](const std::vector<Tensor>& in) { return linalg::inv(in[0]); },
                    {regular({3, 3})});
  const auto through_cholesky = [](const std::vector<Tensor>& in) {
    return linalg::cholesky_solve(cholesky(symmetric(in[0])), in[1]);
  };
  check_derivatives(through_cholesky, {regular({2, 2}), random_tensor({2, 3})});
}

TEST(Determinant, ValuesAndDerivatives) {
  const Tensor a = {{0.0, 2.0}, {4.0, 1.0}};
  EXPECT_NEAR(linalg::det(a).item<double>(), -8, 1e-14);
  EXPECT_EQ(linalg::det(ones({2, 2})).item<float>(), 0);
  EXPECT_EQ(linalg::det(zeros({0, 0}, float64)).item<double>(), 1);
  const auto [sign, log] = linalg::slogdet(a);
  EXPECT_EQ(sign.item<double>(), -1);
  EXPECT_NEAR(log.item<double>(), std::log(8.0), 1e-14);
  EXPECT_EQ(linalg::slogdet(ones({2, 2})).first.item<float>(), 0);
  EXPECT_TRUE(std::isinf(linalg::slogdet(ones({2, 2})).second.item<float>()));
  // No overflow on the way.
  EXPECT_NEAR(linalg::slogdet(1e200 * eye(3, -1, {}, float64)).second.item<double>(),
              600 * std::log(10.0), 1e-9);
  EXPECT_THROW(linalg::det(ones({2, 3})), InvalidArgumentError);
  const auto det = [](const std::vector<Tensor>& in) { return linalg::det(in[0]); };
  const auto slog = [](const std::vector<Tensor>& in) { return linalg::slogdet(in[0]).second; };
  const auto logdet = [](const std::vector<Tensor>& in) {
    return linalg::logdet(symmetric(in[0]));
  };
  check_derivatives(det, {regular({2, 3, 3})}, 1e-4);
  check_derivatives(slog, {regular({2, 3, 3})});
  check_derivatives(logdet, {regular({3, 3})});
  check_batching(det, {regular({3, 3})}, 0);
}

TEST(Norm, Orders) {
  const Tensor x = {{3.0, -4.0}, {0.0, 1.0}};
  EXPECT_TRUE(near(norm(x), {std::sqrt(26.0)}));
  EXPECT_TRUE(near(norm(x, 2, {1}), {5, 1}));
  EXPECT_TRUE(near(norm(x, 1, {0}, true), {3, 5}));
  EXPECT_TRUE(near(norm(x, std::numeric_limits<double>::infinity()), {4}));
  EXPECT_TRUE(near(norm(x, 3, {1}), {std::cbrt(91.0), 1}));
  EXPECT_THROW(norm(x, -1), InvalidArgumentError);
}

// Every product of elements, one at a time.
Values brute_force(const std::string& equation, const std::vector<Tensor>& in) {
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> parts(1);
  for (char c : equation.substr(0, arrow)) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const std::string output = equation.substr(arrow + 2);
  std::string labels = output;
  std::vector<std::int64_t> sizes(128, 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < parts[i].size(); ++k) {
      const char c = parts[i][k];
      if (labels.find(c) == std::string::npos) labels += c;
      sizes[static_cast<std::size_t>(c)] = in[i].shape()[static_cast<int>(k)];
    }
  }
  std::int64_t count = 1, total = 1;
  for (char c : labels) total *= sizes[static_cast<std::size_t>(c)];
  for (char c : output) count *= sizes[static_cast<std::size_t>(c)];
  Values result(static_cast<std::size_t>(count), 0);
  std::vector<std::int64_t> at(128, 0);
  for (std::int64_t step = 0; step < total; ++step) {
    std::int64_t rest = step;
    for (auto c = labels.rbegin(); c != labels.rend(); ++c) {
      const auto i = static_cast<std::size_t>(*c);
      at[i] = rest % sizes[i];
      rest /= sizes[i];
    }
    const auto offset = [&](const std::string& part) {
      std::int64_t o = 0;
      for (char c : part)
        o = o * sizes[static_cast<std::size_t>(c)] + at[static_cast<std::size_t>(c)];
      return o;
    };
    double product = 1;
    for (std::size_t i = 0; i < parts.size(); ++i)
      product *= in[i].data<double>()[offset(parts[i])];
    result[static_cast<std::size_t>(offset(output))] += product;
  }
  return result;
}

TEST(Einsum, AgainstEveryProduct) {
  const struct {
    const char* equation;
    std::vector<Shape> shapes;
  } rows[] = {{"ij,jk->ik", {{2, 3}, {3, 4}}},
              {"ij,kj->ki", {{2, 3}, {4, 3}}},
              {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 2}}},
              {"bhqd,bhkd->bhqk", {{2, 2, 3, 4}, {2, 2, 5, 4}}},
              {"i,j->ij", {{2}, {3}}},
              {"i,i->", {{4}, {4}}},
              {"ij->ji", {{2, 3}}},
              {"ij->", {{2, 3}}},
              {"ii->i", {{3, 3}}},
              {"ii->", {{3, 3}}},
              {"iij->ji", {{2, 2, 3}}},
              {"iii->i", {{2, 2, 2}}},
              {"ab,cb,dc->ad", {{2, 3}, {4, 3}, {2, 4}}},
              {"ab,ab,ab->a", {{2, 3}, {2, 3}, {2, 3}}},
              {"abc,cd,de,ef->abf", {{2, 3, 2}, {2, 3}, {3, 2}, {2, 2}}},
              {"ijk,k->ij", {{2, 3, 4}, {4}}},
              {"ik,jkl->lij", {{2, 3}, {2, 3, 2}}},
              {"a,b,c->cab", {{2}, {3}, {2}}},
              {"ij,ik->jk", {{0, 2}, {0, 3}}},
              {"ij,jk->ik", {{2, 0}, {0, 3}}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.equation);
    std::vector<Tensor> in;
    for (const Shape& s : row.shapes) in.push_back(random_tensor(s, 3 + in.size()));
    const std::string equation = row.equation;
    EXPECT_TRUE(near(einsum(equation, in), brute_force(equation, in), 1e-12));
  }
}

TEST(Einsum, EllipsisAndImplicitOutput) {
  const Tensor a = random_tensor({2, 3, 4}), b = random_tensor({4, 5}, 2);
  EXPECT_TRUE(near(einsum("...j,jk", {a, b}), values_of(matmul(a, b))));
  EXPECT_TRUE(near(einsum("...ij->...ji", {a}), values_of(matrix_transpose(a))));
  EXPECT_TRUE(near(einsum("ba", {b}), values_of(transpose(b))));
  const Tensor c = random_tensor({1, 3, 4}, 4), d = random_tensor({2, 4, 2}, 5);
  EXPECT_TRUE(near(einsum("...ij,...jk->...ik", {c, d}), values_of(matmul(c, d))));
  EXPECT_TRUE(near(einsum("...,...", {a, c}), values_of(a * c)));
  EXPECT_TRUE(near(einsum("...ij->...", {a}), values_of(reduce_sum(a, {1, 2}))));
  EXPECT_TRUE(near(einsum("i , i -> ", {Tensor{1.0, 2.0}, Tensor{3.0, 4.0}}), {11}));
}

TEST(Einsum, BadEquations) {
  const Tensor a = ones({2, 3}), b = ones({4, 3});
  for (const char* equation : {"ij,jk->ik", "ij->ij", "ij,kj->il", "ijk,kj->i", "ij,kj->ii",
                               "i..j,kj->ik", "ij,k1->ik", "ij,kj,k->i", "......,kj->k"}) {
    EXPECT_THROW(einsum(equation, {a, b}), InvalidArgumentError) << equation;
  }
}

TEST(Einsum, Derivatives) {
  for (const char* equation : {"ij,jk->ki", "...ij,jj->...i", "ij,jk,ik->"}) {
    SCOPED_TRACE(equation);
    const std::string text = equation;
    const auto f = [&](const std::vector<Tensor>& in) { return einsum(text, in); };
    std::vector<Tensor> in = {random_tensor({2, 2}), random_tensor({2, 2}, 2)};
    if (text.find("ik->") != std::string::npos && text.size() == 10)
      in.push_back(random_tensor({2, 2}, 3));
    check_derivatives(f, in);
    check_batching(f, in, 0);
    check_batching(f, in, 1);
  }
}

TEST(Tensordot, AxesAndNumbers) {
  const Tensor a = random_tensor({2, 3, 4}), b = random_tensor({4, 3, 5}, 2);
  EXPECT_TRUE(near(tensordot(a, b, {1, 2}, {1, 0}), values_of(einsum("ijk,kjl->il", {a, b}))));
  EXPECT_TRUE(near(tensordot(a, b, {-1}, {0}), values_of(einsum("ijk,klm->ijlm", {a, b}))));
  EXPECT_TRUE(near(tensordot(a, random_tensor({3, 4}, 3), 2),
                   values_of(einsum("ijk,jk->i", {a, random_tensor({3, 4}, 3)}))));
  EXPECT_EQ(tensordot(a, b, 0).rank(), 6);
  EXPECT_THROW(tensordot(a, b, 2), InvalidArgumentError);
  EXPECT_THROW(tensordot(a, b, {1}, {0, 1}), InvalidArgumentError);
  EXPECT_THROW(tensordot(a, b, 4), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
