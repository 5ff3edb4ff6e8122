#include "kernels/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace gradus::kernels {
namespace {

std::vector<float> nasty_floats() {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; high += 3)  // all exponents, ties and near ties
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0x1000u, 0xf000u}) {
      const std::uint32_t bits = high << 16 | low;
      float x;
      std::memcpy(&x, &bits, 4);
      values.push_back(x);
    }
  return values;
}

template <class T>
void expect_as_one_by_one() {
  const std::vector<float> values = nasty_floats();
  std::vector<T> narrowed(values.size());
  narrow(dtype_v<T>, narrowed.data(), values.data(), static_cast<std::int64_t>(values.size()));
  std::vector<float> widened(values.size());
  widen(dtype_v<T>, widened.data(), narrowed.data(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(narrowed[i].bits, T(values[i]).bits) << values[i];
    const float wanted = narrowed[i];
    ASSERT_TRUE(widened[i] == wanted || (std::isnan(widened[i]) && std::isnan(wanted)));
  }
}

TEST(Half, ArraysConvertLikeSingleValues) { expect_as_one_by_one<half>(); }
TEST(Half, BfloatArraysConvertLikeSingleValues) { expect_as_one_by_one<bfloat>(); }

// Two chunks and a rest, one NaN among numbers.
TEST(Half, ManyChunksConvertLikeOne) {
  std::vector<float> values(150'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 1.001f;
  values[70'003] = std::numeric_limits<float>::quiet_NaN();
  std::vector<bfloat> all(values.size());
  narrow_in_parallel(DType::bfloat16, all.data(), values.data(),
                     static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(all[i].bits, bfloat(values[i]).bits) << i;
}

TEST(Half, WritesNothingElse) {
  for (const std::int64_t count : {0, 1, 7, 8, 9, 17}) {
    std::vector<float> wide(20, -1.0f);
    std::vector<half> halves(20, half(2.0f));
    widen(DType::float16, wide.data(), halves.data(), count);
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(wide[i], i < count ? 2.0f : -1.0f);
    std::fill(wide.begin(), wide.end(), 3.0f);
    narrow(DType::float16, halves.data(), wide.data(), count);
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(float(halves[i]), i < count ? 3.0f : 2.0f);
  }
}

}  // namespace
}  // namespace gradus::kernels
