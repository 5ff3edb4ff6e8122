// Loops: tails, alignment, broadcasting, in place, and row programs with reductions.
#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

std::vector<float> smooth(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-3, 3);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(random);
  return values;
}

// A made-up positive function with enough instructions to be worth keeping in scratch: about e^x.
Expr growth(Expr x) {
  Expr t = x * 0.125 + 1;
  t = t * t + 0.01;
  t = t * t + 0.01;
  return t * t + 0.01;
}
double growth(double x) {
  double t = x * 0.125 + 1;
  t = t * t + 0.01;
  t = t * t + 0.01;
  return t * t + 0.01;
}

TEST(ExprLoops, EveryTailAndAlignmentOfEveryStorage) {
  for (const DType dtype : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64,
                            float16, bfloat16, float32, float64}) {
    Builder b;
    const Expr x = b.input(dtype), y = b.input(dtype);
    const Expr r = dtype == bool_ ? x ^ y : select(x < y, x + y, x - y);
    b.output(r, dtype);
    b.output(x, dtype);
    const Program p = b.finish();
    const std::size_t size = size_of(dtype);
    for (std::size_t n = 0; n <= 40; ++n) {
      const std::size_t shift = n % 3 * size;
      const std::vector<Array> in = {nasty_array(dtype, n, 7, shift),
                                     nasty_array(dtype, n, 8, size)};
      const auto want = run(compile(p, Isa::interpreter), p, 1, static_cast<std::int64_t>(n), in);
      EXPECT_EQ(first_difference(want[1], in[0]), -1);
      for (const Isa isa : isas()) {
        const auto got = run(compile(p, isa), p, 1, static_cast<std::int64_t>(n), in, shift);
        for (int k : {0, 1}) {
          ASSERT_EQ(first_difference(got[k], want[k]), -1)
              << gradus::name_of(dtype) << " n=" << n << ' ' << name_of(isa);
          ASSERT_TRUE(got[k].guards_intact())
              << gradus::name_of(dtype) << " n=" << n << ' ' << name_of(isa);
        }
      }
    }
  }
}

TEST(ExprLoops, BroadcastsOverRowsAndColumns) {
  Builder b;
  const Expr x = b.input(float32), bias = b.input(float32), scale = b.input(float32, false);
  b.output(x * scale + bias, float32);
  b.output(scale * 2, float32, true);
  b.output(scale + 1, float32);
  const Program p = b.finish();
  for (const std::int64_t cols : {1, 3, 7, 8, 37, 300}) {
    const std::int64_t rows = 5;
    const auto vx = smooth(static_cast<std::size_t>(rows * cols), 1),
               vb = smooth(static_cast<std::size_t>(cols), 2), vs = smooth(5, 3);
    for (const Isa isa : isas()) {
      std::vector<float> out(vx.size()), twice(5), filled(vx.size());
      LoopArgs args;
      args.rows = rows;
      args.cols = cols;
      args.in[0] = vx.data(), args.in_row_bytes[0] = cols * 4;
      args.in[1] = vb.data(), args.in_row_bytes[1] = 0;
      args.in[2] = vs.data(), args.in_row_bytes[2] = 4;
      args.out[0] = out.data(), args.out_row_bytes[0] = cols * 4;
      args.out[1] = twice.data(), args.out_row_bytes[1] = 4;
      args.out[2] = filled.data(), args.out_row_bytes[2] = cols * 4;
      compile(p, isa)(args);
      for (std::size_t r = 0; r < 5; ++r) {
        EXPECT_EQ(twice[r], vs[r] * 2);
        for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
          const std::size_t i = r * static_cast<std::size_t>(cols) + c;
          ASSERT_EQ(out[i], vx[i] * vs[r] + vb[c]) << name_of(isa) << " cols=" << cols;
          ASSERT_EQ(filled[i], vs[r] + 1);
        }
      }
    }
  }
}

TEST(ExprLoops, InPlaceWhereItMayShare) {
  Builder b;
  const Expr x = b.input(float32), y = b.input(float32), z = b.input(float32);
  b.output(x * 2 + 1, float32);  // is stored before y and z are read
  b.output(y * z - x, float32);  // goes where y is read
  const Program p = b.finish();
  for (const std::size_t n : {1u, 5u, 8u, 16u, 31u, 100u, 1000u}) {
    const auto vx = smooth(n, 1), vy = smooth(n, 2), vz = smooth(n, 3);
    for (const Isa isa : isas()) {
      const Kernel kernel = compile(p, isa);
      for (int input = 0; input < 3; ++input) {
        EXPECT_FALSE(kernel.may_share(input, 0));
        EXPECT_TRUE(kernel.may_share(input, 1));
      }
      auto y0 = vy;
      std::vector<float> first(n);
      LoopArgs args;
      args.cols = static_cast<std::int64_t>(n);
      args.in[0] = vx.data(), args.in[1] = y0.data(), args.in[2] = vz.data();
      args.out[0] = first.data(), args.out[1] = y0.data();
      kernel(args);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(first[i], vx[i] * 2 + 1);
        ASSERT_EQ(y0[i], vy[i] * vz[i] - vx[i]) << name_of(isa) << ' ' << n;
      }
    }
  }
}

TEST(ExprLoops, ManyPorts) {
  Builder b;
  std::vector<Expr> in;
  for (int k = 0; k < kMaxInputs; ++k) in.push_back(b.input(float32));
  for (std::size_t k = 0; k < kMaxOutputs; ++k)
    b.output(in[k] * in[15 - k] + in[(k + 3) % 16], float32);
  const Program p = b.finish();
  std::vector<Array> arrays;
  std::vector<std::vector<float>> v;
  for (unsigned k = 0; k < 16; ++k) arrays.push_back(Array::of(v.emplace_back(smooth(3 * 53, k))));
  for (const Isa isa : isas()) {
    const auto got = run(compile(p, isa), p, 3, 53, arrays);
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t i = 0; i < 3 * 53; ++i)
        ASSERT_EQ(got[k].at<float>(i), v[k][i] * v[15 - k][i] + v[(k + 3) % 16][i]) << name_of(isa);
  }
}

TEST(ExprRows, ReductionsOfEveryTypeAndLength) {
  for (const DType dtype : {int8, int32, int64, uint64, float16, float32, float64}) {
    Builder b;
    const Expr x = b.input(dtype);
    const DType wide = dtype == int8 ? int32 : dtype == float16 ? float32 : dtype;
    for (const Expr r : {row_sum(x), row_max(x), row_min(x), row_prod(x)}) b.output(r, wide, true);
    const Program p = b.finish();
    for (const std::int64_t cols :
         {0, 1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 4095, 4096, 4097, 9000}) {
      const std::vector<Array> in = {nasty_array(dtype, static_cast<std::size_t>(3 * cols), 7)};
      const auto want = run(compile(p, Isa::interpreter), p, 3, cols, in);
      for (const Isa isa : isas()) {
        const auto got = run(compile(p, isa), p, 3, cols, in);
        for (std::size_t k = 0; k < 4; ++k)
          ASSERT_EQ(first_difference(got[k], want[k]), -1)
              << gradus::name_of(dtype) << " cols=" << cols << " reduction " << k << ' '
              << name_of(isa);
      }
    }
  }
}

TEST(ExprRows, ReductionsAgreeWithPlainLoops) {
  Builder b;
  const Expr x = b.input(float32), i = b.input(int32);
  b.output(row_sum(x), float32, true);
  b.output(row_max(x), float32, true);
  b.output(row_min(x), float32, true);
  b.output(row_prod(x), float32, true);
  b.output(row_sum(i), int32, true);
  b.output(row_max(i), int32, true);
  b.output(row_min(i), int32, true);
  const Program p = b.finish();
  for (const std::size_t n : {1u, 10u, 77u, 5000u}) {
    auto v = smooth(n, 4);
    std::vector<std::int32_t> vi;
    for (float& x0 : v) vi.push_back(static_cast<std::int32_t>(x0 * 1000)), x0 = 1 + x0 * 1e-4f;
    double sum = 0, product = 1;
    for (const float x0 : v) sum += x0, product *= x0;
    for (const Isa isa : isas()) {
      const auto got =
          run(compile(p, isa), p, 1, static_cast<std::int64_t>(n), {Array::of(v), Array::of(vi)});
      EXPECT_NEAR(got[0].at<float>(0), sum, 1e-6 * sum);
      EXPECT_EQ(got[1].at<float>(0), *std::max_element(v.begin(), v.end()));
      EXPECT_EQ(got[2].at<float>(0), *std::min_element(v.begin(), v.end()));
      EXPECT_NEAR(got[3].at<float>(0), product, 1e-4 * product);
      std::int32_t total = 0;
      for (const std::int32_t k : vi) total += k;
      EXPECT_EQ(got[4].at<std::int32_t>(0), total);
      EXPECT_EQ(got[5].at<std::int32_t>(0), *std::max_element(vi.begin(), vi.end()));
      EXPECT_EQ(got[6].at<std::int32_t>(0), *std::min_element(vi.begin(), vi.end()));
    }
  }
}

TEST(ExprRows, TenMillionOnesSumToTenMillion) {
  Builder b;
  b.output(row_sum(b.input(float32)), float32, true);
  const Program p = b.finish();
  const std::vector<float> ones(10'000'000, 1.0f);
  LoopArgs args;
  args.cols = 10'000'000;
  args.in[0] = ones.data();
  for (const Isa isa : isas()) {
    float sum = 0;
    args.out[0] = &sum;
    compile(p, isa)(args);
    EXPECT_EQ(sum, 1e7f) << name_of(isa);
  }
}

TEST(ExprRows, NanAndInfinityReachTheResult) {
  Builder b;
  const Expr x = b.input(float32);
  b.output(row_sum(x), float32, true);
  b.output(row_max(x), float32, true);
  b.output(row_min(x), float32, true);
  const Program p = b.finish();
  for (std::size_t at = 0; at < 70; at += 3) {
    for (const Isa isa : isas()) {
      auto v = smooth(70, 9);
      v[at] = NAN;
      auto got = run(compile(p, isa), p, 1, 70, {Array::of(v)});
      for (const Array& a : got)
        EXPECT_TRUE(std::isnan(a.at<float>(0))) << name_of(isa) << " at " << at;
      v[at] = INFINITY;
      got = run(compile(p, isa), p, 1, 70, {Array::of(v)});
      EXPECT_EQ(got[0].at<float>(0), INFINITY);
      EXPECT_EQ(got[1].at<float>(0), INFINITY);
    }
  }
}

// softmax with a made-up exponential: three passes, the numerator is kept in scratch.
TEST(ExprRows, SoftmaxShape) {
  for (const DType dtype : {float32, float64}) {
    Builder b;
    const Expr x = b.input(dtype), e = growth(x - row_max(x));
    b.output(e / row_sum(e), dtype);
    const Program p = b.finish();
    for (const std::size_t cols : {1u, 3u, 10u, 33u, 128u, 1000u, 5001u}) {
      const auto v = smooth(3 * cols, 11);
      std::vector<double> vd(v.begin(), v.end());
      const std::vector<Array> in = {dtype == float32 ? Array::of(v) : Array::of(vd)};
      for (const Isa isa : isas()) {
        const auto got = run(compile(p, isa), p, 3, static_cast<std::int64_t>(cols), in);
        EXPECT_TRUE(got[0].guards_intact());
        for (std::size_t r = 0; r < 3; ++r) {
          const float* row = v.data() + r * cols;
          const double top = *std::max_element(row, row + cols);
          double sum = 0;
          for (std::size_t c = 0; c < cols; ++c) sum += growth(row[c] - top);
          for (std::size_t c = 0; c < cols; ++c) {
            const double want = growth(row[c] - top) / sum;
            const double y =
                dtype == float32 ? got[0].at<float>(r * cols + c) : got[0].at<double>(r * cols + c);
            ASSERT_NEAR(y, want, (dtype == float32 ? 3e-6 : 1e-13) * want)
                << name_of(isa) << ' ' << cols;
          }
        }
      }
    }
  }
}

TEST(ExprRows, InPlaceWhereNoLaterPassReadsTheInput) {
  Builder b;
  const Expr x = b.input(float32), y = b.input(float32), e = growth(x - row_max(x));
  b.output(e / row_sum(e) + y, float32);  // last pass: x is not read there, y for the last time
  b.output(x * 2, float32);               // first pass: x and y are read later
  const Program p = b.finish();
  for (const Isa isa : isas()) {
    const Kernel kernel = compile(p, isa);
    EXPECT_TRUE(kernel.may_share(0, 0));
    EXPECT_TRUE(kernel.may_share(1, 0));
    EXPECT_FALSE(kernel.may_share(0, 1));
    EXPECT_FALSE(kernel.may_share(1, 1));
    const std::size_t cols = 77;
    const auto vx = smooth(3 * cols, 1), vy = smooth(3 * cols, 2);
    const auto want = run(kernel, p, 3, cols, {Array::of(vx), Array::of(vy)});
    for (const int over : {0, 1}) {
      auto x0 = vx, y0 = vy;
      std::vector<float> twice(vx.size());
      std::vector<char> scratch(kernel.scratch_bytes(cols) + 64);
      LoopArgs args;
      args.rows = 3, args.cols = cols, args.scratch = scratch.data();
      args.in[0] = x0.data(), args.in[1] = y0.data();
      args.out[0] = over == 0 ? x0.data() : y0.data(), args.out[1] = twice.data();
      for (int k : {0, 1}) args.in_row_bytes[k] = args.out_row_bytes[k] = cols * 4;
      kernel(args);
      EXPECT_EQ(first_difference(Array::of(over == 0 ? x0 : y0), want[0]), -1) << name_of(isa);
    }
  }
}

// layer normalisation: two dependent reductions, an affine map, and the statistics as outputs.
// Beside a reduction along the row, an ordinary result and a value that is the same in a whole row.
TEST(ExprRows, SumsOverRowsOfEveryTypeAndLength) {
  for (const DType dtype : {int32, int64, uint64, float32, float64}) {
    for (const DType other : {float32, float64}) {  // in a program with 64-bit values, too
      Builder b;
      const Expr x = b.input(dtype), y = b.input(other), s = b.input(dtype, false);
      b.output_added(x, dtype);
      b.output(y / row_sum(y), other);
      b.output_added(y / row_sum(y), other);
      b.output_added(s, dtype);
      const Program p = b.finish();
      for (const std::int64_t cols : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 33, 47, 70}) {
        const std::int64_t rows = 1 + cols % 4;
        const auto n = static_cast<std::size_t>(rows * cols);
        const std::vector<Array> in = {nasty_array(dtype, n, 5, 8), nasty_array(other, n, 6),
                                       nasty_array(dtype, static_cast<std::size_t>(rows), 7)};
        const auto want = run(compile(p, Isa::interpreter), p, rows, cols, in, 8);
        for (const Isa isa : isas()) {
          const Kernel kernel = compile(p, isa);
          ASSERT_TRUE(dtype == uint64 || kernel.isa() == isa);
          const auto got = run(kernel, p, rows, cols, in, 8);
          for (std::size_t k = 0; k < got.size(); ++k) {
            ASSERT_EQ(first_difference(got[k], want[k]), -1)
                << gradus::name_of(dtype) << ' ' << cols << ' ' << name_of(isa) << " output " << k;
            ASSERT_TRUE(got[k].guards_intact()) << gradus::name_of(dtype) << ' ' << cols;
          }
        }
      }
    }
  }
}

TEST(ExprRows, SumsOverRowsAddToWhatIsThere) {
  Builder b;
  const Expr x = b.input(float32);
  b.output_added(x * 2, float32);
  const Program p = b.finish();
  EXPECT_NE(to_string(p).find("float32 added"), std::string::npos) << to_string(p);
  Builder stored;
  stored.output(stored.input(float32) * 2, float32);
  EXPECT_FALSE(stored.finish() == p);
  for (const Isa isa : isas()) {
    const Kernel kernel = compile(p, isa);
    std::vector<float> in(3 * 11), sums(11, 100);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    LoopArgs args;
    args.rows = 3;
    args.cols = 11;
    args.in[0] = in.data(), args.in_row_bytes[0] = 44;
    args.out[0] = sums.data(), args.out_row_bytes[0] = 0;
    kernel(args);
    for (std::size_t i = 0; i < 11; ++i)
      EXPECT_EQ(sums[i], 100 + 2 * (3 * static_cast<float>(i) + 33)) << name_of(isa);
  }
}

TEST(ExprRows, HalvesAreNotSummedInPlace) {
  Builder b;
  const Expr x = b.input(float16);
  try {
    b.output_added(x, float16);
    FAIL() << "a half would be rounded after every row";
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.message(),
                 "[expr] got an added output of dtype float16; sums are kept in the type they are "
                 "computed in, int32, int64, uint64, float32 or float64");
  }
}

TEST(ExprRows, LayerNormShape) {
  for (const std::size_t cols : {2u, 7u, 40u, 257u, 6000u}) {
    Builder b;
    const Expr x = b.input(float32), gamma = b.input(float32), beta = b.input(float32);
    const Expr count = b.input(float32, false);
    const Expr mean = row_sum(x) / count, d = x - mean;
    const Expr inv = 1 / sqrt(row_sum(d * d) / count + 1e-5);
    b.output(d * inv * gamma + beta, float32);
    b.output(mean, float32, true);
    b.output(inv, float32, true);
    const Program p = b.finish();
    const std::size_t rows = 4;
    const auto v = smooth(rows * cols, 1), g = smooth(cols, 2), be = smooth(cols, 3);
    const float n = static_cast<float>(cols);
    for (const Isa isa : isas()) {
      std::vector<float> out(v.size()), means(rows), invs(rows);
      LoopArgs args;
      args.rows = static_cast<std::int64_t>(rows);
      args.cols = static_cast<std::int64_t>(cols);
      const auto row_bytes = static_cast<std::int64_t>(cols * 4);
      args.in[0] = v.data(), args.in_row_bytes[0] = row_bytes;
      args.in[1] = g.data(), args.in_row_bytes[1] = 0;
      args.in[2] = be.data(), args.in_row_bytes[2] = 0;
      args.in[3] = &n, args.in_row_bytes[3] = 0;
      args.out[0] = out.data(), args.out_row_bytes[0] = row_bytes;
      args.out[1] = means.data(), args.out_row_bytes[1] = 4;
      args.out[2] = invs.data(), args.out_row_bytes[2] = 4;
      const Kernel kernel = compile(p, isa);
      EXPECT_EQ(kernel.scratch_bytes(args.cols), 0u) << "x - mean is cheap to make again";
      kernel(args);
      for (std::size_t r = 0; r < rows; ++r) {
        double m = 0, s = 0;
        for (std::size_t c = 0; c < cols; ++c) m += v[r * cols + c] / static_cast<double>(cols);
        for (std::size_t c = 0; c < cols; ++c)
          s += std::pow(v[r * cols + c] - m, 2) / static_cast<double>(cols);
        EXPECT_NEAR(means[r], m, 1e-6);
        EXPECT_NEAR(invs[r], 1 / std::sqrt(s + 1e-5), 1e-5 * invs[r]);
        for (std::size_t c = 0; c < cols; ++c)
          ASSERT_NEAR(out[r * cols + c], (v[r * cols + c] - m) / std::sqrt(s + 1e-5) * g[c] + be[c],
                      1e-4)
              << name_of(isa) << ' ' << cols;
      }
    }
  }
}

}  // namespace
}  // namespace gradus::expr
