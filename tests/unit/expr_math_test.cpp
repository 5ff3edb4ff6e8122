// Values of the scalar functions: accuracy over their ranges, special values, the same bits from
// every instruction set.
#include "unit/expr_math_util.h"

#include <gtest/gtest.h>

namespace gradus::expr {
namespace {

using Real = long double;
using Reference = Real (*)(Real);

struct Range {
  double low, high;
  bool logarithmic = false;
};

struct Accuracy {
  const Fn* fn;
  Reference reference;
  double bound32, bound64;  // in ulps
  std::vector<Range> ranges32, ranges64;
};

constexpr bool kLog = true;

const Accuracy kAccuracies[] = {
    {&exp_fn, ::expl, 1.05, 1.05, {{-104, 89}, {-1, 1}}, {{-746, 710}, {-1, 1}}},
    {&exp2_fn, ::exp2l, 1.05, 1.05, {{-151, 128}, {-1, 1}}, {{-1076, 1024}, {-1, 1}}},
    {&expm1_fn,
     ::expm1l,
     1.6,
     2,
     {{-20, 89}, {-1, 1}, {1e-20, 1, kLog}},
     {{-40, 710}, {-1, 1}, {1e-30, 1, kLog}}},
    {&log_fn, ::logl, 0.9, 0.9, {{1e-45, 3e38, kLog}, {0.5, 2}}, {{5e-324, 1e308, kLog}, {0.5, 2}}},
    {&log1p_fn,
     ::log1pl,
     1.5,
     1.5,
     {{1e-45, 3e38, kLog}, {-1, 2}},
     {{5e-324, 1e308, kLog}, {-1, 2}}},
    {&log2_fn,
     ::log2l,
     1.9,
     1.8,
     {{1e-45, 3e38, kLog}, {0.5, 2}},
     {{5e-324, 1e308, kLog}, {0.5, 2}}},
    {&log10_fn, ::log10l, 2, 2, {{1e-45, 3e38, kLog}, {0.5, 2}}, {{5e-324, 1e308, kLog}, {0.5, 2}}},
    {&sinh_fn,
     ::sinhl,
     1.8,
     1.8,
     {{-89.5, 89.5}, {-2, 2}, {1e-40, 1, kLog}},
     {{-710.5, 710.5}, {-2, 2}}},
    {&cosh_fn, ::coshl, 1.6, 1.6, {{-89.5, 89.5}, {-2, 2}}, {{-710.5, 710.5}, {-2, 2}}},
    {&tanh_fn,
     ::tanhl,
     1.6,
     1.6,
     {{-10, 10}, {-1, 1}, {1e-40, 1, kLog}},
     {{-20, 20}, {-1, 1}, {1e-300, 1, kLog}}},
    {&sech_squared_fn,
     reference::sech_squared,
     3.2,
     3.2,
     {{-43.8, 43.8}, {-1, 1}},
     {{-354, 354}, {-1, 1}}},
    {&asinh_fn,
     ::asinhl,
     2.4,
     2.4,
     {{1e-45, 3e38, kLog}, {-4, 4}},
     {{5e-324, 1e308, kLog}, {-4, 4}}},
    {&acosh_fn,
     ::acoshl,
     2.2,
     2.3,
     {{1, 3e38, kLog}, {1, 4}, {1, 1.001}},
     {{1, 1e308, kLog}, {1, 4}, {1, 1.001}}},
    {&atanh_fn, ::atanhl, 2.2, 2, {{1e-45, 1, kLog}, {-1, 1}}, {{5e-324, 1, kLog}, {-1, 1}}},
    {&sigmoid_fn, reference::sigmoid, 2.5, 2.5, {{-87.5, 50}, {-1, 1}}, {{-708, 50}, {-1, 1}}},
    {&sigmoid_slope_fn,
     reference::sigmoid_slope,
     3.2,
     3.2,
     {{-87.5, 87.5}, {-1, 1}},
     {{-708, 708}, {-1, 1}}},
    {&softplus_fn, reference::softplus, 2, 2, {{-87.5, 104}, {-2, 2}}, {{-708, 746}, {-2, 2}}},
    {&log_sigmoid_fn,
     reference::log_sigmoid,
     2.1,
     2,
     {{-104, 87.5}, {-2, 2}},
     {{-746, 708}, {-2, 2}}},
    {&sin_fn,
     ::sinl,
     2.4,
     1.6,
     {{-4, 4}, {-1e5, 1e5}, {1e-40, 1e5, kLog}},
     {{-4, 4}, {-1e5, 1e5}, {1e-300, 1e13, kLog}}},
    {&cos_fn,
     ::cosl,
     2.4,
     1.6,
     {{-4, 4}, {-1e5, 1e5}, {1e-40, 1e5, kLog}},
     {{-4, 4}, {-1e5, 1e5}, {1e-300, 1e13, kLog}}},
    {&tan_fn,
     ::tanl,
     3.4,
     2.6,
     {{-4, 4}, {-1e5, 1e5}, {1e-40, 1e5, kLog}},
     {{-4, 4}, {-1e5, 1e5}, {1e-300, 1e13, kLog}}},
    {&asin_fn, ::asinl, 1.5, 1.8, {{-1, 1}, {1e-45, 1, kLog}}, {{-1, 1}, {5e-324, 1, kLog}}},
    {&acos_fn, ::acosl, 1.3, 1.4, {{-1, 1}, {0.99, 1}}, {{-1, 1}, {0.99, 1}}},
    {&atan_fn, ::atanl, 1.5, 1.6, {{-4, 4}, {1e-45, 3e38, kLog}}, {{-4, 4}, {5e-324, 1e308, kLog}}},
    {&erf_fn, ::erfl, 1.1, 1.1, {{-4, 4}, {1e-45, 1, kLog}}, {{-6, 6}, {5e-324, 1, kLog}}},
    {&erfc_fn, ::erfcl, 4.5, 4.5, {{-4, 10.2}, {-1, 1}}, {{-6, 27.2}, {-1, 1}}},
    {&erfinv_fn,
     reference::erfinv,
     2.6,
     3,
     {{-1, 1}, {0.99, 1}, {1e-30, 1, kLog}},
     {{-1, 1}, {0.9999, 1}, {1e-300, 1, kLog}}},
    {&ndtr_fn, reference::ndtr, 4.6, 4.4, {{-14.4, 6}, {-1, 1}}, {{-38.4, 8}, {-1, 1}}},
    {&gaussian_fn, reference::gaussian, 1.3, 1.3, {{-10.2, 10.2}}, {{-27.2, 27.2}}},
    {&normal_pdf_fn, reference::normal_pdf, 1.4, 1.6, {{-14.4, 14.4}}, {{-38.4, 38.4}}},
    {&rsqrt_fn, reference::rsqrt, 1.5, 1.5, {{1e-45, 3e38, kLog}}, {{5e-324, 1e308, kLog}}},
    {&cbrt_fn,
     ::cbrtl,
     0.52,
     0.52,
     {{-8, 8}, {1e-45, 3e38, kLog}},
     {{-8, 8}, {5e-324, 1e308, kLog}}},
    {&lgamma_fn,
     ::lgammal,
     2.9,
     2.9,
     {{0, 10}, {0.9, 1.1}, {1e-40, 1e36, kLog}},
     {{0, 10}, {0.9, 1.1}, {1e-300, 1e300, kLog}}},
    {&digamma_fn,
     reference::digamma,
     3.9,
     4.4,
     {{0.001, 10}, {1.4, 1.5}, {1e-36, 1e36, kLog}},
     {{0.001, 1.3}, {1.6, 10}, {1e-300, 1e300, kLog}}},
    {&trigamma_fn,
     reference::trigamma,
     4.2,
     4.8,
     {{0, 10}, {-10, 0}, {1e-18, 1e36, kLog}},
     {{0, 10}, {-10, 0}, {1e-150, 1e300, kLog}}},
    {&gelu_fn, reference::gelu, 4.8, 4, {{-12.5, 6}, {-1, 1}}, {{-37, 8}, {-1, 1}}},
    {&gelu_tanh_fn, reference::gelu_tanh, 3.2, 3.2, {{-1, 4}}, {{-1, 4}}},
    {&silu_fn, reference::silu, 3, 3, {{-85, 20}, {-1, 1}}, {{-700, 50}, {-1, 1}}},
    {&mish_fn, reference::mish, 4.2, 4.4, {{-80, 20}, {-1, 1}}, {{-700, 50}, {-1, 1}}},
    {&elu_fn, reference::elu, 1.2, 1.3, {{-20, 20}}, {{-40, 40}}},
    {&selu_fn, reference::selu, 2, 2.8, {{-20, 20}}, {{-40, 40}}},
    {&softsign_fn, reference::softsign, 1.6, 1.6, {{-20, 20}}, {{-40, 40}}},
};

template <class T>
std::vector<T> samples(const Range& r, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> plain(r.low, r.high),
      exponent(std::log2(std::max(r.low, 0.0)), std::log2(std::max(r.high, 0.0)));
  std::vector<T> x = {static_cast<T>(r.low), static_cast<T>(r.high)};
  while (x.size() < static_cast<std::size_t>(count))
    x.push_back(static_cast<T>(r.logarithmic ? std::exp2(exponent(random)) : plain(random)));
  return x;
}

template <class T>
void check_accuracy(const Accuracy& row, const std::vector<Range>& ranges, double bound) {
  for (const Range& range : ranges) {
    const std::vector<T> x = samples<T>(range, 5000), y = evaluate<T>(*row.fn, {x});
    double worst = 0;
    T at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(y[i], row.reference(static_cast<Real>(x[i])));
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
    EXPECT_LE(worst, bound) << row.fn->name << (sizeof(T) == 4 ? " float32" : " float64") << " in ["
                            << range.low << ", " << range.high << "] at " << at;
  }
}

// Functions made of e^-|x| end at the smallest normal number, without a jump back up.
TEST(ExprMath, TailsBelowTheNormalNumbersAreZero) {
  const std::vector<float> x = {-88.1f, -89,    -104,
                                -200,   -1e10f, -std::numeric_limits<float>::infinity()};
  for (const Fn* fn : {&sigmoid_fn, &sigmoid_slope_fn, &sech_squared_fn, &softplus_fn})
    for (const float y : evaluate<float>(*fn, {x})) EXPECT_EQ(y, 0) << fn->name;
  const std::vector<double> wide = {-709.5, -746, -1e4, -std::numeric_limits<double>::infinity()};
  for (const Fn* fn : {&sigmoid_fn, &sigmoid_slope_fn, &sech_squared_fn, &softplus_fn})
    for (const double y : evaluate<double>(*fn, {wide})) EXPECT_EQ(y, 0) << fn->name;
}

TEST(ExprMath, AccuracyFloat32) {
  for (const Accuracy& row : kAccuracies) check_accuracy<float>(row, row.ranges32, row.bound32);
}

TEST(ExprMath, AccuracyFloat64) {
  for (const Accuracy& row : kAccuracies) check_accuracy<double>(row, row.ranges64, row.bound64);
}

struct Accuracy2 {
  const Fn* fn;
  Real (*reference)(Real, Real);
  double bound;
  Range first32, second32, first64, second64;
};
const Accuracy2 kAccuracies2[] = {
    {&pow_fn,
     [](Real x, Real y) -> Real { return std::pow(x, y); },
     1.4,
     {0.01, 10},
     {-5, 5},
     {0.01, 10},
     {-5, 5}},
    {&pow_fn,
     [](Real x, Real y) -> Real { return std::pow(x, y); },
     1.4,
     {1e-45, 3e38, kLog},
     {-2, 2},
     {1e-320, 1e308, kLog},
     {-2, 2}},
    {&pow_fn,
     [](Real x, Real y) -> Real { return std::pow(x, y); },
     1.4,
     {0.99, 1.01},
     {-8000, 8000},
     {0.999, 1.001},
     {-7e5, 7e5}},
    {&atan2_fn,
     [](Real y, Real x) -> Real { return std::atan2(y, x); },
     1.6,
     {-2, 2},
     {-2, 2},
     {-2, 2},
     {-2, 2}},
    {&atan2_fn,
     [](Real y, Real x) -> Real { return std::atan2(y, x); },
     1.6,
     {1e-45, 3e38, kLog},
     {1e-45, 3e38, kLog},
     {1e-320, 1e308, kLog},
     {1e-320, 1e308, kLog}},
    {&hypot_fn,
     [](Real x, Real y) -> Real { return std::hypot(x, y); },
     1.3,
     {-2, 2},
     {-2, 2},
     {-2, 2},
     {-2, 2}},
    {&hypot_fn,
     [](Real x, Real y) -> Real { return std::hypot(x, y); },
     1.3,
     {1e-45, 3e38, kLog},
     {1e-45, 3e38, kLog},
     {1e-320, 1e308, kLog},
     {1e-320, 1e308, kLog}},
};

template <class T>
void check_accuracy2(const Accuracy2& row, const Range& first, const Range& second) {
  std::vector<T> x = samples<T>(first, 8000), y = samples<T>(second, 8000);
  std::shuffle(y.begin(), y.end(), std::mt19937(7));
  const std::vector<T> z = evaluate<T>(*row.fn, {x, y});
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(ulps(z[i], row.reference(x[i], y[i])), row.bound)
        << row.fn->name << (sizeof(T) == 4 ? " float32" : " float64") << " at (" << x[i] << ", "
        << y[i] << ")";
}

TEST(ExprMath, AccuracyOfTwoArguments) {
  for (const Accuracy2& row : kAccuracies2) {
    check_accuracy2<float>(row, row.first32, row.second32);
    check_accuracy2<double>(row, row.first64, row.second64);
  }
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x;
  for (const T v : {T(0),
                    T(1),
                    T(2),
                    T(3),
                    T(0.5),
                    T(1.5),
                    T(10),
                    T(100),
                    T(1000),
                    T(1e-30),
                    T(1e30),
                    Limits::min(),
                    Limits::denorm_min(),
                    Limits::max(),
                    Limits::infinity(),
                    Limits::epsilon(),
                    T(1 - Limits::epsilon() / 2),
                    T(1 + Limits::epsilon()),
                    T(0.625),
                    T(16777215),
                    T(16777216),
                    T(4503599627370497.0)}) {
    x.push_back(v);
    x.push_back(-v);
  }
  x.push_back(Limits::quiet_NaN());
  return x;
}

bool same_sign_of_zero(Real got, Real want) {
  return want != 0 || got != 0 || std::signbit(got) == std::signbit(want);
}

// Functions of the C library define infinities, zeros with their signs, NaN and the edges.
template <class T>
void check_specials() {
  const struct {
    const Fn* fn;
    Reference reference;
  } rows[] = {
      {&exp_fn, ::expl},         {&exp2_fn, ::exp2l},     {&expm1_fn, ::expm1l},
      {&log_fn, ::logl},         {&log1p_fn, ::log1pl},   {&log2_fn, ::log2l},
      {&log10_fn, ::log10l},     {&sinh_fn, ::sinhl},     {&cosh_fn, ::coshl},
      {&tanh_fn, ::tanhl},       {&asinh_fn, ::asinhl},   {&acosh_fn, ::acoshl},
      {&atanh_fn, ::atanhl},     {&asin_fn, ::asinl},     {&acos_fn, ::acosl},
      {&atan_fn, ::atanl},       {&erf_fn, ::erfl},       {&erfc_fn, ::erfcl},
      {&cbrt_fn, ::cbrtl},       {&lgamma_fn, ::lgammal}, {&sqrt_fn, ::sqrtl},
      {&round_fn, ::nearbyintl}, {&floor_fn, ::floorl},   {&trunc_fn, ::truncl},
  };
  const std::vector<T> x = special_values<T>();
  for (const auto& row : rows) {
    const std::vector<T> y = evaluate<T>(*row.fn, {x});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real want = row.reference(static_cast<Real>(x[i]));
      EXPECT_LE(ulps(y[i], want), 4)
          << row.fn->name << "(" << x[i] << ") = " << y[i] << ", not " << want;
      EXPECT_TRUE(same_sign_of_zero(y[i], want)) << row.fn->name << "(" << x[i] << ")";
    }
  }
}

TEST(ExprMath, SpecialValues) {
  check_specials<float>();
  check_specials<double>();
}

template <class T>
void check_specials2(const Fn& fn, Real (*reference)(Real, Real)) {
  std::vector<T> x, y;
  for (const T a : special_values<T>())
    for (const T b : special_values<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  const std::vector<T> z = evaluate<T>(fn, {x, y});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real want = reference(x[i], y[i]);
    EXPECT_LE(ulps(z[i], want), 2)
        << fn.name << "(" << x[i] << ", " << y[i] << ") = " << z[i] << ", not " << want;
    EXPECT_TRUE(same_sign_of_zero(z[i], want)) << fn.name << "(" << x[i] << ", " << y[i] << ")";
  }
}

TEST(ExprMath, SpecialValuesOfTwoArguments) {
  const auto pow = [](Real x, Real y) -> Real { return std::pow(x, y); };
  const auto atan2 = [](Real y, Real x) -> Real { return std::atan2(y, x); };
  const auto hypot = [](Real x, Real y) -> Real { return std::hypot(x, y); };
  const auto fmod = [](Real x, Real y) -> Real { return std::fmod(x, y); };
  check_specials2<float>(pow_fn, pow);
  check_specials2<double>(pow_fn, pow);
  check_specials2<float>(atan2_fn, atan2);
  check_specials2<double>(atan2_fn, atan2);
  check_specials2<float>(hypot_fn, hypot);
  check_specials2<double>(hypot_fn, hypot);
  check_specials2<float>(truncatemod_fn, fmod);
  check_specials2<double>(truncatemod_fn, fmod);
}

// A NaN stays one, whatever its payload: bit tricks must not make a number of it.
TEST(ExprMath, NanPayloads) {
  std::vector<float> x;
  std::vector<double> wide;
  for (std::uint32_t payload = 1; payload < 0x400000; payload = payload * 3 + 1)
    for (const std::uint32_t sign : {0u, 1u}) {
      x.push_back(std::bit_cast<float>(sign << 31 | 0x7fc00000u | payload));
      wide.push_back(
          std::bit_cast<double>(std::uint64_t{sign} << 63 | 0x7ff8000000000000u | payload));
    }
  for (const Fn* fn : math_functions()) {
    if (fn->arity != 1) continue;
    for (const float y : evaluate<float>(*fn, {x})) EXPECT_TRUE(std::isnan(y)) << fn->name;
    for (const double y : evaluate<double>(*fn, {wide})) EXPECT_TRUE(std::isnan(y)) << fn->name;
  }
}

// Exact where one expects it.
TEST(ExprMath, ExactValues) {
  const struct {
    const Fn* fn;
    double x, y;
  } rows[] = {{&exp_fn, 0, 1},          {&cos_fn, 0, 1},
              {&cosh_fn, 0, 1},         {&log_fn, 1, 0},
              {&log2_fn, 1024, 10},     {&log2_fn, 0.125, -3},
              {&exp2_fn, 10, 1024},     {&exp2_fn, -149, 0x1p-149},
              {&sigmoid_fn, 0, 0.5},    {&ndtr_fn, 0, 0.5},
              {&erfc_fn, 0, 1},         {&cbrt_fn, 27, 3},
              {&cbrt_fn, -1000, -10},   {&lgamma_fn, 1, 0},
              {&lgamma_fn, 2, 0},       {&acos_fn, 1, 0},
              {&sech_squared_fn, 0, 1}, {&sigmoid_slope_fn, 0, 0.25}};
  for (const auto& row : rows) {
    EXPECT_EQ(evaluate<float>(*row.fn, {{static_cast<float>(row.x)}})[0], static_cast<float>(row.y))
        << row.fn->name;
    EXPECT_EQ(evaluate<double>(*row.fn, {{row.x}})[0], row.y) << row.fn->name;
  }
  EXPECT_EQ(evaluate<float>(pow_fn, {{3}, {4}})[0], 81);
  EXPECT_EQ(evaluate<double>(pow_fn, {{10}, {-2}})[0], 0.01);
}

// sin and cos stay within [-1, 1] and are right far out.
TEST(ExprMath, LargeAngles) {
  std::mt19937_64 random(3);
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i)
    x.push_back(
        static_cast<float>(std::exp2(std::uniform_real_distribution<double>(0, 20.6)(random))));
  const auto s = evaluate<float>(sin_fn, {x}), c = evaluate<float>(cos_fn, {x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(std::fabs(s[i]), 1);
    EXPECT_LE(std::fabs(c[i]), 1);
    EXPECT_NEAR(s[i], std::sin(static_cast<double>(x[i])), 1.5e-7) << x[i];
    EXPECT_NEAR(c[i], std::cos(static_cast<double>(x[i])), 1.5e-7) << x[i];
  }
  EXPECT_NEAR(evaluate<double>(sin_fn, {{1e10}})[0], std::sin(1e10), 2e-16);
}

// Angles that vector code cannot reduce, one or all of a vector, everywhere in it, on every
// instruction set: the assistant's value, and its neighbours are not disturbed.
template <class T>
void check_huge_angles(double limit, double largest) {
  struct Row {
    const Fn* fn;
    double (*want)(double);
  };
  const Row rows[] = {{&sin_fn, std::sin}, {&cos_fn, std::cos}, {&tan_fn, std::tan}};
  std::mt19937_64 random(7);
  std::vector<T> x;
  for (int i = 0; i < 997; ++i) {
    const bool huge = i < 300 ? i % 9 == 0 : i < 600;
    const double power = std::uniform_real_distribution<double>(
        huge ? std::log2(limit) : -3, huge ? std::log2(largest) : std::log2(limit))(random);
    x.push_back(static_cast<T>(std::exp2(power) * (i % 2 ? -1 : 1)));
  }
  for (const T special : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::max(), T{0}})
    x.push_back(special);
  for (const Row& row : rows) {
    std::vector<T> first;
    for (const Isa isa : isas()) {
      const std::vector<T> y = evaluate<T>(*row.fn, {x}, isa);
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_LE(ulps<T>(y[i], row.want(x[i])), 3.5) << row.fn->name << " of " << x[i];
      if (first.empty()) first = y;
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(first[i] == y[i] || (std::isnan(first[i]) && std::isnan(y[i])));
    }
  }
}
TEST(ExprMath, HugeAngles) {
  check_huge_angles<float>(0x1.9p20, 3e38);
  check_huge_angles<double>(0x1p45, 1e308);
}

// A long expression keeps its other values across the call.
TEST(ExprMath, AssistanceInsideALargeProgram) {
  std::vector<float> x;
  for (int i = 0; i < 333; ++i)
    x.push_back(i % 5 ? 0.01f * static_cast<float>(i) : 1e7f + 4096 * i);
  const auto f = [](const Exprs& in) {
    const Expr e = exp(-in[0]), l = log1p(in[0]), s = sin(in[0]);
    return e * cos(in[0] * 3) + l * s + tan(s) + row_sum(s) / in[0] + floormod(in[0], l + 1);
  };
  const auto want = evaluate<float>(f, {x}, Isa::interpreter);
  for (const Isa isa : isas()) EXPECT_EQ(evaluate<float>(f, {x}, isa), want);
}

template <class T>
void check_remainders() {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(11);
  std::vector<T> a, b;
  const auto some = [&](double low, double high) {
    const double power = std::uniform_real_distribution<double>(low, high)(random);
    return static_cast<T>(std::exp2(power) * (random() % 2 ? 1 : -1));
  };
  const double edge = Limits::digits - 2;
  for (int i = 0; i < 5000; ++i) {
    b.push_back(some(-20, 20));
    const T n = std::trunc(some(0, i % 4 ? edge : 2 * edge));
    const T near = n * b.back();
    a.push_back(i % 3 == 0   ? near
                : i % 3 == 1 ? std::nextafter(near, T(i % 2 ? 0 : 1e30))
                             : some(-40, i % 4 ? 20 : 60));
  }
  const T specials[] = {0,
                        -T(0),
                        1,
                        -1,
                        Limits::denorm_min(),
                        Limits::min(),
                        Limits::max(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        T(0.1)};
  for (const T x : specials)
    for (const T y : specials) a.push_back(x), b.push_back(y);
  for (const Isa isa : isas()) {
    const auto r = evaluate<T>(truncatemod_fn, {a, b}, isa);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T want = std::fmod(a[i], b[i]);
      EXPECT_TRUE(std::isnan(want) ? std::isnan(r[i])
                                   : r[i] == want && std::signbit(r[i]) == std::signbit(want))
          << a[i] << " rem " << b[i] << " is " << r[i] << ", not " << want;
    }
  }
}
TEST(ExprMath, RemaindersAreExact) {
  check_remainders<float>();
  check_remainders<double>();
}

// Series of the gamma function's relatives, against sums and known values.
TEST(ExprMath, ZetaAndPolygamma) {
  constexpr double pi = 3.14159265358979323846;
  EXPECT_NEAR(evaluate<double>(zeta_fn, {{2}, {1}})[0], pi * pi / 6, 1e-15);
  EXPECT_NEAR(evaluate<double>(zeta_fn, {{4}, {1}})[0], std::pow(pi, 4) / 90, 1e-15);
  EXPECT_NEAR(evaluate<double>(zeta_fn, {{3}, {0.5}})[0], 7 * 1.2020569031595942, 2e-14);
  EXPECT_NEAR(evaluate<float>(zeta_fn, {{2}, {1}})[0], pi * pi / 6, 4e-7);
  constexpr double inf = std::numeric_limits<double>::infinity();  // only the first term is left
  EXPECT_EQ(evaluate<double>(zeta_fn, {{inf, inf, inf}, {0.5, 1, 2}}),
            (std::vector<double>{inf, 1, 0}));
  EXPECT_NEAR(evaluate<double>(polygamma_fn, {{0}, {1}})[0], -0.57721566490153286, 1e-15);
  EXPECT_NEAR(evaluate<double>(polygamma_fn, {{1}, {1}})[0], pi * pi / 6, 2e-15);
  EXPECT_NEAR(evaluate<double>(polygamma_fn, {{2}, {1}})[0], -2 * 1.2020569031595942, 5e-15);
  EXPECT_TRUE(std::isnan(evaluate<double>(polygamma_fn, {{1.5}, {1}})[0]));
}

template <class T>
void check_same_bits(const Fn& fn) {
  std::vector<std::vector<T>> in;
  for (int k = 0; k < fn.arity; ++k) in.push_back(nasty<T>(997, 10 + static_cast<unsigned>(k)));
  const std::vector<T> want = evaluate<T>(fn, in, Isa::interpreter);
  for (const Isa isa : isas()) {
    const std::vector<T> got = evaluate<T>(fn, in, isa);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(std::memcmp(&got[i], &want[i], sizeof(T)) == 0 ||
                  (std::isnan(got[i]) && std::isnan(want[i])))
          << fn.name << " on " << name_of(isa) << " at " << in[0][i] << ": " << got[i] << ", not "
          << want[i];
  }
}

TEST(ExprMath, SameBitsOnEveryInstructionSet) {
  for (const Fn* fn : math_functions()) {
    check_same_bits<float>(*fn);
    check_same_bits<double>(*fn);
  }
}

}  // namespace
}  // namespace gradus::expr
