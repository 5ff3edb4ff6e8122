#include <gtest/gtest.h>

#include <limits>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Values = std::vector<double>;

const Tensor kX = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};

// Every row by itself, with one gradient each.
Tensor row_by_row(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < y.num_elements(); ++i) {
    Values seed(static_cast<std::size_t>(y.num_elements()), 0);
    seed[static_cast<std::size_t>(i)] = 1;
    const auto g = tape.gradient({y}, {x}, {.output_gradients = {Tensor::from(seed, y.shape())}});
    rows.push_back(reshape(g[0].tensor(), {1, x.num_elements()}));
  }
  return concat(rows, 0);
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.num_elements(), b.num_elements());
  for (std::int64_t i = 0; i < a.num_elements(); ++i)
    EXPECT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-12) << i;
}

TEST(Jacobian, EqualsGradientsRowByRow) {
  const Tensor w = {{1.0, -2.0}, {0.5, 3.0}, {-1.0, 1.0}};
  const std::function<Tensor(const Tensor&)> functions[] = {
      [](const Tensor& x) { return x * x * x; },
      [&](const Tensor& x) { return matmul(x, w); },
      [&](const Tensor& x) { return matmul(w, x, {.transpose_a = true, .transpose_b = true}); },
      [](const Tensor& x) { return reduce_sum(x * x, {0}); },
      [](const Tensor& x) { return reduce_mean(sqrt(x)); },
      [](const Tensor& x) { return transpose(x) * 2.0; },
      [](const Tensor& x) {
        return concat({slice(x, {0, 1}, {2, 2}), x * x}, 1);
      },
      [](const Tensor& x) {
        return gather(x, Tensor{1, 0, 1}) * 2.0;
      },
      [](const Tensor& x) {
        return gather(x, Tensor{{2, 0}}, 1);
      },
      [](const Tensor& x) { return maximum(x, 3.0) / reduce_sum(x, {1}, true); },
      [](const Tensor& x) {
        return broadcast_to(reduce_sum(x), {2, 2});
      },
      [](const Tensor& x) { return where(x > 2.5, x * x, -x); },
      [](const Tensor& x) { return cast(cast(x, float32), float64) * x; },
      [&](const Tensor& x) { return tanh(matmul(x, w) + 1.0); },
      [&](const Tensor& x) {
        const Tensor y = matmul(x, w);  // also reached behind the product below
        return tanh(y) * y + matmul(exp(0.1 * y), Tensor{{1.0, 2.0}, {3.0, 4.0}});
      },
      [&](const Tensor& x) {
        return reshape(sin(reshape(matmul(x, w), {4})), {2, 1, 2}) * 2.0;
      },
      [](const Tensor& x) { return x * exp(reduce_sum(x)); },
  };
  for (const auto& f : functions) {
    const Tensor expected = row_by_row(f, kX);
    for (const std::int64_t chunk : {0, 1, 2, 100}) {
      GradientTape tape;
      tape.watch(kX);
      const Tensor y = f(kX);
      const Gradient j = tape.jacobian(y, kX, Unconnected::none, chunk);
      Shape shape = y.shape();
      shape.push_back(2);
      shape.push_back(3);
      EXPECT_EQ(j.tensor().shape(), shape);
      expect_same(j, expected);
    }
  }
}

TEST(Jacobian, OfTheSourceItselfIsTheIdentity) {
  const Tensor x = {1.0, 2.0};
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.jacobian(x, x).tensor().to_vector<double>(), (Values{1, 0, 0, 1}));
}

TEST(Jacobian, SeveralSourcesVariablesAndUnconnectedOnes) {
  const Variable w(Tensor{2.0, 3.0});
  const Tensor x = {5.0, 7.0}, unused = {1.0};
  GradientTape tape;
  tape.watch(x);
  tape.watch(unused);
  const Tensor y = x * w;
  const auto j = tape.jacobian(y, {w, x, unused});
  EXPECT_EQ(j[0].tensor().to_vector<double>(), (Values{5, 0, 0, 7}));
  EXPECT_EQ(j[1].tensor().to_vector<double>(), (Values{2, 0, 0, 3}));
  EXPECT_TRUE(j[2].is_none());
}

TEST(Jacobian, UnconnectedZeroHasTheShapeOfBoth) {
  const Tensor x = {5.0f, 7.0f}, other = {{1.0f, 2.0f, 3.0f}};
  GradientTape tape;
  tape.watch(x);
  tape.watch(other);
  const Gradient j = tape.jacobian(x * x, other, Unconnected::zero);
  EXPECT_EQ(j.tensor().shape(), Shape({2, 1, 3}));
  EXPECT_EQ(j.tensor().to_vector<float>(), std::vector<float>(6, 0));
}

TEST(Jacobian, EmptyTargetsAndSources) {
  const Tensor x = zeros({0}, float64), z = {1.0, 2.0};
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(z);
  EXPECT_EQ(tape.jacobian(x * 2.0, x, Unconnected::zero).tensor().shape(), Shape({0, 0}));
  const Tensor y = z * reduce_sum(x);
  EXPECT_EQ(tape.jacobian(y, x).tensor().shape(), Shape({2, 0}));
}

TEST(Jacobian, SpendsATapeThatIsNotPersistent) {
  const Tensor x = {1.0, 2.0};
  GradientTape tape, persistent({.persistent = true});
  tape.watch(x);
  persistent.watch(x);
  const Tensor y = x * x;
  tape.jacobian(y, x);
  EXPECT_THROW(tape.jacobian(y, x), UsageError);
  persistent.jacobian(y, x);
  EXPECT_EQ(persistent.jacobian(y, x).tensor().to_vector<double>(), (Values{2, 0, 0, 4}));
}

TEST(Jacobian, OfAGradientIsTheHessian) {
  const Tensor x = {1.0, 2.0, 3.0};
  GradientTape outer;
  outer.watch(x);
  Tensor g;
  {
    GradientTape inner;
    inner.watch(x);
    g = inner.gradient(reduce_sum(x * x * x + x * x), x);
  }
  EXPECT_EQ(outer.jacobian(g, x).tensor().to_vector<double>(),
            (Values{8, 0, 0, 0, 14, 0, 0, 0, 20}));
}

TEST(Jacobian, IsItselfDifferentiable) {
  // J = diag(3 x^2); d sum(J) / dx = 6 x, by a tape and by an accumulator around.
  const Tensor x = {1.0, 2.0}, v = {1.0, 10.0};
  for (const std::int64_t chunk : {0, 1}) {
    GradientTape outer;
    outer.watch(x);
    const ForwardAccumulator acc(x, v);
    Tensor j;
    {
      GradientTape inner;
      inner.watch(x);
      j = inner.jacobian(x * x * x, x, Unconnected::none, chunk);
    }
    EXPECT_EQ(j.to_vector<double>(), (Values{3, 0, 0, 12}));
    EXPECT_EQ(acc.jvp(j).tensor().to_vector<double>(), (Values{6, 0, 0, 120}));
    EXPECT_EQ(outer.gradient(j, x).tensor().to_vector<double>(), (Values{6, 12}));
  }
}

TEST(Jacobian, InsideVmap) {
  const auto jacobian = [](const Tensor& v) {
    GradientTape tape;
    tape.watch(v);
    return tape.jacobian(v * reduce_sum(v), v);
  };
  const Tensor j = vmap(jacobian)(Tensor{{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_EQ(j.shape(), Shape({2, 2, 2}));
  EXPECT_EQ(j.to_vector<double>(), (Values{4, 1, 2, 5, 10, 3, 4, 11}));
}

TEST(BatchJacobian, HasTheBlocksOfTheWholeOne) {
  const Tensor w = {{1.0, -2.0}, {0.5, 3.0}, {-1.0, 1.0}};
  for (const std::int64_t chunk : {0, 1}) {
    GradientTape tape({.persistent = true});
    tape.watch(kX);
    const Tensor y = square(matmul(kX, w));
    const Tensor blocks = tape.batch_jacobian(y, kX, Unconnected::none, chunk);
    const Tensor whole = tape.jacobian(y, kX);
    EXPECT_EQ(blocks.shape(), Shape({2, 2, 3}));
    for (std::int64_t b = 0; b < 2; ++b) {
      const Tensor block = slice(whole, {b, 0, b, 0}, {1, 2, 1, 3});
      expect_same(slice(blocks, {b, 0, 0}, {1, 2, 3}), block);
    }
  }
}

// 0, 1, 2 ... in float64.
Tensor numbers(std::int64_t n) { return cast(range(n), float64); }

Tensor matvec(const Tensor& w, const Tensor& v) {
  return reshape(matmul(w, expand_dims(v, 1)), {w.shape()[0]});
}

// The text of the program that a function's Jacobian becomes.
std::string program_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                       bool by_example) {
  const auto j = function([&](const Tensor& v) {
    GradientTape tape;
    tape.watch(v);
    const Tensor y = f(v);
    return (by_example ? tape.batch_jacobian(y, v) : tape.jacobian(y, v)).tensor();
  });
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  expect_same(j(x), by_example ? tape.batch_jacobian(y, x) : tape.jacobian(y, x));
  return j.text(true);
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(JacobianProgram, DiagonalsScaleRowsInsteadOfBeingMultiplied) {
  const Tensor w = reshape(numbers(12), {3, 4}), x = {0.1, 0.2, 0.3, 0.4};
  const auto layer = [&](const Tensor& v) { return tanh(matvec(w, v) + 1.0); };
  EXPECT_EQ(count(program_of(layer, x, false), "matmul"), 1);  // the layer itself
  const auto linear = [&](const Tensor& v) { return matvec(w, v); };
  EXPECT_EQ(count(program_of(linear, x, false), "matmul"), 0);

  const Tensor a = reshape(numbers(6), {2, 3}), b = reshape(numbers(9), {3, 3});
  const auto two = [&](const Tensor& v) { return tanh(matmul(tanh(matmul(v, a)), b)); };
  for (const std::int64_t examples : {1, 3, 5}) {  // 3: as many as rows
    const Tensor batch = reshape(numbers(2 * examples), {examples, 2}) * 0.1;
    EXPECT_EQ(count(program_of(two, batch, true), "matmul"), 3) << examples;
  }
}

TEST(JacobianProgram, DerivativesAreEvaluatedOncePerExample) {
  const Tensor a = reshape(numbers(6), {2, 3}), b = reshape(numbers(9), {3, 3});
  const auto f = [&](const Tensor& v) { return matmul(tanh(matmul(v, a)), b); };
  const std::string text = program_of(f, Tensor{{0.1, 0.2}, {0.3, 0.4}}, true);
  EXPECT_NE(text.find("multiply_no_nan"), text.npos) << text;
}

TEST(Jacobian, ZerosOfTheDiagonalMeetNoInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor w = {{1.0, 2.0}, {inf, 3.0}}, x = {1.0, 1.0};
  const auto j = function([&](const Tensor& v, const Tensor& scale) {
    GradientTape tape;
    tape.watch(v);
    return tape.jacobian(matvec(w, v) * scale, v).tensor();
  });
  EXPECT_EQ(j(x, Tensor(2.0)).to_vector<double>(), (Values{2, 4, inf, 6}));
}

TEST(BatchJacobian, UnconnectedAndBadShapes) {
  const Tensor x = {{1.0, 2.0}, {3.0, 4.0}}, y = {{1.0}, {2.0}}, z = {1.0};
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  EXPECT_TRUE(tape.batch_jacobian(x * x, y).is_none());
  EXPECT_EQ(tape.batch_jacobian(x * x, y, Unconnected::zero).tensor().shape(), Shape({2, 2, 1}));
  try {
    tape.batch_jacobian(x, z);
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.message(),
                 "[GradientTape.batch_jacobian] got a target of shape (2, 2) and a source of shape "
                 "(1,); both need the same first axis, the examples");
  }
}

// Zeros beside a diagonal that the user made are numbers, in compiled programs too.
TEST(Jacobian, OnlySeedsHaveNothingBesideTheirDiagonals) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor d{1.0f, 2.0f}, m = reshape(Tensor{inf, 1.0f, 2.0f, 3.0f}, {2, 2});
  const auto is_nan_at = [](const Tensor& t, int i) { return std::isnan(t.data<float>()[i]); };
  const auto scaled = [](const Tensor& a, const Tensor& b) { return matmul(linalg::diag(a), b); };
  const auto same = [](const Tensor& b) { return matmul(linalg::diag(ones({2})), b); };
  for (const Tensor& product : {scaled(d, m), function(scaled)(d, m), same(m), function(same)(m)}) {
    EXPECT_EQ(product.data<float>()[0], inf);
    EXPECT_TRUE(is_nan_at(product, 2)) << product;
    EXPECT_FALSE(is_nan_at(product, 3)) << product;
  }
}

}  // namespace
}  // namespace gradus
