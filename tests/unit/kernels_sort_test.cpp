#include "kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace gradus::kernels {
namespace {

template <class T>
class KernelsSort : public ::testing::Test {};
using Types =
    ::testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat, float, double>;
TYPED_TEST_SUITE(KernelsSort, Types);

// vector<bool> has no data(), hence arrays.
template <class T>
std::unique_ptr<T[]> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  auto v = std::make_unique<T[]>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>) {
      v[i] = static_cast<T>(random() % 4 == 0 ? random() % 5 : random());  // with ties
    } else {
      const float choice[] = {0.0f, -0.0f, std::nanf(""), INFINITY, -INFINITY, 1.0f, -1.0f};
      const auto r = random() % 20;
      v[i] =
          T(r < 7 ? choice[r] : static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 7);
    }
  }
  return v;
}

template <class T>
std::vector<std::int32_t> stable_order(const T* x, std::int64_t n, Direction direction) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const bool a_nan = x[a] != x[a], b_nan = x[b] != x[b];
    if (a_nan || b_nan) return !a_nan && b_nan;
    return direction == Direction::ascending ? x[a] < x[b] : x[b] < x[a];
  });
  return order;
}

TYPED_TEST(KernelsSort, AgreesWithAStableSort) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 17, 300, 511, 512, 2500}) {
    const std::int64_t rows = 3;
    const auto in = random_values<T>(rows * n, static_cast<unsigned>(n));
    for (const Direction direction : {Direction::ascending, Direction::descending}) {
      auto values = std::make_unique<T[]>(rows * n);
      std::vector<std::int32_t> positions(rows * n);
      sort(direction, dtype_v<T>, in.get(), rows, n, values.get(), positions.data());
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::vector<std::int32_t> wanted = stable_order(in.get() + r * n, n, direction);
        ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), positions.begin() + r * n)) << n;
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::memcmp(&values[r * n + i], &in[r * n + wanted[i]], sizeof(T)), 0);
      }
      std::vector<std::int32_t> alone(rows * n);
      sort(direction, dtype_v<T>, in.get(), rows, n, nullptr, alone.data());
      EXPECT_EQ(alone, positions);
    }
  }
}

TYPED_TEST(KernelsSort, TopKIsThePrefixOfTheSort) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 5, 100, 3000}) {
    const auto in = random_values<T>(2 * n, static_cast<unsigned>(n + 1));
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, n / 2, n}) {
      if (k > n) continue;
      auto values = std::make_unique<T[]>(2 * k + 1);
      std::vector<std::int32_t> positions(2 * k);
      top_k(dtype_v<T>, in.get(), 2, n, k, values.get(), positions.data());
      for (std::int64_t r = 0; r < 2; ++r) {
        const auto wanted = stable_order(in.get() + r * n, n, Direction::descending);
        ASSERT_TRUE(std::equal(wanted.begin(), wanted.begin() + k, positions.begin() + r * k))
            << n << " " << k;
        for (std::int64_t i = 0; i < k; ++i)
          ASSERT_EQ(std::memcmp(&values[r * k + i], &in[r * n + wanted[i]], sizeof(T)), 0);
      }
    }
  }
}

TEST(KernelsSortValues, SearchSorted) {
  const float sorted[] = {1, 2, 2, 3, 0, 1, 5, 9};
  const float values[] = {2, 0, 4, 9, 9.5f, -1};
  std::int32_t left[6];
  std::int64_t right[6];
  search_sorted(Side::left, float32, sorted, 2, 4, values, 3, int32, left);
  EXPECT_EQ(std::vector<std::int32_t>(left, left + 6),
            (std::vector<std::int32_t>{1, 0, 4, 3, 4, 0}));
  search_sorted(Side::right, float32, sorted, 2, 4, values, 3, int64, right);
  EXPECT_EQ(std::vector<std::int64_t>(right, right + 6),
            (std::vector<std::int64_t>{3, 0, 4, 4, 4, 0}));
  search_sorted(Side::left, float32, sorted, 1, 0, values, 3, int32, left);
  EXPECT_EQ(left[2], 0);
}

}  // namespace
}  // namespace gradus::kernels
