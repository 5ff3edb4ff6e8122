// Derivatives of special functions in their parameters, against numbers of mpmath (40 digits).
#include <gtest/gtest.h>

#include <cmath>
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

}  // namespace
}  // namespace gradus
