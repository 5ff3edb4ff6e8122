// Derivatives of any order in every mix of forward and reverse mode, against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "gradus/gradus.h"
#include "graph/elementwise.h"

namespace gradus {
namespace {

using Scalar = std::function<Tensor(const Tensor&)>;

struct Known {
  const char* name;
  Scalar f;
  double (*derivative)(int order, double x);
};

double power(double exponent, int order, double x) {
  double factor = 1;
  for (int k = 0; k < order; ++k) factor *= exponent - k;
  return factor * std::pow(x, exponent - order);
}

// Each has values that meet themselves: what is derived must not take one operand for another.
const Known kKnown[] = {
    {"z*z*z", [](const Tensor& z) { return z * z * z; },
     [](int n, double x) { return power(3, n, x); }},
    {"1/(z*z)", [](const Tensor& z) { return 1 / (z * z); },
     [](int n, double x) { return power(-2, n, x); }},
    {"sqrt(z*z*z)", [](const Tensor& z) { return sqrt(z * z * z); },
     [](int n, double x) { return power(1.5, n, x); }},
    {"pow(z*z,1.25)", [](const Tensor& z) { return pow(z * z, 1.25); },
     [](int n, double x) { return power(2.5, n, x); }},
    {"z*z/sqrt(z)", [](const Tensor& z) { return z * z / sqrt(z); },
     [](int n, double x) { return power(1.5, n, x); }},
    {"log(z*z)", [](const Tensor& z) { return log(z * z); },
     [](int n, double x) { return n == 0 ? 2 * std::log(x) : 2 * power(-1, n - 1, x); }},
    {"exp(z)*exp(z)", [](const Tensor& z) { return exp(z) * exp(z); },
     [](int n, double x) { return std::pow(2, n) * std::exp(2 * x); }},
    {"sin(z)*cos(z)", [](const Tensor& z) { return sin(z) * cos(z); },
     [](int n, double x) {
       return std::pow(2, n - 1) * std::sin(2 * x + n * std::numbers::pi / 2);
     }},
    {"where(z>1,z*z*z,z)*z", [](const Tensor& z) { return where(z > 1, z * z * z, z) * z; },
     [](int n, double x) { return power(4, n, x); }},
};

// Bit k of `modes` says whether derivative k, from the inside, is in forward mode.
Scalar derived(Scalar f, int order, unsigned modes) {
  for (int k = 0; k < order; ++k) {
    if (modes >> k & 1) {
      f = [f](const Tensor& x) { return jvp(f, x, ones(x.shape(), x.dtype())).second; };
    } else {
      f = [f](const Tensor& x) -> Tensor {
        return grad([f](const Tensor& z) { return reduce_sum(f(z)); })(x);
      };
    }
  }
  return f;
}

std::string mix_name(int order, unsigned modes) {
  std::string text;
  for (int k = order - 1; k >= 0; --k) text += modes >> k & 1 ? 'f' : 'r';
  return text;
}

void expect_known(const Known& known, int order, unsigned modes, DType dtype, bool compiled) {
  const Scalar f = derived(known.f, order, modes);
  const Tensor x = cast(Tensor({1.5, 2.25}), dtype);
  const Tensor y = cast(compiled ? function(f)(x) : f(x), float64);
  for (int i = 0; i < 2; ++i) {
    const double expected = known.derivative(order, i == 0 ? 1.5 : 2.25);
    EXPECT_NEAR(y.data<double>()[i], expected,
                (dtype == float64 ? 1e-11 : 1e-4) * (1 + std::abs(expected)))
        << known.name << ' ' << mix_name(order, modes) << (compiled ? " compiled" : "");
  }
}

TEST(Orders, EveryMixOfModesUpToFour) {
  for (const Known& known : kKnown)
    for (int order = 1; order <= 4; ++order)
      for (unsigned modes = 0; modes < 1u << order; ++modes) {
        expect_known(known, order, modes, float64, false);
        expect_known(known, order, modes, float32, false);
      }
}

TEST(Orders, EveryMixOfModesCompiled) {
  for (const Known& known : kKnown)
    for (unsigned modes = 0; modes < 8; ++modes) expect_known(known, 3, modes, float64, true);
}

// Forward over forward doubles what an op reads each time: beyond sixteen inputs it is several ops.
TEST(Orders, BeyondWhatAKernelTakes) {
  for (const Known& known : kKnown)
    for (unsigned modes : {0b11111u, 0b00000u, 0b10101u, 0b01110u})
      for (DType dtype : {float64, float32}) expect_known(known, 5, modes, dtype, false);
  expect_known(kKnown[0], 7, 0b1111111, float64, false);
  expect_known(kKnown[1], 7, 0b1011101, float64, false);
  expect_known(kKnown[3], 6, 0b111111, float64, true);
}

TEST(Orders, ReverseOnlyToTwelve) {
  for (const Known& known : {kKnown[0], kKnown[6], kKnown[7]})
    expect_known(known, 12, 0, float64, false);
}

// Which inputs a kernel repeats along rows, and of what dtypes they are, is known for all sixteen.
TEST(Orders, KernelsOfManyInputsAreNotMixedUp) {
  auto rule = std::make_unique<ElementwiseRule>();
  rule->arity = expr::kMaxInputs;
  rule->value = [](ElementwiseRule::Exprs in) {
    Expr sum = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) sum = sum + static_cast<double>(i + 1) * in[i];
    return sum;
  };
  const Op op =
      make_elementwise({.name = "sum_of_many", .doc = "For this test."}, std::move(rule), true);
  const std::vector<float> column = {0, 1, 2, 3, 4, 5, 6};
  for (const DType dtype : {float32, float64, float16}) {
    const Tensor whole = cast(Tensor::from(column, {7}), dtype), one = cast(1.0, dtype);
    for (std::size_t repeated = 0; repeated <= expr::kMaxInputs; ++repeated) {
      std::vector<Tensor> in(static_cast<std::size_t>(op.elementwise->arity), whole);
      if (repeated < in.size()) in[repeated] = one;
      const Tensor y = cast(op.run_one(in, nullptr), float64);
      const double weight = repeated < in.size() ? static_cast<double>(repeated + 1) : 0;
      for (int i = 0; i < 7; ++i)
        EXPECT_EQ(y.data<double>()[i], (136 - weight) * i + weight) << name_of(dtype) << repeated;
    }
  }
}

// All partial derivatives at once: those of exp(a . x) are products of elements of a, those of
// x * x * x stand on the diagonal.
TEST(Orders, JacobiansOfJacobians) {
  const std::vector<double> a = {0.5, -1, 2}, at = {0.25, 1.5, -0.75};
  const Tensor weights = Tensor::from(a, {3}), x = Tensor::from(at, {3});
  const double value = std::exp(0.5 * 0.25 - 1.5 - 1.5);
  for (unsigned modes = 0; modes < 8; ++modes) {
    const auto differentiated = [&](Scalar f) {
      for (int k = 0; k < 3; ++k) {
        const auto mode = modes >> k & 1 ? JacobianMode::forward : JacobianMode::reverse;
        f = [f, mode](const Tensor& z) -> Tensor {
          return jacobian(f, z, {.mode = mode}).tensor();
        };
      }
      return f;
    };
    const Scalar of_exp =
        differentiated([&](const Tensor& z) { return exp(reduce_sum(weights * z)); });
    const Scalar of_cube = differentiated([](const Tensor& z) { return z * z * z; });
    for (const bool compiled : {false, true}) {
      const Tensor e = compiled ? function(of_exp)(x) : of_exp(x);
      const Tensor c = compiled ? function(of_cube)(x) : of_cube(x);
      ASSERT_EQ(e.shape(), (Shape{3, 3, 3}));
      ASSERT_EQ(c.shape(), (Shape{3, 3, 3, 3}));
      for (std::size_t i = 0; i < 27; ++i)
        EXPECT_NEAR(e.data<double>()[i], a[i / 9] * a[i / 3 % 3] * a[i % 3] * value, 1e-14)
            << mix_name(3, modes) << compiled;
      for (std::size_t i = 0; i < 81; ++i)
        EXPECT_EQ(c.data<double>()[i], i % 40 == 0 ? 6 : 0) << mix_name(3, modes) << compiled;
    }
  }
}

TEST(Orders, OfAHessianVectorProduct) {
  const auto cube = [](const Tensor& z) { return z * z * z; };
  const auto along = [&](const Tensor& z) { return hvp(cube, z, Tensor(1.0)); };
  EXPECT_EQ(grad(along)(Tensor(1.5)).item<float>(), 6.0f);
  EXPECT_EQ(jvp(along, Tensor(1.5), Tensor(1.0)).second.item<float>(), 6.0f);
}

}  // namespace
}  // namespace gradus
