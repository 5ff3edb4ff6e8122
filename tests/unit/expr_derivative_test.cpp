#include <gtest/gtest.h>

#include <cmath>

#include "gradus/error.h"
#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

Expr cube(Expr x);
// A function whose lowering is useless for derivatives: the rule must come from scales.
const Fn kCube = {
    "cube",
    1,
    [](const Expr* in) { return bitcast(bitcast(in[0] * in[0] * in[0], Type::i64), Type::f64); },
    {[](Expr g, const Expr* in, Expr) { return scaled(g, 3 * in[0] * in[0]); }}};
Expr cube(Expr x) { return call(kCube, x); }

// hypot-like, with the partials in terms of the output.
const Fn kNorm = {"norm",
                  2,
                  [](const Expr* in) { return sqrt(in[0] * in[0] + in[1] * in[1]); },
                  {[](Expr g, const Expr* in, Expr out) { return scaled(g, in[0] / out); },
                   [](Expr g, const Expr* in, Expr out) { return scaled(g, in[1] / out); }}};

using Function = Expr (*)(Expr x, Expr y);

struct Case {
  const char* name;
  Function f;
};

const Case kCases[] = {
    {"add sub", [](Expr x, Expr y) { return (x + y) - (y - x) * 3; }},
    {"mul div", [](Expr x, Expr y) { return x * y / (x + 2 * y) + 1 / x; }},
    {"fma", [](Expr x, Expr y) { return fma(x, y, x * y * y); }},
    {"sqrt", [](Expr x, Expr y) { return sqrt(x * y + 1) * x; }},
    {"abs neg", [](Expr x, Expr y) { return abs(x - 2 * y) * -(y * x); }},
    {"min max", [](Expr x, Expr y) { return min(x * x, y) * max(x, y * y * 0.3); }},
    {"select", [](Expr x, Expr y) { return select(x < y, x * x * y, y * y * y * x); }},
    {"floor", [](Expr x, Expr y) { return x * floor(y * 3) + rem(x * x, y); }},
    {"convert", [](Expr x, Expr y) { return convert(convert(x * x, Type::f64), x.type()) * y; }},
    {"call", [](Expr x, Expr y) { return cube(x * y) + call(kNorm, x, cube(y)); }},
    {"shared",
     [](Expr x, Expr y) {
       Expr v = x;
       for (int k = 0; k < 6; ++k) v = v * v * 0.3 + y;
       return v;
     }},
};

// Points away from kinks.
const double kPoints[][2] = {{0.7, 1.3}, {1.9, 0.45}, {1.1, 2.6}, {0.31, 0.77}};

std::vector<double> eval(const std::vector<Expr>& values, double x, double y) {
  Builder& b = values[0].builder();
  for (const Expr v : values) b.output(v, float64);
  const Program p = b.finish();
  std::vector<double> results;
  for (const Isa isa : isas()) {
    const auto out =
        run(compile(p, isa), p, 1, 1, {Array::of(std::vector{x}), Array::of(std::vector{y})});
    std::vector<double> now;
    for (const Array& a : out) now.push_back(a.at<double>(0));
    if (!results.empty()) {
      for (std::size_t k = 0; k < now.size(); ++k)
        EXPECT_TRUE(now[k] == results[k] || (now[k] != now[k] && results[k] != results[k]));
    }
    results = now;
  }
  return results;
}

TEST(ExprDerivative, AgreesWithFiniteDifferencesToSecondOrder) {
  for (const Case& c : kCases) {
    for (const auto& point : kPoints) {
      const auto all = [&](double px, double py) {
        Builder b;
        const Expr x = b.input(float64), y = b.input(float64);
        const Expr f = c.f(x, y), g = b.constant(Type::f64, 1.5);
        const Expr fx = scale_through(f, x, g), fy = scale_through(f, y, g);
        const Expr one = b.constant(Type::f64, 1);
        return eval({f, fx, fy, scale_through(fx, x, one), scale_through(fx, y, one),
                     scale_through(fy, x, one), scale_through(fy, y, one)},
                    px, py);
      };
      const double px = point[0], py = point[1], h = 1e-5;
      const auto at = all(px, py), right = all(px + h, py), left = all(px - h, py),
                 up = all(px, py + h), down = all(px, py - h);
      const auto near = [&](double got, double want, const char* what) {
        EXPECT_NEAR(got, want, 2e-7 * (1 + std::fabs(want)))
            << c.name << ' ' << what << " at " << px << ", " << py;
      };
      near(at[1], 1.5 * (right[0] - left[0]) / (2 * h), "dx");
      near(at[2], 1.5 * (up[0] - down[0]) / (2 * h), "dy");
      near(at[3], (right[1] - left[1]) / (2 * h), "dxx");
      near(at[4], (up[1] - down[1]) / (2 * h), "dxy");
      near(at[5], (right[2] - left[2]) / (2 * h), "dyx");
      near(at[6], (up[2] - down[2]) / (2 * h), "dyy");
    }
  }
}

TEST(ExprDerivative, IsZeroWhereNothingDepends) {
  Builder b;
  const Expr x = b.input(float32), y = b.input(float32), g = b.input(float32);
  const Expr zero = b.constant(Type::f32, 0);
  EXPECT_TRUE(scale_through(y * 2, x, g).same_as(zero));
  EXPECT_TRUE(scale_through(floor(x), x, g).same_as(zero));
  EXPECT_TRUE(scale_through(select(x < 0, y, y * 2), x, g).same_as(zero));
  EXPECT_TRUE(scale_through(convert(convert(x, Type::i32), Type::f32), x, g).same_as(zero));
  EXPECT_TRUE(scale_through(x, x, g).same_as(g));
  EXPECT_TRUE(scale_through(x + y, x, g).same_as(g));
  EXPECT_TRUE(depends_on(x * y, x));
  EXPECT_FALSE(depends_on(y, x));
}

TEST(ExprDerivative, ABranchNotTakenContributesNothing) {
  // d/dx of x < 1 ? x : 1 / (x - x) and friends: the infinite branch is not taken.
  Builder b;
  const Expr x = b.input(float64), y = b.input(float64);
  const Expr f = select(x > 0, x * y, sqrt(y - y) * x / (x - x));
  const Expr fx = scale_through(f, x, b.constant(Type::f64, 1));
  const Expr fxy = scale_through(fx, y, b.constant(Type::f64, 1));
  EXPECT_EQ(eval({fx, fxy}, 2.0, 3.0), (std::vector{3.0, 1.0}));
}

TEST(ExprDerivative, ScaledIsExactlyZeroAndStillHasADerivative) {
  const double inf = HUGE_VAL;
  for (const double p : {inf, -inf, std::nan(""), 0.0, 7.0}) {
    Builder b;
    const Expr g = b.input(float64), partial = b.input(float64);
    const Expr s = scaled(g, partial), h = b.constant(Type::f64, 2);
    const auto got = eval({s, scale_through(s, g, h), scale_through(s, partial, h)}, 0.0, p);
    EXPECT_EQ(got[0], 0.0) << p;
    EXPECT_FALSE(std::signbit(got[0]));
    EXPECT_EQ(got[2], 0.0);
    EXPECT_TRUE(p == p ? got[1] == 2 * p : std::isnan(got[1]));
  }
}

TEST(ExprDerivative, MissingRulesAreErrors) {
  static const Fn opaque = {"opaque", 1, [](const Expr* in) { return in[0] + 1; }};
  static const Fn flat = {"flat", 1, [](const Expr* in) { return floor(in[0]); }, {nullptr}};
  Builder b;
  const Expr x = b.input(float32), g = b.input(float32);
  EXPECT_THROW(scale_through(call(opaque, x), x, g), LookupError);
  EXPECT_THROW(scale_through(bit_and(x, x * 2), x, g), UnimplementedError);
  EXPECT_THROW(scale_through(row_sum(x), x, g), UnimplementedError);
  EXPECT_TRUE(scale_through(call(flat, x), x, g).same_as(b.constant(Type::f32, 0)));
}

}  // namespace
}  // namespace gradus::expr
