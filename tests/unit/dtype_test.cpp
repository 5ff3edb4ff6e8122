#include "gradus/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "gradus/error.h"

namespace gradus {
namespace {

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(dtype_of(name_of(t)), t);
  }
  EXPECT_THROW(dtype_of("float31"), InvalidArgumentError);
}

TEST(DType, EveryHalfSurvivesTheTripThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    const float x = h;
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half(x))));
    } else {
      EXPECT_EQ(half(x).bits, h.bits);
    }
  }
}

TEST(DType, HalfRoundsToNearestEvenAndOverflowsToInfinity) {
  EXPECT_EQ(static_cast<float>(half(65504.0f)), 65504.0f);
  EXPECT_EQ(static_cast<float>(half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(half(65520.0f))));
  EXPECT_EQ(static_cast<float>(half(2049.0f)), 2048.0f);  // a tie goes to even
  EXPECT_EQ(static_cast<float>(half(2051.0f)), 2052.0f);
  EXPECT_EQ(half(0x1p-25f).bits, 0);  // half of the smallest subnormal: tie to zero
  EXPECT_EQ(half(0x1.8p-25f).bits, 1);
  EXPECT_EQ(half(-0.0f).bits, 0x8000);
}

TEST(DType, BfloatKeepsNanAndRounds) {
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat(std::nanf("")))));
  EXPECT_EQ(static_cast<float>(bfloat(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_EQ(static_cast<float>(bfloat(1.0f + 0x1.8p-7f)), 1.0f + 0x1p-6f);
  EXPECT_TRUE(std::isinf(static_cast<float>(bfloat(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace gradus
