// Derivatives of special functions in their parameters, against numbers of mpmath (40 digits).
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Two = std::function<Tensor(const Tensor&, const Tensor&)>;

// The first or the second partial derivative, in forward or in reverse mode.
Two partial(const Two& f, bool in_second, bool forward) {
  return [=](const Tensor& a, const Tensor& b) -> Tensor {
    const auto along = [&](const Tensor& t) { return in_second ? f(a, t) : f(t, b); };
    const Tensor& at = in_second ? b : a;
    return forward ? jvp(along, at, ones({}, float64)).second : grad(along)(at);
  };
}

// `first` derivatives in a and `second` in b, with the modes taking turns.
double mixed(Two f, int first, int second, double a, double b) {
  for (int k = 0; k < first + second; ++k) f = partial(f, k >= first, k % 2 == 1);
  return f(Tensor(a), Tensor(b)).item<double>();
}

TEST(SpecialOrders, BetaincInItsParameters) {
  struct Row {
    int in_a, in_b;
    double a, b, x, expected;
  };
  for (const Row& r : {Row{1, 0, 2.5, 1.5, 0.25, -0.0718309617078676433},
                       Row{0, 1, 2.5, 1.5, 0.25, 0.0589901345607787459},
                       Row{1, 0, 2.5, 1.5, 0.9, -0.0481436845339331949},
                       Row{1, 1, 0.5, 3, 0.125, 0.0702855805622001351},
                       Row{2, 1, 4, 0.75, 0.625, 0.0270562574481391211},
                       Row{0, 3, 1.25, 2, 0.5, 0.0567898741782705577},
                       Row{4, 0, 3, 2, 0.375, 0.0159172006349484422},
                       Row{2, 2, 20, 30, 0.375, -0.000145112221717862747},
                       Row{1, 0, 1e-2, 5, 0.5, -0.0111881225904602605},
                       Row{1, 0, 200, 300, 0.375, -0.0116603786627788591}}) {
    const auto f = [&](const Tensor& a, const Tensor& b) { return betainc(a, b, Tensor(r.x)); };
    EXPECT_NEAR(mixed(f, r.in_a, r.in_b, r.a, r.b) / r.expected, 1, 2e-11)
        << r.in_a << r.in_b << " at " << r.a << ", " << r.b << ", " << r.x;
  }
  for (const double end : {0.0, 1.0}) {
    const auto f = [&](const Tensor& a, const Tensor& b) { return betainc(a, b, Tensor(end)); };
    EXPECT_EQ(mixed(f, 1, 0, 2, 3), 0);
  }
  // In x at the end of its range, where the logarithm of the integrand has a pole.
  const auto slope = [](const Tensor& a, const Tensor& x) { return betainc(a, Tensor(3.0), x); };
  EXPECT_EQ(mixed(slope, 1, 1, 2, 0), 0);
}

TEST(SpecialOrders, ZetaInItsExponent) {
  const auto f = [](const Tensor& s, const Tensor& q) { return zeta(s, q); };
  EXPECT_NEAR(mixed(f, 1, 0, 2.5, 0.75), 0.163079621111213144, 1e-15);
  EXPECT_NEAR(mixed(f, 1, 0, 1.125, 3) / -63.6106013631138143, 1, 1e-14);
  EXPECT_NEAR(mixed(f, 2, 0, 3, 0.25) / 123.246012571727535, 1, 1e-14);
  EXPECT_NEAR(mixed(f, 3, 0, 2.5, 1.5) / -1.18605755530423747, 1, 1e-14);
  EXPECT_NEAR(mixed(f, 4, 0, 1.5, 10) / 763.413117547724356, 1, 1e-14);
  EXPECT_NEAR(mixed(f, 1, 1, 2.5, 0.75) / -4.54394518450489502, 1, 1e-14);
  EXPECT_NEAR(mixed(f, 2, 1, 3, 1.25) / 0.0588174989567337471, 1, 1e-13);
}

// Third derivatives of lgamma below 0 need zeta there, of whole exponents.
TEST(SpecialOrders, BelowZero) {
  const auto of = [](double s, double q) { return zeta(Tensor(s), Tensor(q)).item<double>(); };
  EXPECT_NEAR(of(3, -0.5), 0.414398322117159998, 1e-15);
  EXPECT_NEAR(of(4, -7.25) / 259.756865867234083, 1, 1e-15);
  EXPECT_NEAR(of(2, -1000.5) / 9.86860540017344142, 1, 1e-15);
  EXPECT_EQ(of(2, -3), INFINITY);
  EXPECT_TRUE(std::isnan(of(2.5, -0.5)));
  EXPECT_NEAR(polygamma(Tensor(4.0), Tensor(-0.25)).item<double>() / 24473.1993941845825, 1, 1e-14);
  const auto log_gamma = [](const Tensor& x, const Tensor&) { return lgamma(x); };
  EXPECT_NEAR(mixed(log_gamma, 3, 0, -0.5, 0) / -0.828796644234319996, 1, 1e-14);
  EXPECT_NEAR(mixed(log_gamma, 4, 0, -7.25, 0) / 1558.5411952034045, 1, 1e-14);
}

// 1 + tan^2 is 0 but for its last digits far from the real axis, x^2 + 1 near i and -i; e^x - 1 and
// the slopes of the factors of x^2 - 1 cancel near 0. Each row: the value and four derivatives.
TEST(SpecialOrders, OfComplexFunctionsKeepTheirDigits) {
  using Number = std::complex<double>;
  using One = std::function<Tensor(const Tensor&)>;
  struct Row {
    const char* name;
    One f;
    Number x;
    std::vector<Number> expected;
  };
  const Tensor one = cast(Tensor(1.0), complex128);
  const std::vector<Row> rows = {
      {"tan",
       [](const Tensor& x) { return tan(x); },
       {0.3, 4},
       {{0.00037862319504918585, 0.99944634306456385},
        {0.001107150690393972, 0.00075682713538265975},
        {-0.001511977839716862, 0.0022136485220875219},
        {-0.0044246847895455579, -0.0030172534813052653},
        {0.0060077193199216263, -0.0088389156487622016}}},
      {"tan",
       [](const Tensor& x) { return tan(x); },
       {1.2, -20},
       {{5.7392137547745464e-18, -1.0},
        {-1.2530838916979702e-17, -1.1478427509549093e-17},
        {-2.2956855019098186e-17, 2.5061677833959405e-17},
        {5.012335566791881e-17, 4.5913710038196373e-17},
        {9.1827420076392751e-17, -1.0024671133583762e-16}}},
      {"tan",
       [](const Tensor& x) { return tan(x); },
       {-0.3, 0.4},
       {{-0.26107368184166302, 0.41063347084255636},
        {0.8995396199741573, -0.21441118424057474},
        {-0.29360342355386716, 0.85071638721620071},
        {0.98103775195820472, -1.4568115253174085},
        {0.19395604608504925, 6.5355938919774485}}},
      {"tanh",
       [](const Tensor& x) { return tanh(x); },
       {20, 1.2},
       {{1.0, 5.7392137547745464e-18},
        {-1.2530838916979702e-17, -1.1478427509549093e-17},
        {2.5061677833959405e-17, 2.2956855019098186e-17},
        {-5.012335566791881e-17, -4.5913710038196373e-17},
        {1.0024671133583762e-16, 9.1827420076392751e-17}}},
      {"atan",
       [](const Tensor& x) { return atan(x); },
       {1e-09, 1.00000001},
       {{1.5209620004984507, 9.5544263850515124},
        {-49504950.539956687, -4950495.109082159},
        {980296067044134.17, -4852465501781973.2},
        {9.4147245996129841e+23, 2.9020646116867802e+23},
        {-1.1416446832474103e+32, 2.7102529280306377e+32}}},
      {"asinh",
       [](const Tensor& x) { return asinh(x); },
       {-1e-09, 0.99999999},
       {{-7.062267420688184e-6, 1.5706547292110379},
        {7044.7430759740131, 351.36093302898588},
        {52269070797.620726, -347010243205.32583},
        {-5.0759901245434182e+19, -1.2916350683676986e+19},
        {-4.4535496778332528e+27, 1.2244620286386579e+28}}},
      {"acosh",
       [](const Tensor& x) { return acosh(x); },
       {1e-10, 1e-10},
       {{1.0e-10, 1.5707963266948966},
        {1.0000000000000001e-20, -1.0},
        {1.0e-10, -1.0e-10},
        {9.0000000000000007e-20, -1.0},
        {9.0000000000000003e-10, -9.0000000000000003e-10}}},
      {"atanh",
       [](const Tensor& x) { return atanh(x); },
       {1e-10, -1e-10},
       {{1.0e-10, -1.0e-10},
        {1.0, -2.0000000000000001e-20},
        {2.0000000000000001e-10, -2.0000000000000001e-10},
        {2.0, -2.4000000000000002e-19},
        {2.4000000000000001e-9, -2.4000000000000001e-9}}},
      {"expm1",
       [](const Tensor& x) { return expm1(x); },
       {1e-10, -1e-10},
       {{1.0e-10, -1.0000000001e-10},
        {1.0000000001, -1.0000000001e-10},
        {1.0000000001, -1.0000000001e-10},
        {1.0000000001, -1.0000000001e-10},
        {1.0000000001, -1.0000000001e-10}}},
      {"log1p",
       [](const Tensor& x) { return log1p(x); },
       {-1e-10, 1e-10},
       {{-1.0e-10, 1.0000000001e-10},
        {1.0000000001, -1.0000000002e-10},
        {-1.0000000002, 2.0000000006000001e-10},
        {2.0000000006, -6.0000000024000002e-10},
        {-6.0000000024, 2.4000000012000001e-9}}},
  };
  for (const auto& [name, f, x, expected] : rows) {
    One derivative = f;
    for (std::size_t order = 0; order < expected.size(); ++order) {
      const Number found = derivative(Tensor(x)).item<Number>();
      EXPECT_LT(std::abs(found - expected[order]), 1e-14 * std::abs(expected[order]))
          << name << " at " << x << ", order " << order << ": " << found;
      derivative = [derivative, one](const Tensor& t) { return jvp(derivative, t, one).second; };
    }
  }
  // Far out, where cos^2 and cosh^2 would overflow.
  const auto slope = [&](const One& f, Number x) {
    return jvp(f, Tensor(x), one).second.item<Number>();
  };
  for (const double far : {400.0, 800.0}) {
    EXPECT_EQ(slope([](const Tensor& x) { return tan(x); }, {1, far}), 0.0);
    EXPECT_EQ(slope([](const Tensor& x) { return tanh(x); }, {-far, 1}), 0.0);
  }
}

// Derivatives that are small beside the terms that they were made of.
TEST(SpecialOrders, OfRealFunctionsKeepTheirDigits) {
  const auto expect = [](const char* name, const Two& f, double x,
                         const std::vector<double>& expected) {
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(mixed(f, static_cast<int>(k), 0, x, 1) / expected[k], 1, 2e-14)
          << name << " at " << x << ", order " << k;
  };
  expect("atanh", [](const Tensor& x, const Tensor&) { return atanh(x); }, 1e-10,
         {1e-10, 1, 2e-10, 2, 2.4e-9});
  const auto norm = [](const Tensor& x, const Tensor& y) { return hypot(x, y); };
  expect("hypot", norm, 1e5,
         {100000.000005, 0.99999999995, 9.9999999985e-16, -2.99999999925e-20, 1.19999999955e-24});
  expect("hypot", norm, -3,
         {3.1622776601683793, -0.9486832980505138, 0.031622776601683793, 0.028460498941515414,
          0.033203915431767983});
  EXPECT_NEAR(mixed(norm, 1, 1, 1e5, 1) / -9.9999999985e-11, 1, 1e-14);
  expect("lgamma", [](const Tensor& x, const Tensor&) { return lgamma(x); }, -1e-10,
         {23.025850929998178, 9999999999.422784, 1e20, 2e30, 6e40});
}

}  // namespace
}  // namespace gradus
