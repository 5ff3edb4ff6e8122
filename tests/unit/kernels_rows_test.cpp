// Gather, scatter, row groups, unique: everything that goes by index.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "gradus/threads.h"
#include "kernels/gather.h"
#include "kernels/row_groups.h"
#include "kernels/scatter.h"
#include "kernels/unique.h"

namespace gradus::kernels {
namespace {

template <class Index>
std::vector<Index> random_indices(std::int64_t count, std::int64_t limit, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Index> v(count);
  for (Index& x : v) x = static_cast<Index>(random() % limit);
  return v;
}

std::vector<float> random_floats(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(random);
  return v;
}

TEST(KernelsGather, FirstOutOfRange) {
  std::vector<std::int32_t> x(1000, 3);
  EXPECT_EQ(first_out_of_range(int32, x.data(), 1000, 4), -1);
  EXPECT_EQ(first_out_of_range(int32, x.data(), 1000, 3), 0);
  x[777] = -1;
  x[900] = 4;
  EXPECT_EQ(first_out_of_range(int32, x.data(), 1000, 4), 777);
  const std::int64_t wide[] = {0, std::int64_t{1} << 40};
  EXPECT_EQ(first_out_of_range(int64, wide, 2, 100), 1);
  EXPECT_EQ(first_out_of_range(int64, wide, 0, 0), -1);
}

TEST(KernelsGather, Coordinates) {
  const std::int64_t shape[] = {3, 4};
  const std::int32_t good[] = {2, 3, 0, 1};
  std::int64_t rows[3];
  EXPECT_EQ(flatten_coordinates(int32, good, 2, 2, shape, rows), -1);
  EXPECT_EQ(rows[0], 11);
  EXPECT_EQ(rows[1], 1);
  const std::int32_t bad[] = {2, 3, 0, 4};
  EXPECT_EQ(flatten_coordinates(int32, bad, 2, 2, shape, rows), 1);
  EXPECT_EQ(flatten_coordinates(int32, good, 3, 0, shape, rows), -1);  // no axis: the whole array
  EXPECT_EQ(rows[0], 0);
}

TEST(KernelsGather, EveryRowSizeWithBatches) {
  for (const std::int64_t inner : {1, 2, 3, 4, 8, 16, 70, 300})
    for (const std::int64_t batch : {1, 3}) {
      const GatherShape shape = {batch, 2, 11, inner, 29};
      std::vector<char> in(batch * 2 * 11 * inner);
      std::mt19937 random(9);
      for (char& x : in) x = static_cast<char>(random());
      const auto indices = random_indices<std::int64_t>(batch * 29, 11, 4);
      const std::vector<std::int32_t> narrow(indices.begin(), indices.end());
      std::vector<char> out(batch * 2 * 29 * inner), out32(out.size());
      gather(1, in.data(), int64, indices.data(), shape, out.data());
      gather(1, in.data(), int32, narrow.data(), shape, out32.data());
      EXPECT_EQ(out, out32);
      std::int64_t wrong = 0;
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t o = 0; o < 2; ++o)
          for (std::int64_t k = 0; k < 29; ++k)
            wrong += std::memcmp(&out[((b * 2 + o) * 29 + k) * inner],
                                 &in[((b * 2 + o) * 11 + indices[b * 29 + k]) * inner], inner) != 0;
      EXPECT_EQ(wrong, 0);
    }
}

TEST(KernelsRowGroups, GroupsAreAscendingAndKeepTheOrderOfArrival) {
  struct Case {
    std::int64_t count, limit;  // picks counting, radix and comparison sorting
  };
  for (const auto& [count, limit] : {Case{0, 5}, Case{1, 1}, Case{500, 40}, Case{300, 1 << 20},
                                     Case{300, std::int64_t{1} << 40}}) {
    auto indices = random_indices<std::int64_t>(count, limit, 31);
    if (limit > std::int64_t{1} << 32)
      for (auto& x : indices) x *= 255;
    for (std::int64_t i = 3; i < count; i += 7) indices[i] = indices[i - 2];
    if (count > 50) indices[17] = -1;
    std::map<std::int64_t, std::vector<std::uint32_t>> wanted;
    for (std::int64_t i = 0; i < count; ++i)
      if (indices[i] >= 0) wanted[indices[i]].push_back(static_cast<std::uint32_t>(i));
    const RowGroups groups(int64, indices.data(), count, limit);
    ASSERT_EQ(groups.size(), static_cast<std::int64_t>(wanted.size()));
    std::int64_t g = 0;
    for (const auto& [row, positions] : wanted) {
      EXPECT_EQ(groups.rows()[g], row);
      EXPECT_EQ(std::vector<std::uint32_t>(groups.positions() + groups.starts()[g],
                                           groups.positions() + groups.starts()[g + 1]),
                positions);
      ++g;
    }
  }
}

TEST(KernelsRowGroups, SortedIndicesAreTakenAsTheyAre) {
  const std::int32_t indices[] = {1, 1, 4, 4, 4, 9};
  const RowGroups groups(int32, indices, 6, 10);
  EXPECT_EQ(groups.size(), 3);
  EXPECT_EQ(groups.rows()[1], 4);
  EXPECT_EQ(groups.starts()[3], 6);
}

TEST(KernelsRowGroups, SumsAgreeWithTheNaiveLoop) {
  for (const std::int64_t width : {1, 3, 17, 64})
    for (const std::int64_t rows : {1, 5, 2000}) {
      const std::int64_t count = 3000;
      const auto indices = random_indices<std::int32_t>(count, rows, 8);
      const std::vector<float> values = random_floats(count * width, 2);
      const RowGroups groups(int32, indices.data(), count, rows);
      std::vector<float> out(groups.size() * width);
      sum_groups(float32, groups, values.data(), width, out.data());
      std::vector<double> wanted(rows * width), size(rows * width);
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < width; ++i) {
          wanted[indices[k] * width + i] += values[k * width + i];
          size[indices[k] * width + i] += std::abs(values[k * width + i]);
        }
      for (std::int64_t g = 0; g < groups.size(); ++g)
        for (std::int64_t i = 0; i < width; ++i) {
          const std::int64_t at = groups.rows()[g] * width + i;
          EXPECT_NEAR(out[g * width + i], wanted[at], 3e-7 * size[at]);
        }
    }
}

TEST(KernelsRowGroups, ManyUpdatesOfOneRowKeepTheirDigits) {
  const std::int64_t n = 3'000'000;
  const std::vector<float> tenths(n, 0.1f);
  const std::vector<std::int32_t> zeros(n, 0);
  const RowGroups groups(int32, zeros.data(), n, 1);
  float sum;
  sum_groups(float32, groups, tenths.data(), 1, &sum);
  EXPECT_NEAR(sum, n * static_cast<double>(0.1f), 0.1);
}

TEST(KernelsRowGroups, SumsOfListedRows) {
  for (const std::int64_t count : {1, 2, 9, 256, 257, 1000})
    for (const std::int64_t width : {1, 5, 64}) {
      const std::vector<float> values = random_floats(1000 * width, 5);
      std::vector<std::uint32_t> positions;
      for (std::int64_t k = 0; k < count; ++k)
        positions.push_back(static_cast<std::uint32_t>(k * 7 % 1000));
      std::vector<bfloat> rounded(values.begin(), values.end());
      std::vector<float> sum(width);
      std::vector<bfloat> rounded_sum(width);
      sum_rows(float32, values.data(), positions, width, sum.data());
      sum_rows(bfloat16, rounded.data(), positions, width, rounded_sum.data());
      for (std::int64_t i = 0; i < width; ++i) {
        double wanted = 0, of_rounded = 0, size = 0;
        for (const std::uint32_t p : positions) {
          wanted += values[p * width + i];
          of_rounded += static_cast<float>(rounded[p * width + i]);
          size += std::abs(values[p * width + i]);
        }
        EXPECT_NEAR(sum[i], wanted, 3e-7 * size);
        EXPECT_NEAR(static_cast<float>(rounded_sum[i]), of_rounded,
                    std::abs(of_rounded) / 256 + 1e-6 * size);
      }
    }
}

template <class T>
class KernelsScatter : public ::testing::Test {};
using Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                               std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat, float,
                               double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(KernelsScatter, Types);

template <class T>
T of(int x) {
  return T(static_cast<float>(x));
}

TYPED_TEST(KernelsScatter, EveryOpAgreesWithTheNaiveLoop) {
  using T = TypeParam;
  constexpr bool complex = is_complex(dtype_v<T>);
  for (const std::int64_t width : {1, 5, 33})
    for (const std::int64_t rows : {3, 400}) {
      const std::int64_t count = 50;
      auto indices = random_indices<std::int32_t>(count, rows, 6);
      indices[10] = -1;
      const std::vector<std::int64_t> wide(indices.begin(), indices.end());
      std::mt19937 random(2);
      std::vector<T> updates(count * width), start(rows * width);
      for (T& x : updates) x = of<T>(static_cast<int>(random() % 2) + 1);
      for (T& x : start) x = of<T>(static_cast<int>(random() % 3));
      for (const ScatterOp op : {ScatterOp::update, ScatterOp::add, ScatterOp::subtract,
                                 ScatterOp::multiply, ScatterOp::maximum, ScatterOp::minimum}) {
        EXPECT_EQ(scatters(op, dtype_v<T>),
                  !complex || (op != ScatterOp::maximum && op != ScatterOp::minimum));
        if (!scatters(op, dtype_v<T>)) continue;
        std::vector<T> out = start, wanted = start;
        for (std::int64_t k = 0; k < count; ++k)
          for (std::int64_t i = 0; i < width && indices[k] >= 0; ++i) {
            T& to = wanted[indices[k] * width + i];
            const T x = updates[k * width + i];
            if (op == ScatterOp::update) to = x;
            if (op == ScatterOp::add) to = T(to + x);
            if (op == ScatterOp::subtract) to = T(to - x);
            if (op == ScatterOp::multiply) to = T(to * x);
            if constexpr (!complex) {
              if (op == ScatterOp::maximum) to = x > to ? x : to;
              if (op == ScatterOp::minimum) to = x < to ? x : to;
            }
          }
        scatter(op, dtype_v<T>, int32, indices.data(), updates.data(), {count, width, rows},
                out.data());
        EXPECT_TRUE(out == wanted) << name_of(dtype_v<T>) << static_cast<int>(op);
        out = start;
        scatter(op, dtype_v<T>, int64, wide.data(), updates.data(), {count, width, rows},
                out.data());
        EXPECT_TRUE(out == wanted) << name_of(dtype_v<T>) << static_cast<int>(op);
      }
    }
}

TEST(KernelsScatterValues, ManyAddsIntoOneRow) {
  const std::int64_t n = 10'000'000;
  const std::vector<std::int32_t> zeros(n, 0);
  const std::vector<float> ones(n, 1.0f);
  float row = 0;
  scatter(ScatterOp::add, float32, int32, zeros.data(), ones.data(), {n, 1, 1}, &row);
  EXPECT_EQ(row, 1e7f);
  std::vector<float> wide(20, 0.0f);  // the sorted path
  scatter(ScatterOp::add, float32, int32, zeros.data(), ones.data(), {n / 20, 20, 1}, wide.data());
  EXPECT_EQ(wide, std::vector<float>(20, 5e5f));
  const std::vector<double> tenths(1'000'000, 0.1);
  double sum = 0;
  scatter(ScatterOp::add, float64, int32, zeros.data(), tenths.data(), {1'000'000, 1, 1}, &sum);
  EXPECT_EQ(sum, static_cast<double>(1'000'000 * static_cast<long double>(0.1)));
}

TEST(KernelsScatterValues, SameBitsAtAnyNumberOfThreads) {
  const int before = thread_count();
  const std::int64_t count = 20000, rows = 700;
  const auto indices = random_indices<std::int32_t>(count, rows, 12);
  for (const std::int64_t width : {3, 96}) {
    const std::vector<float> updates = random_floats(count * width, 5);
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      set_thread_count(threads);
      results.emplace_back(rows * width, 0.5f);
      scatter(ScatterOp::add, float32, int32, indices.data(), updates.data(), {count, width, rows},
              results.back().data());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
  set_thread_count(before);
}

TEST(KernelsScatterValues, InfinityAndNan) {
  const std::int32_t indices[] = {0, 0, 1, 1, 2, 2};
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double updates[] = {inf, 1, inf, -inf, nan, 1};
  double out[3] = {1, 1, 1};
  scatter(ScatterOp::add, float64, int32, indices, updates, {6, 1, 3}, out);
  EXPECT_EQ(out[0], inf);
  EXPECT_TRUE(std::isnan(out[1]) && std::isnan(out[2]));
  double highest[3] = {0, 0, 0};
  scatter(ScatterOp::maximum, float64, int32, indices, updates, {6, 1, 3}, highest);
  EXPECT_EQ(highest[0], inf);
  EXPECT_TRUE(std::isnan(highest[2]));
}

TEST(KernelsScatterValues, SegmentsWithoutUpdatesAreFilled) {
  const std::int32_t ids[] = {2, 0, -1, 2};
  const float data[] = {-5, 2, 100, -7}, lowest = -3e38f, one = 1, zero = 0;
  std::vector<float> out(4);
  scatter_into_empty(ScatterOp::maximum, float32, int32, ids, data, {4, 1, 4}, &lowest, out.data());
  EXPECT_EQ(out, (std::vector<float>{2, lowest, -5, lowest}));
  scatter_into_empty(ScatterOp::multiply, float32, int32, ids, data, {4, 1, 4}, &one, out.data());
  EXPECT_EQ(out, (std::vector<float>{2, 1, 35, 1}));
  scatter_into_empty(ScatterOp::add, float32, int32, ids, data, {4, 1, 4}, &zero, out.data());
  EXPECT_EQ(out, (std::vector<float>{2, 0, -12, 0}));
}

TEST(KernelsUnique, FirstAppearanceAndCounts) {
  const std::int32_t in[] = {7, 3, 7, 7, -1, 3};
  std::int32_t values[6];
  std::int64_t numbers[6], counts[6];
  ASSERT_EQ(unique(int32, in, 6, values, numbers, counts), 3);
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[2], -1);
  EXPECT_EQ(std::vector<std::int64_t>(numbers, numbers + 6),
            (std::vector<std::int64_t>{0, 1, 0, 0, 2, 1}));
  EXPECT_EQ(std::vector<std::int64_t>(counts, counts + 3), (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(unique(int32, in, 0, values, numbers, nullptr), 0);
}

TEST(KernelsUnique, ZerosAndNans) {
  const float nan = std::nanf(""), in[] = {0.0f, -0.0f, nan, nan, 1, 0};
  float values[6];
  std::int64_t numbers[6];
  ASSERT_EQ(unique(float32, in, 6, values, numbers, nullptr), 4);
  EXPECT_EQ(std::vector<std::int64_t>(numbers, numbers + 6),
            (std::vector<std::int64_t>{0, 0, 1, 2, 3, 0}));
  const std::vector<float> nans(200000, nan);
  std::vector<float> out(nans.size());
  std::vector<std::int64_t> place(nans.size());
  EXPECT_EQ(unique(float32, nans.data(), 200000, out.data(), place.data(), nullptr), 200000);
}

TEST(KernelsUnique, ManyValues) {
  std::vector<double> in(50000);
  for (int i = 0; i < 50000; ++i) in[i] = (i * 7919 % 12345) * 0.25;
  std::vector<double> values(in.size());
  std::vector<std::int64_t> numbers(in.size());
  EXPECT_EQ(unique(float64, in.data(), 50000, values.data(), numbers.data(), nullptr), 12345);
  for (int i = 0; i < 50000; ++i) ASSERT_EQ(values[numbers[i]], in[i]);
}

}  // namespace
}  // namespace gradus::kernels
