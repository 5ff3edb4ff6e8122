// The ops of docs/add-an-op.md. The page shows the marked regions of this file, and tools/
// check_snippets.py holds the two together. Being linked into this binary, the three records are
// also put to every question of registry_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "gradus/gradus.h"
#include "graph/batch.h"
#include "graph/elementwise.h"
#include "graph/evaluate.h"
#include "graph/symbols.h"

namespace gradus {

// [elementwise]
const Op squareplus_op = elementwise(
    {.name = "squareplus", .doc = "(x + sqrt(x^2 + 4)) / 2, a smooth relu.", .low = -3, .high = 3},
    [](Expr x) { return (x + expr::sqrt(x * x + 4)) * 0.5; });

Tensor squareplus(In x) { return squareplus_op(x); }
// [/elementwise]

// [scale]
const Op soft_shrink_op = elementwise(
    {.name = "soft_shrink", .doc = "x moved towards 0 by 1, and 0 if it is nearer than that."},
    [](Expr x) { return x - expr::min(expr::max(x, -1), 1); },
    [](Expr g, Expr, Expr y) { return select(y == 0, 0, g); });

Tensor soft_shrink(In x) { return soft_shrink_op(x); }
// [/scale]

// [linear]
namespace {

// y[..., i] = x[..., i + 1] - x[..., i]
void differences_shape(const Call& c, Avals& out) {
  Shape shape = c.shape(0);
  if (shape.rank() == 0 || shape.back() == 0) {
    fail<InvalidArgumentError>("[differences] got shape ", shape,
                               "; expected at least one element along the last axis");
  }
  shape[shape.rank() - 1] = shape.back() - 1;
  out.push_back({c.in[0].dtype, shape});
}

template <class T>
void subtract_neighbours(const KernelCall& c) {
  const T* x = c.in[0].as<T>();
  T* y = c.out[0].as<T>();
  const std::int64_t n = c.shape(0).back();
  for (std::int64_t row = 0; row < c.in[0].count() / n; ++row, ++x)
    for (std::int64_t i = 0; i + 1 < n; ++i, ++x) *y++ = x[1] - x[0];
}

}  // namespace

const Op differences_op =
    linear({.name = "differences",
            .doc = "Each element along the last axis minus the one before it.",
            .dtypes = one_dtype(float32) | one_dtype(float64),
            .infer = differences_shape,
            .kernel =
                [](const KernelCall& c) {
                  c.in[0].dtype == float32 ? subtract_neighbours<float>(c)
                                           : subtract_neighbours<double>(c);
                },
            .batch = batch_leading,
            .samples =
                [] {
                  return std::vector<Sample>{
                      {{{{5}}}, nullptr}, {{{{2, 3}}}, nullptr}, {{{{4, 1}}}, nullptr}};
                },
            .like = "numpy.diff"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             Shape edge = s.shape(0);
             edge[edge.rank() - 1] = 1;
             const Tensor zero = broadcast_to(cast(0.0, ct.dtype()), edge);
             return concat({zero, ct}, -1) - concat({ct, zero}, -1);
           });

Tensor differences(In x) { return differences_op(x); }
// [/linear]

// [composite]
namespace {

template <class T>
void sum_of_squares(const KernelCall& c) {
  const T* x = c.in[0].as<T>();
  for (std::int64_t row = 0; row < c.out[0].count(); ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < c.shape(0).back(); ++i, ++x) sum += double{*x} * double{*x};
    c.out[0].as<T>()[row] = static_cast<T>(sum);
  }
}

}  // namespace

const Op energy_op = composite(
    {.name = "energy",
     .doc = "The sum of squares over the last axis.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .infer =
         [](const Call& c, Avals& out) {
           Shape shape = c.shape(0);
           if (shape.rank() == 0) fail<InvalidArgumentError>("[energy] got a scalar");
           shape.erase(shape.rank() - 1);
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           c.in[0].dtype == float32 ? sum_of_squares<float>(c) : sum_of_squares<double>(c);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{
               {{{{5}}}, nullptr}, {{{{2, 3}}}, nullptr}, {{{{3, 0}}}, nullptr}};
         }},
    [](const void*, std::span<const Tensor> in) {
      return Tensors{reduce_sum(square(in[0]), {-1})};
    });

Tensor energy(In x) { return energy_op(x); }
// [/composite]

namespace {

double at(const Tensor& t, int i) { return t.data<double>()[i]; }

TEST(AddAnOp, Value) {
  EXPECT_DOUBLE_EQ(squareplus(Tensor{1.5}).item<double>(), 2.0);
  EXPECT_EQ(soft_shrink(Tensor{-3.0, -1.0, 0.5, 2.5}).to_vector<double>(),
            (std::vector<double>{-2, 0, 0, 1.5}));
  EXPECT_EQ(differences(Tensor{1.0, 4.0, 9.0}).to_vector<double>(), (std::vector<double>{3, 5}));
  EXPECT_EQ(energy(Tensor{3.0, 4.0}).item<double>(), 25);
}

TEST(AddAnOp, TapeForwardModeAndSecondOrder) {
  const auto f = [](const Tensor& x) { return reduce_sum(squareplus(x)); };
  const Tensor x{1.5};  // y' = (1 + x / sqrt(x^2 + 4)) / 2, y'' = 2 / (x^2 + 4)^(3/2)
  EXPECT_DOUBLE_EQ(grad(f)(x).item<double>(), 0.8);
  EXPECT_DOUBLE_EQ(jvp(f, x, Tensor{2.0}).second.item<double>(), 1.6);
  EXPECT_NEAR(hvp(f, x, Tensor{1.0}).item<double>(), 0.128, 1e-15);

  EXPECT_EQ(
      grad([](const Tensor& t) { return reduce_sum(soft_shrink(t)); })(Tensor{-3.0, 1.0, 0.5, 2.5})
          .to_vector<double>(),
      (std::vector<double>{1, 0, 0, 1}));

  // energy(differences(x)) is a quadratic form: its Hessian is 2 D^T D.
  const auto smoothness = [](const Tensor& t) { return energy(differences(t)); };
  const Tensor h = hessian(smoothness, Tensor{1.0, 4.0, 9.0});
  EXPECT_EQ(h.to_vector<double>(), (std::vector<double>{2, -2, 0, -2, 4, -2, 0, -2, 2}));
}

TEST(AddAnOp, BatchedAndTraced) {
  const Tensor rows = reshape(Tensor{1.0, 4.0, 9.0, 0.0, -2.0, 2.0}, {2, 3});
  const auto f = [](const Tensor& x) { return energy(differences(squareplus(x))); };
  const Tensor both = vmap(f)(rows);
  const Tensor second = f(reshape(slice(rows, {1, 0}, {1, 3}), {3}));
  EXPECT_EQ(both.shape(), Shape{2});
  EXPECT_DOUBLE_EQ(at(both, 1), second.item<double>());

  const Aval of_rows[] = {{float64, {2, 3}}};
  const auto graph = trace([&](std::span<const Tensor> x) { return Tensors{f(x[0])}; }, of_rows);
  EXPECT_EQ(graph->nodes().size(), 3u);
  const Tensor inputs[] = {rows};
  EXPECT_EQ(evaluate(*graph, inputs)[0].to_vector<double>(), f(rows).to_vector<double>());
}

TEST(AddAnOp, ErrorsNameTheOp) {
  try {
    differences(Tensor(1.0));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("[differences]"), std::string::npos);
  }
}

}  // namespace
}  // namespace gradus
