// Square roots in loops that wait for the divider, of which some are made by multiplying.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

// The bits of sqrt(x) for all of x, in each position of the loop.
void expect_roots(const Kernel& kernel, const std::vector<float>& x) {
  std::vector<float> got(x.size());
  LoopArgs args;
  args.cols = static_cast<std::int64_t>(x.size());
  args.in[0] = x.data();
  args.out[0] = got.data();
  kernel(args);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float want = std::sqrt(x[i]);
    if (std::isnan(want))
      ASSERT_TRUE(std::isnan(got[i])) << x[i] << " at " << i;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(want))
          << x[i] << " at " << i << " on " << name_of(kernel.isa());
  }
}

Kernel root_kernel(Isa isa) {
  Builder b;
  b.output(sqrt(b.input(DType::float32)), DType::float32);
  return compile(b.finish(), isa);
}

// Which of the vectors of a turn is made by multiplying is the emitter's business: each mantissa is
// tried at each place.
TEST(ExprRoot, EveryMantissa) {
  constexpr std::uint32_t kBlock = 1 << 14;
  for (const Isa isa : isas()) {
    if (isa == Isa::interpreter) continue;
    const Kernel kernel = root_kernel(isa);
    const std::uint32_t vector = isa == Isa::avx512 ? 16 : 8;
    std::vector<float> x(kBlock * 4);
    for (std::uint32_t first = 0x3f800000; first < 0x40800000; first += kBlock) {
      for (std::uint32_t i = 0; i < kBlock; ++i)
        for (std::uint32_t copy = 0; copy < 4; ++copy)
          x[i / vector * 4 * vector + copy * vector + i % vector] = std::bit_cast<float>(first + i);
      expect_roots(kernel, x);
    }
  }
}

TEST(ExprRoot, EveryExponentAndWhatIsNotPositive) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x;
  const auto add = [&](float value) {  // among ordinary values, so that all lanes get one
    for (int lane = 0; lane < 37; ++lane) {
      x.push_back(value);
      x.insert(x.end(), 36, 2.0f + static_cast<float>(lane));
    }
  };
  for (int e = -149; e < 128; ++e)
    for (const float mantissa : {1.0f, 1.3f, 1.9999999f}) add(std::ldexp(mantissa, e));
  for (const float special : {0.0f, -0.0f, infinity, -infinity, nan, -1.0f, -1e-40f}) add(special);
  for (const Isa isa : isas()) expect_roots(root_kernel(isa), x);
}

// Adam's loop: several results, one of which is the root's own operand.
TEST(ExprRoot, WithAQuotientAndOtherResults) {
  Builder b;
  const Expr w = b.input(DType::float32), m = b.input(DType::float32), v = b.input(DType::float32);
  const Expr rate = b.input(DType::float32, false);
  const Expr squares = fma(m, m, v);
  b.output(fma(-rate, m / (sqrt(squares) + 1e-7), w), DType::float32);
  b.output(squares, DType::float32);
  const Program p = b.finish();
  constexpr std::size_t kCount = 331;
  std::vector<float> vw = nasty<float>(kCount, 1), vm = nasty<float>(kCount, 2);
  std::vector<float> vv = nasty<float>(kCount, 3);
  for (std::size_t i = 64; i < kCount; ++i) vv[i] = 1.0f / static_cast<float>(i);
  const std::vector<Array> in = {Array::of(vw), Array::of(vm), Array::of(vv),
                                 Array::of(std::vector<float>{0.01f})};
  const auto want = run(compile(p, Isa::interpreter), p, 1, kCount, in);
  for (const Isa isa : isas()) {
    const Kernel kernel = compile(p, isa);
    const auto got = run(kernel, p, 1, kCount, in);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(first_difference(got[k], want[k]), -1);
    // The second result is stored before the first input is read.
    EXPECT_TRUE(kernel.may_share(0, 0));
    EXPECT_TRUE(kernel.may_share(2, 1));
    EXPECT_FALSE(kernel.may_share(0, 1));
  }
}

}  // namespace
}  // namespace gradus::expr
