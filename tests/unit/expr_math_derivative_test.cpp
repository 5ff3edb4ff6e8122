// Derivatives of the scalar functions: against differences of the values, against analytic values
// in the tails, and the conventions at kinks and poles.
#include <gtest/gtest.h>

#include "expr/conventions.h"
#include "unit/expr_math_util.h"

namespace gradus::expr {
namespace {

using Real = long double;

// Where a function is smooth: every argument is drawn from (low, high).
struct Domain {
  double low = -2, high = 2;
};

Domain domain_of(const Fn& fn) {
  const std::string name = fn.name;
  for (const char* positive :
       {"log",      "log2",       "log10",    "sqrt",       "rsqrt",
        "cbrt",     "reciprocal", "pow",      "lgamma",     "digamma",
        "trigamma", "xlogy",      "xdivy",    "div_no_nan", "reciprocal_no_nan",
        "atan2",    "hypot",      "relu",     "leaky_relu", "abs",
        "xlog1py",  "log1p",      "logaddexp"})
    if (name == positive) return {0.3, 3};
  if (name == "acosh") return {1.2, 3};
  if (name == "asin" || name == "acos" || name == "atanh" || name == "erfinv") return {-0.8, 0.8};
  if (name == "relu6" || name == "softsign" || name == "elu" || name == "selu") return {0.2, 4};
  if (name == "tan") return {-1.2, 1.2};
  return {};
}

bool piecewise_constant_or_kinked(const Fn& fn) {
  const std::string name = fn.name;
  for (const char* other :
       {"maximum", "minimum", "clip_by_value", "floormod", "truncatemod", "zeta", "polygamma"})
    if (name == other) return true;
  for (const auto scale : fn.scales)
    if (scale != nullptr) return false;
  return true;
}

std::vector<std::vector<double>> points_for(const Fn& fn, int count) {
  const Domain d = domain_of(fn);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> draw(d.low, d.high);
  std::vector<std::vector<double>> points(static_cast<std::size_t>(fn.arity));
  for (auto& p : points)
    for (int i = 0; i < count; ++i) p.push_back(draw(random));
  return points;
}

// (f(x + h) - f(x - h)) / 2h, and once more with h / 2 to cancel the error in h^2.
std::vector<double> difference(const std::function<std::vector<double>(double)>& f_at, double h) {
  const auto slope = [&](double step) {
    std::vector<double> up = f_at(step), down = f_at(-step);
    for (std::size_t i = 0; i < up.size(); ++i) up[i] = (up[i] - down[i]) / (2 * step);
    return up;
  };
  std::vector<double> coarse = slope(h), fine = slope(h / 2);
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = (4 * fine[i] - coarse[i]) / 3;
  return fine;
}

TEST(ExprMathDerivative, FirstAndSecondAgainstDifferences) {
  for (const Fn* fn : math_functions()) {
    if (piecewise_constant_or_kinked(*fn)) continue;
    const auto points = points_for(*fn, 60);
    for (int k = 0; k < fn->arity; ++k) {
      const auto moved = [&](double step) {
        auto p = points;
        for (double& x : p[static_cast<std::size_t>(k)]) x += step;
        return p;
      };
      const auto d = derivative<double>(*fn, k, points);
      const auto want = difference([&](double s) { return evaluate<double>(*fn, moved(s)); }, 1e-3);
      for (std::size_t i = 0; i < d.size(); ++i)
        EXPECT_NEAR(d[i], want[i], 2e-9 * (1 + std::fabs(want[i])))
            << "d " << fn->name << " / d " << k << " at " << points[0][i];

      auto with_g = points;
      with_g.push_back(std::vector<double>(points[0].size(), 1.0));
      const auto second = evaluate<double>(
          [&](const Exprs& in) {
            const Exprs args(in.begin(), in.end() - 1);
            const Expr x = in[static_cast<std::size_t>(k)];
            return scale_through(scale_through(call(*fn, args), x, in.back()), x, in.back());
          },
          with_g);
      const auto want2 =
          difference([&](double s) { return derivative<double>(*fn, k, moved(s)); }, 1e-3);
      for (std::size_t i = 0; i < second.size(); ++i)
        EXPECT_NEAR(second[i], want2[i], 5e-9 * (1 + std::fabs(want2[i])))
            << "d^2 " << fn->name << " / d " << k << " at " << points[0][i];
    }
  }
}

// Digits in the tails: float32 derivatives against the exact ones.
TEST(ExprMathDerivative, TailsKeepTheirDigits) {
  const struct {
    const Fn* fn;
    Real (*reference)(Real);
    double low, high, bound;
  } rows[] = {
      {&tanh_fn, reference::sech_squared, 2, 43, 4},
      {&sigmoid_fn, reference::sigmoid_slope, 2, 86, 4},
      {&softplus_fn, reference::sigmoid, -86, -2, 3},
      {&log_sigmoid_fn, [](Real x) { return reference::sigmoid(-x); }, 2, 86, 3},
      {&gelu_fn, reference::gelu_slope, -12.5, -2, 16},
      {&silu_fn, reference::silu_slope, -82, -2, 12},
      {&expm1_fn, [](Real x) -> Real { return std::exp(x); }, -86, -2, 1.1},
      {&elu_fn, [](Real x) -> Real { return std::exp(x); }, -86, -2, 1.1},
      {&erf_fn, reference::erf_slope, 2, 9.2, 2.5},
      {&erfc_fn, [](Real x) { return -reference::erf_slope(x); }, 2, 9.2, 2.5},
      {&ndtr_fn, reference::normal_pdf, -13, -2, 2},
      {&asin_fn, reference::asin_slope, 0.9, 0.99999994, 3},
      {&acos_fn, [](Real x) { return -reference::asin_slope(x); }, 0.9, 0.99999994, 3},
      {&atanh_fn, [](Real x) -> Real { return 1 / ((1 - x) * (1 + x)); }, 0.9, 0.99999994, 2},
      {&acosh_fn, [](Real x) -> Real { return 1 / (std::sqrt(x - 1) * std::sqrt(x + 1)); },
       1.0000001, 1.01, 3},
      {&asinh_fn, [](Real x) -> Real { return 1 / std::hypot(x, 1.0L); }, 1, 3e38, 2},
      {&log1p_fn, [](Real x) -> Real { return 1 / (1 + x); }, -0.99999994, -0.9, 1.1},
  };
  for (const auto& row : rows) {
    std::mt19937_64 random(9);
    std::uniform_real_distribution<double> draw(row.low, row.high);
    std::vector<float> x;
    for (int i = 0; i < 2000; ++i) x.push_back(static_cast<float>(draw(random)));
    const std::vector<float> d = derivative<float>(*row.fn, 0, {x});
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(d[i], row.reference(x[i])), row.bound)
          << "d " << row.fn->name << " at " << x[i] << ": " << d[i] << ", not "
          << row.reference(x[i]);
  }
}

// The second derivative near 0, where 1 - tanh^2 and its like would cancel.
TEST(ExprMathDerivative, CurvatureNearZeroKeepsItsDigits) {
  const std::vector<float> x = {1e-4f, -3e-5f, 1e-10f};
  for (const Fn* fn : {&tanh_fn, &sigmoid_fn, &asin_fn}) {
    std::vector<std::vector<float>> in = {x, {1, 1, 1}};
    const auto second = evaluate<float>(
        [&](const Exprs& e) {
          return scale_through(scale_through(call(*fn, e[0]), e[0], e[1]), e[0], e[1]);
        },
        in);
    const double factor = fn == &tanh_fn ? -2 : fn == &sigmoid_fn ? -0.125 : 1;
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(second[i] / (factor * x[i]), 1, 1e-6) << fn->name << " at " << x[i];
  }
}

// A cotangent of 0 stays 0 at every pole, and with a NaN or an infinity as argument.
TEST(ExprMathDerivative, ZeroCotangentGivesZero) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Fn* fn : math_functions()) {
    for (int k = 0; k < fn->arity; ++k)
      for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, nan}) {
        const std::vector<std::vector<float>> in(static_cast<std::size_t>(fn->arity), {x});
        EXPECT_EQ(derivative<float>(*fn, k, in, 0.0f)[0], 0) << fn->name << " at " << x;
      }
  }
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    list.push_back(std::strtod(text.substr(at, comma - at).c_str(), nullptr));
    at = comma + 1;
  }
  return list;
}

template <class T>
bool agrees(T got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want);
  return ulps(got, static_cast<T>(want)) <= 3;
}

template <class T>
void check_convention(const Convention& row) {
  const Fn* fn = nullptr;
  for (const Fn* f : math_functions())
    if (std::string(f->name) == row.fn) fn = f;
  ASSERT_NE(fn, nullptr) << row.fn;
  std::vector<std::vector<T>> in;
  for (const double x : numbers(row.point)) in.push_back({static_cast<T>(x)});
  const std::vector<double> slopes = numbers(row.derivative);
  ASSERT_EQ(in.size(), static_cast<std::size_t>(fn->arity)) << row.fn;
  ASSERT_EQ(slopes.size(), in.size()) << row.fn;
  const T y = evaluate<T>(*fn, in)[0];
  EXPECT_TRUE(agrees(y, numbers(row.value)[0])) << row.fn << "(" << row.point << ") = " << y;
  for (int k = 0; k < fn->arity; ++k) {
    const T d = derivative<T>(*fn, k, in)[0];
    EXPECT_TRUE(agrees(d, slopes[static_cast<std::size_t>(k)]))
        << "d " << row.fn << "(" << row.point << ") / d " << k << " = " << d;
  }
}

TEST(ExprMathDerivative, Conventions) {
  for (const Convention& row : conventions()) {
    check_convention<float>(row);
    check_convention<double>(row);
  }
}

}  // namespace
}  // namespace gradus::expr
