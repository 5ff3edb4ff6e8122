// What the random programs found, each as the smallest function that shows it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Scalar = Tensor (*)(const Tensor&);

// The derivatives of f at x up to the fourth, in reverse mode.
std::vector<double> derivatives(Scalar f, double x) {
  std::function<Tensor(const Tensor&)> g = f;
  std::vector<double> found;
  for (int order = 1; order <= 4; ++order) {
    g = grad(g);
    found.push_back(g(Tensor(x)).item<double>());
  }
  return found;
}
void expect_derivatives(Scalar f, double x, const std::vector<double>& expected) {
  const std::vector<double> found = derivatives(f, x);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-9 * (1 + std::abs(expected[i]))) << "order " << i + 1;
  EXPECT_NEAR(hvp(f, Tensor(x), Tensor(1.0)).item<double>(), expected[1], 1e-9);
}

// A cotangent that happens to be 0 was taken for one that is always 0: the Hessian of a square is
// not 0 where the square is.
TEST(WhereACotangentIsZero, SquaresOfRootsAndLogarithmsHaveSecondDerivatives) {
  const auto at = [](Scalar f, double x) { return derivatives(f, x)[1]; };
  EXPECT_NEAR(at([](const Tensor& x) { return square(log(x)); }, 1), 2, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(log1p(x)); }, 0), 2, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(log2(x)); }, 1), 2 / std::pow(std::log(2), 2),
              1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(log10(x)); }, 1),
              2 / std::pow(std::log(10), 2), 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(sqrt(x) - 1); }, 1), 0.5, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(cbrt(x) - 1); }, 1), 2.0 / 9, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(atan(x)); }, 0), 2, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(asinh(x)); }, 0), 2, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(atanh(x)); }, 0), 2, 1e-12);
  EXPECT_NEAR(at([](const Tensor& x) { return square(ndtri(x)); }, 0.5), 4 * std::acos(-1), 1e-12);
}

TEST(WhereACotangentIsZero, InverseDistributionFunctionsHaveThirdDerivatives) {
  const double r = std::sqrt(2 * std::acos(-1));
  expect_derivatives([](const Tensor& x) { return ndtri(x); }, 0.5, {r, 0, r * r * r, 0});
  const double h = std::sqrt(std::acos(-1)) / 2;
  expect_derivatives([](const Tensor& x) { return erfcinv(x); }, 1, {-h, 0, -2 * h * h * h, 0});
}

TEST(WhereACotangentIsZero, LogaddexpOfEqualArgumentsCurves) {
  expect_derivatives([](const Tensor& x) { return logaddexp(x, 0.25); }, 0.25,
                     {0.5, 0.25, 0, -0.125});
}

TEST(WhereACotangentIsZero, APowerVariesWithAnExponentThatIsZero) {
  const auto slope = grad([](const Tensor& x, const Tensor& y) { return pow(x, y); });
  EXPECT_NEAR(grad<1>(slope)(Tensor(4.0), Tensor(0.0)).item<double>(), 0.25, 1e-15);
}

TEST(WhereACotangentIsZero, MultiplyNoNanHasItsMixedDerivative) {
  const auto slope = grad([](const Tensor& x, const Tensor& y) { return multiply_no_nan(x, y); });
  EXPECT_EQ(grad<1>(slope)(Tensor(3.0), Tensor(0.0)).item<double>(), 1);
}

// d/da of the density at a = 1 is log(x) - digamma(1) times it.
TEST(WhereACotangentIsZero, IncompleteIntegralsHaveTheirMixedDerivatives) {
  const double x = 1.5, euler = 0.57721566490153286061;
  const auto density = grad<1>([](const Tensor& a, const Tensor& y) { return igamma(a, y); });
  EXPECT_NEAR(grad<0>(density)(Tensor(1.0), Tensor(x)).item<double>(),
              std::exp(-x) * (std::log(x) + euler), 1e-12);
  // Beta(1, 1) is uniform: d/da of the density is log(x) + 1 at a = b = 1.
  const auto beta =
      grad<1>([](const Tensor& a, const Tensor& y) { return betainc(a, Tensor(1.0), y); });
  EXPECT_NEAR(grad<0>(beta)(Tensor(1.0), Tensor(0.3)).item<double>(), std::log(0.3) + 1, 1e-12);
}

// sigmoid'(x) c x is 0 at 0, and so was its cotangent's share of what the Jacobian keeps.
TEST(WhereACotangentIsZero, JacobiansOfCostlyFunctionsKeepTheirDerivatives) {
  const auto first = [](const Tensor& x) {
    return reduce_sum(grad([](const Tensor& y) { return sigmoid(y); })(x) * (2 * x));
  };
  const auto second = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = first(x);
    return reduce_sum(tape.jacobian(y, x).tensor());
  };
  const auto third = [&](const Tensor& x) { return jvp(grad(second), x, Tensor(1.0)).second; };
  // (2 x s')''' = 6 s''' = -6 / 8 at 0
  EXPECT_NEAR(third(Tensor(0.0)).item<double>(), -0.75, 1e-12);
}

TEST(BesselFunctions, HaveTheirDerivativesAtAndNearZero) {
  expect_derivatives([](const Tensor& x) { return bessel_i0(x); }, 0, {0, 0.5, 0, 0.375});
  expect_derivatives([](const Tensor& x) { return bessel_i1(x); }, 0, {0.5, 0, 0.375, 0});
  // (x/2)^k / k! ...: 5/16 of x at the fourth, to first order.
  const double x = 1e-4;
  EXPECT_NEAR(derivatives([](const Tensor& t) { return bessel_i1(t); }, x)[3], 0.3125 * x, 1e-10);
}

// A compiled gradient that was called by itself holds a fused gradient op; differentiated later, it
// must not end there.
template <class F>
void expect_second_order(const F& f, const std::vector<Tensor>& at) {
  std::vector<Tensor> v;
  for (const Tensor& t : at) v.push_back(cos(3.0 * t));
  using Gradients = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  const auto along = [&](const Gradients& gradient) {
    return [&v, gradient](const std::vector<Tensor>& x) {
      const std::vector<Tensor> g = gradient(x);
      Tensor sum = reduce_sum(g[0] * v[0]);
      for (std::size_t i = 1; i < g.size(); ++i) sum = sum + reduce_sum(g[i] * v[i]);
      return sum;
    };
  };
  const Gradients plain = grad(f), compiled = function(plain);
  compiled(at);
  const std::vector<Tensor> expected = grad(along(plain))(at), found = grad(along(compiled))(at);
  const std::vector<Tensor> pushed = jvp(compiled, at, v).second;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double size = reduce_sum(abs(expected[i])).item<double>();
    EXPECT_GT(size, 0) << "argument " << i;
    EXPECT_LT(reduce_sum(abs(found[i] - expected[i])).item<double>(), 1e-10 * size) << i;
    EXPECT_LT(reduce_sum(abs(pushed[i] - expected[i])).item<double>(), 1e-10 * size) << i;
  }
}
Tensor numbers(const Shape& shape, double phase) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    all.push_back(std::sin(phase + 12.9898 * static_cast<double>(i)));
  return Tensor::from(all, shape);
}
using Args = const std::vector<Tensor>&;

TEST(CompiledGradients, OfNormalizationsCanBeDifferentiated) {
  const std::vector<Tensor> at = {numbers({2, 3}, 1), numbers({3}, 2), numbers({3}, 3)};
  expect_second_order(
      [](Args x) { return reduce_sum(sin(nn::layer_normalization(x[0], x[1], x[2]))); }, at);
  expect_second_order(
      [](Args x) { return reduce_sum(sin(nn::fused_batch_norm(x[0], x[1], x[2]).y)); }, at);
  expect_second_order(
      [](Args x) {
        const auto [mean, variance] = moments(x[0], {1}, true);
        return reduce_sum(sin(nn::batch_normalization(x[0], mean, variance, x[1], x[2], 1e-3)));
      },
      at);
}

TEST(CompiledGradients, OfRecurrentLayersCanBeDifferentiated) {
  const Tensor mask = {{true, true}, {true, false}};
  for (const Tensor& m : {Tensor(), mask}) {
    expect_second_order(
        [m](Args x) {
          return reduce_sum(sin(nn::lstm(x[0], x[1], x[2], x[3], x[4], x[5], m).sequence));
        },
        {numbers({2, 2, 3}, 1), numbers({3, 8}, 2), numbers({2, 8}, 3), numbers({8}, 4),
         numbers({2, 2}, 5), numbers({2, 2}, 6)});
    expect_second_order(
        [m](Args x) { return reduce_sum(sin(nn::gru(x[0], x[1], x[2], x[3], x[4], m).sequence)); },
        {numbers({2, 2, 3}, 1), numbers({3, 6}, 2), numbers({2, 6}, 3), numbers({2, 6}, 4),
         numbers({2, 2}, 5)});
  }
}

}  // namespace
}  // namespace gradus
