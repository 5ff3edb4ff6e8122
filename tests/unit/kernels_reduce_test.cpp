#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gradus/threads.h"
#include "kernels/isa.h"
#include "kernels/reduce_loops.h"

namespace gradus::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Reduction kArithmetic[] = {Reduction::sum, Reduction::mean, Reduction::prod,
                                     Reduction::max, Reduction::min};

std::int64_t product(const std::vector<std::int64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{1}, std::multiplies<>());
}

// The position in the output of element `i` of the input.
std::int64_t kept_index(std::int64_t i, const std::vector<std::int64_t>& shape,
                        std::uint64_t axes) {
  std::int64_t index = 0, stride = 1;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    if (!(axes >> axis & 1)) {
      index += i % shape[axis] * stride;
      stride *= shape[axis];
    }
    i /= shape[axis];
  }
  return index;
}

std::int64_t kept_size(const std::vector<std::int64_t>& shape, std::uint64_t axes) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!(axes >> i & 1)) n *= shape[i];
  return n;
}

long double combine(Reduction op, long double a, long double b) {
  switch (op) {
    case Reduction::prod:
      return a * b;
    case Reduction::max:
      return std::isnan(a) || a > b ? a : b;
    case Reduction::min:
      return std::isnan(a) || a < b ? a : b;
    default:
      return a + b;
  }
}

template <class T>
std::vector<T> reduced(Reduction op, const std::vector<T>& in,
                       const std::vector<std::int64_t>& shape, std::uint64_t axes) {
  std::vector<T> out(static_cast<std::size_t>(kept_size(shape, axes)));
  reduce(op, dtype_v<T>, in.data(), shape.data(), static_cast<int>(shape.size()), axes, out.data());
  return out;
}

template <class T>
void expect_naive(Reduction op, const std::vector<T>& in, const std::vector<std::int64_t>& shape,
                  std::uint64_t axes, double relative) {
  const std::vector<T> out = reduced(op, in, shape, axes);
  std::vector<long double> wanted(out.size()), size(out.size());
  std::vector<char> seen(out.size());
  const std::int64_t n = product(shape);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = kept_index(i, shape, axes);
    const auto x = static_cast<long double>(in[i]);
    wanted[k] = seen[k] ? combine(op, wanted[k], x) : x;
    size[k] += std::abs(x);
    seen[k] = 1;
  }
  const std::int64_t count = out.empty() ? 1 : n / static_cast<std::int64_t>(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    long double w = wanted[k], tolerance = relative * std::abs(w);
    if (op == Reduction::mean) w /= count;
    if (op == Reduction::sum) tolerance = relative * size[k];
    if (op == Reduction::mean) tolerance = relative * size[k] / count;
    if (is_integer(dtype_v<T>)) w = std::trunc(w), tolerance = 0;
    EXPECT_LE(std::abs(static_cast<long double>(out[k]) - w), tolerance)
        << name_of(dtype_v<T>) << " op " << static_cast<int>(op) << " axes " << axes << " at " << k
        << ": " << static_cast<double>(out[k]) << " for " << static_cast<double>(w);
  }
}

template <class T>
std::vector<T> small_values(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v)
    x = static_cast<T>(static_cast<float>(random() % 2 ? 1 : is_unsigned(dtype_v<T>) ? 1 : -1));
  for (T& x : v)
    if (random() % 8 == 0) x = static_cast<T>(static_cast<float>(random() % 3));
  return v;
}

template <class T>
std::vector<T> fractions(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = static_cast<T>(static_cast<float>(normal(random)));
  return v;
}

struct Case {
  std::vector<std::int64_t> shape;
  std::uint64_t axes;
};

const Case kCases[] = {
    {{7}, 0b1},
    {{1}, 0b1},
    {{5, 3}, 0b01},
    {{5, 3}, 0b10},
    {{5, 3}, 0b00},
    {{5, 3}, 0b11},
    {{33, 65}, 0b01},
    {{33, 65}, 0b10},
    {{300, 67}, 0b01},
    {{3, 130}, 0b10},
    {{2, 3, 4, 5}, 0b0101},
    {{2, 3, 4, 5}, 0b1010},
    {{2, 3, 4, 5}, 0b1001},
    {{4, 1, 6, 1}, 0b0110},
    {{9, 2, 17}, 0b101},
    {{2, 500, 3}, 0b010},
    {{1, 1031, 2}, 0b010},
    {{2, 259, 31}, 0b010},
    {{3, 4100}, 0b10},
    {{2, 3, 2, 3, 2, 3}, 0b101010},
};

template <class T>
class KernelsReduce : public ::testing::Test {};
using RealTypes =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat, float, double>;
TYPED_TEST_SUITE(KernelsReduce, RealTypes);

TYPED_TEST(KernelsReduce, AgreesWithTheNaiveLoop) {
  using T = TypeParam;
  constexpr DType t = dtype_v<T>;
  constexpr double relative = t == float16    ? 0x1p-11
                              : t == bfloat16 ? 0x1p-8
                              : t == float32  ? 1e-6
                                              : 1e-15;
  for (const Case& c : kCases)
    for (const Reduction op : kArithmetic) {
      if constexpr (is_integer(t)) {
        if (op == Reduction::prod || (sizeof(T) == 1 && product(c.shape) > 400 &&
                                      (op == Reduction::sum || op == Reduction::mean)))
          continue;  // wraps; tested apart
        expect_naive(op, small_values<T>(product(c.shape), 5), c.shape, c.axes, 0);
      } else if (op == Reduction::prod) {
        expect_naive(op, small_values<T>(product(c.shape), 6), c.shape, c.axes, relative);
      } else {
        expect_naive(op, fractions<T>(product(c.shape), 7), c.shape, c.axes, relative);
      }
    }
}

TYPED_TEST(KernelsReduce, EveryRowLength) {
  using T = TypeParam;
  for (std::int64_t n = 1; n < 600; n += n < 140 ? 1 : 37) {
    std::vector<T> in(static_cast<std::size_t>(2 * n + 1), T(1.0f));
    in[0] = T(100.0f);  // not part of the rows, which start misaligned
    std::vector<T> out(2);
    reduce_axis(Reduction::sum, dtype_v<T>, in.data() + 1, 2, n, 1, out.data());
    EXPECT_EQ(out[0], T(static_cast<float>(n))) << n;
    in[1 + n + n / 2] = T(2.0f);
    reduce_axis(Reduction::max, dtype_v<T>, in.data() + 1, 2, n, 1, out.data());
    EXPECT_EQ(static_cast<double>(out[0]), 1.0) << n;
    EXPECT_EQ(static_cast<double>(out[1]), 2.0) << n;
    std::vector<std::int64_t> place(2);
    arg_reduce(ArgReduction::argmax, dtype_v<T>, in.data() + 1, 2, n, 1, place.data());
    EXPECT_EQ(place[0], 0) << n;
    EXPECT_EQ(place[1], n / 2) << n;
  }
}

TYPED_TEST(KernelsReduce, ArgReduceAgreesWithTheNaiveLoop) {
  using T = TypeParam;
  for (const auto& [outer, n, inner] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {3, 7, 1}, {2, 2500, 1}, {3, 5, 4}, {2, 300, 9}, {1, 4, 2100}}) {
    const std::vector<T> in = small_values<T>(outer * n * inner, 11);
    for (const ArgReduction op : {ArgReduction::argmax, ArgReduction::argmin}) {
      std::vector<std::int64_t> out(static_cast<std::size_t>(outer * inner));
      arg_reduce(op, dtype_v<T>, in.data(), outer, n, inner, out.data());
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) {
          std::int64_t best = 0;
          for (std::int64_t r = 1; r < n; ++r) {
            const auto x = static_cast<double>(in[(o * n + r) * inner + i]);
            const auto y = static_cast<double>(in[(o * n + best) * inner + i]);
            if (op == ArgReduction::argmax ? x > y : x < y) best = r;
          }
          EXPECT_EQ(out[o * inner + i], best);
        }
    }
  }
}

TEST(KernelsReduceValues, TenMillionOnesSumExactly) {
  const std::int64_t n = 10'000'000;
  const std::vector<float> ones(n, 1.0f);
  float out[4];
  reduce_axis(Reduction::sum, float32, ones.data(), 1, n, 1, out);
  EXPECT_EQ(out[0], 1e7f);
  reduce_axis(Reduction::sum, float32, ones.data(), 1, n / 4, 4, out);
  for (const float x : out) EXPECT_EQ(x, 2.5e6f);
  reduce_axis(Reduction::mean, float32, ones.data(), 1, n, 1, out);
  EXPECT_EQ(out[0], 1.0f);
}

TEST(KernelsReduceValues, LongSumsKeepTheirDigits) {
  const std::int64_t n = 1 << 22;
  std::vector<float> x(n);
  std::mt19937 random(3);
  for (float& v : x) v = static_cast<float>(random() % 1000003) * 1e-6f;
  double exact = 0;
  for (const float v : x) exact += v;
  float row, columns[2];
  reduce_axis(Reduction::sum, float32, x.data(), 1, n, 1, &row);
  reduce_axis(Reduction::sum, float32, x.data(), 1, n / 2, 2, columns);
  EXPECT_NEAR(row, exact, exact * 2e-7);
  EXPECT_NEAR(double{columns[0]} + columns[1], exact, exact * 2e-7);
}

TEST(KernelsReduceValues, SameBitsAtAnyNumberOfThreads) {
  const std::vector<float> x = fractions<float>(3 * 70000 * 5, 17);
  const int before = thread_count();
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    for (const auto& [shape, axes] : std::vector<Case>{{{3 * 70000 * 5}, 1},
                                                       {{3, 70000, 5}, 0b010},
                                                       {{3, 70000, 5}, 0b101},
                                                       {{3, 70000, 5}, 0b001}})
      results.push_back(reduced(Reduction::sum, x, shape, axes));
  }
  set_thread_count(before);
  for (int i = 4; i < 12; ++i)
    EXPECT_EQ(std::memcmp(results[i].data(), results[i % 4].data(), 4 * results[i].size()), 0) << i;
}

TEST(KernelsReduceValues, SameBitsOnEveryInstructionSetOfThisMachine) {
  const std::vector<float> x = fractions<float>(40 * 333, 23);
  const auto run = [&](const ReduceLoops& loops, std::vector<float>& out) {
    const int t = static_cast<int>(float32);
    out.resize(333 + 40);
    loops.columns[ReduceLoops::kSum][t](x.data(), {1, 0, 40, 333, 333, 0}, out.data());
    loops.rows[ReduceLoops::kSum][t](x.data(), 40, 333, out.data() + 333);
  };
  std::vector<float> base, other;
  run(baseline::reduce_loops, base);
  if (isa() >= Isa::avx2) {
    run(avx2::reduce_loops, other);
    EXPECT_EQ(base, other);
  }
  if (isa() >= Isa::avx512) {
    run(avx512::reduce_loops, other);
    EXPECT_EQ(base, other);
  }
}

TEST(KernelsReduceValues, NanWinsAndInfinitiesStay) {
  for (std::int64_t n : {3, 20, 100, 5000})
    for (std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<double> x(n, -2.0);
      x[at] = kNan;
      for (const Reduction op : kArithmetic) {
        EXPECT_TRUE(std::isnan(reduced(op, x, {n}, 1)[0]));
        EXPECT_TRUE(std::isnan(reduced(op, x, {1, n, 1}, 2)[0]));
      }
      std::vector<float> f(2 * n, -2.0f);
      f[2 * at + 1] = NAN;
      const std::vector<float> columns = reduced(Reduction::max, f, {n, 2}, 1);
      EXPECT_EQ(columns[0], -2.0f);
      EXPECT_TRUE(std::isnan(columns[1]));
      x[at] = -kInf;
      EXPECT_EQ(reduced(Reduction::min, x, {n}, 1)[0], -kInf);
      EXPECT_EQ(reduced(Reduction::sum, x, {n}, 1)[0], -kInf);
    }
}

TEST(KernelsReduceValues, NothingGivesTheIdentity) {
  const float none = 0;
  float out[2] = {5, 5};
  reduce_axis(Reduction::sum, float32, &none, 2, 0, 1, out);
  EXPECT_EQ(out[1], 0.0f);
  reduce_axis(Reduction::prod, float32, &none, 2, 0, 1, out);
  EXPECT_EQ(out[1], 1.0f);
  reduce_axis(Reduction::max, float32, &none, 2, 0, 1, out);
  EXPECT_EQ(out[1], -kInf);
  reduce_axis(Reduction::min, float32, &none, 2, 0, 1, out);
  EXPECT_EQ(out[1], kInf);
  reduce_axis(Reduction::mean, float32, &none, 2, 0, 1, out);
  EXPECT_TRUE(std::isnan(out[1]));
  std::int32_t lowest;
  reduce_axis(Reduction::max, int32, &none, 1, 0, 1, &lowest);
  EXPECT_EQ(lowest, std::numeric_limits<std::int32_t>::min());
  half h;
  reduce_axis(Reduction::max, float16, &none, 1, 0, 1, &h);
  EXPECT_EQ(static_cast<float>(h), -kInf);
  bool b = false;
  reduce_axis(Reduction::all, bool_, &none, 1, 0, 1, &b);
  EXPECT_TRUE(b);
  out[0] = 5;
  reduce_axis(Reduction::sum, float32, &none, 0, 3, 4, out);  // no result at all
  EXPECT_EQ(out[0], 5.0f);
}

TEST(KernelsReduceValues, IntegersWrap) {
  EXPECT_EQ(reduced<std::int8_t>(Reduction::sum, {127, 1}, {2}, 1)[0], -128);
  EXPECT_EQ(reduced<std::int8_t>(Reduction::prod, {100, 3}, {2}, 1)[0], 44);
  EXPECT_EQ(reduced<std::uint16_t>(Reduction::prod, {65535, 65535}, {2}, 1)[0], 1);
  EXPECT_EQ(reduced<std::int64_t>(Reduction::sum, {std::numeric_limits<std::int64_t>::max(), 1},
                                  {2}, 1)[0],
            std::numeric_limits<std::int64_t>::min());
}

TEST(KernelsReduceValues, HalvesAccumulateInFloat) {
  const std::vector<half> x(5000, half(16.0f));
  EXPECT_TRUE(std::isinf(static_cast<float>(reduced(Reduction::sum, x, {5000}, 1)[0])));
  EXPECT_EQ(static_cast<float>(reduced(Reduction::mean, x, {5000}, 1)[0]), 16.0f);
  EXPECT_EQ(static_cast<float>(reduced(Reduction::mean, x, {50, 10, 10}, 0b101)[3]), 16.0f);
  const std::vector<bfloat> y(1000, bfloat(1.0f));
  EXPECT_EQ(static_cast<float>(reduced(Reduction::sum, y, {1000}, 1)[0]), 1000.0f);
}

TEST(KernelsReduceValues, Complex) {
  using C = std::complex<float>;
  std::vector<C> x(60);
  for (int i = 0; i < 60; ++i) x[i] = C(static_cast<float>(i), 1.0f);
  for (const std::uint64_t axes : {0b001u, 0b010u, 0b101u, 0b111u}) {
    const std::vector<std::int64_t> shape = {3, 4, 5};
    const std::vector<C> sum = reduced(Reduction::sum, x, shape, axes);
    const std::vector<C> mean = reduced(Reduction::mean, x, shape, axes);
    std::vector<C> wanted(sum.size());
    for (std::int64_t i = 0; i < 60; ++i) wanted[kept_index(i, shape, axes)] += x[i];
    EXPECT_EQ(sum, wanted);
    EXPECT_EQ(mean[0], wanted[0] / static_cast<float>(60 / sum.size()));
  }
  EXPECT_EQ(reduced<C>(Reduction::prod, {C(0, 1), C(0, 1), C(2, 0)}, {3}, 1)[0], C(-2, 0));
  const std::vector<C> columns =
      reduced<C>(Reduction::prod, {C(0, 1), C(1, 0), C(0, 1), C(1, 1)}, {2, 2}, 1);
  EXPECT_EQ(columns, (std::vector<C>{C(-1, 0), C(1, 1)}));
}

TEST(KernelsReduceValues, AnyAndAll) {
  const bool x[] = {true, false, false, true, true, true};
  bool out[3];
  reduce_axis(Reduction::any, bool_, x, 2, 3, 1, out);
  EXPECT_TRUE(out[0] && out[1]);
  reduce_axis(Reduction::all, bool_, x, 2, 3, 1, out);
  EXPECT_TRUE(!out[0] && out[1]);
  reduce_axis(Reduction::all, bool_, x, 1, 2, 3, out);
  EXPECT_TRUE(out[0] && !out[1] && !out[2]);
}

TEST(KernelsReduceValues, ArgmaxNeverChoosesNan) {
  // As TensorFlow 2.21 answers.
  struct Row {
    std::vector<float> x;
    std::int64_t argmax, argmin;
  };
  const auto nan = static_cast<float>(kNan), inf = static_cast<float>(kInf);
  for (const Row& row : std::vector<Row>{{{1, nan, 3}, 2, 0},
                                         {{nan, 1, 3}, 2, 1},
                                         {{3, nan, 1}, 0, 2},
                                         {{nan, nan}, 0, 0},
                                         {{nan, nan, 5}, 2, 2},
                                         {{-inf, -inf}, 0, 0},
                                         {{nan, -inf}, 0, 1},
                                         {{1, 3, nan, 3}, 1, 0}}) {
    const auto n = static_cast<std::int64_t>(row.x.size());
    std::int64_t out;
    arg_reduce(ArgReduction::argmax, float32, row.x.data(), 1, n, 1, &out);
    EXPECT_EQ(out, row.argmax);
    arg_reduce(ArgReduction::argmin, float32, row.x.data(), 1, n, 1, &out);
    EXPECT_EQ(out, row.argmin);
    std::vector<float> two;
    for (const float x : row.x) two.insert(two.end(), {x, 0.0f});
    std::int64_t outs[2];
    arg_reduce(ArgReduction::argmax, float32, two.data(), 1, n, 2, outs);
    EXPECT_EQ(outs[0], row.argmax);
    EXPECT_EQ(outs[1], 0);
  }
  const bool b[] = {false, true, true};
  std::int64_t out;
  arg_reduce(ArgReduction::argmax, bool_, b, 1, 3, 1, &out);
  EXPECT_EQ(out, 1);
}

TEST(KernelsReduceValues, WhichTypes) {
  EXPECT_TRUE(reduces(Reduction::sum, complex64));
  EXPECT_FALSE(reduces(Reduction::max, complex64));
  EXPECT_FALSE(reduces(Reduction::sum, bool_));
  EXPECT_TRUE(reduces(Reduction::any, bool_));
  EXPECT_FALSE(reduces(Reduction::any, float32));
}

}  // namespace
}  // namespace gradus::kernels
