#include "kernels/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gradus/threads.h"

namespace gradus::kernels {
namespace {

using std::int64_t;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Pool2dShape shape(DType dtype, int64_t batch, int64_t h, int64_t w, int64_t c, int64_t window_h,
                  int64_t window_w, int64_t stride_h, int64_t stride_w, int64_t top = 0,
                  int64_t bottom = 0, int64_t left = 0, int64_t right = 0) {
  Pool2dShape s;
  s.dtype = dtype;
  s.batch = batch, s.in_h = h, s.in_w = w, s.channels = c;
  s.window_h = window_h, s.window_w = window_w, s.stride_h = stride_h, s.stride_w = stride_w;
  s.pad_top = top, s.pad_bottom = bottom, s.pad_left = left, s.pad_right = right;
  return s;
}

std::vector<Pool2dShape> shapes(DType t) {
  return {
      shape(t, 1, 1, 1, 1, 1, 1, 1, 1),
      shape(t, 2, 4, 6, 8, 2, 2, 2, 2),               // no overlap
      shape(t, 2, 5, 7, 9, 2, 2, 2, 2),               // rest at the border
      shape(t, 1, 6, 6, 3, 3, 3, 1, 1, 1, 1, 1, 1),   // overlap, SAME
      shape(t, 1, 9, 8, 17, 3, 2, 2, 3, 1, 0, 0, 1),  //
      shape(t, 2, 7, 5, 5, 2, 2, 3, 3),               // pixels that no window sees
      shape(t, 1, 3, 3, 2, 2, 2, 1, 1, 3, 3, 3, 3),   // windows that see nothing
      shape(t, 3, 5, 4, 33, 5, 4, 1, 1),              // global
      shape(t, 1, 2, 2, 4, 3, 3, 1, 1),               // does not fit
      shape(t, 0, 4, 4, 3, 2, 2, 2, 2),               // no images
      shape(t, 4, 40, 40, 32, 2, 2, 2, 2),            // enough for threads
  };
}

// Calls f(input index, output index, tap) for all that each window sees, in order.
template <class F>
void for_taps(const Pool2dShape& s, const F& f) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_h(); ++oy)
      for (int64_t ox = 0; ox < s.out_w(); ++ox)
        for (int64_t c = 0; c < s.channels; ++c)
          for (int64_t i = 0; i < s.window_h; ++i)
            for (int64_t j = 0; j < s.window_w; ++j) {
              const int64_t y = oy * s.stride_h + i - s.pad_top;
              const int64_t x = ox * s.stride_w + j - s.pad_left;
              if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w) continue;
              f(((n * s.in_h + y) * s.in_w + x) * s.channels + c,
                ((n * s.out_h() + oy) * s.out_w() + ox) * s.channels + c, i * s.window_w + j);
            }
}

template <class T>
std::vector<T> numbers(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> small(-3, 3);  // many ties
  std::vector<T> values(count);
  for (T& x : values) x = static_cast<T>(static_cast<float>(small(random)));
  return values;
}

// Equal, or both NaN.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = got[i], y = wanted[i];
    ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << i << ": " << x << ", not " << y;
  }
}

template <class T>
void check_max(const Pool2dShape& s) {
  const std::vector<T> x = numbers<T>(s.in_size(), 1), dy = numbers<T>(s.out_size(), 2);
  std::vector<T> y(s.out_size()), wanted(s.out_size(), T(-kInf));
  std::vector<std::int32_t> taps(s.out_size()), wanted_taps(s.out_size(), -1);
  std::vector<int64_t> where(s.out_size(), -1);
  for_taps(s, [&](int64_t in, int64_t out, int64_t tap) {
    if (wanted_taps[out] >= 0 && !(x[in] > wanted[out])) return;
    wanted[out] = x[in];
    wanted_taps[out] = static_cast<std::int32_t>(tap);
    where[out] = in;
  });
  max_pool2d(s, x.data(), y.data(), taps.data());
  expect_same(y, wanted);
  EXPECT_EQ(taps, wanted_taps);
  std::fill(y.begin(), y.end(), T(7.0f));
  max_pool2d(s, x.data(), y.data(), nullptr);
  expect_same(y, wanted);

  for (const bool accumulate : {false, true}) {
    std::vector<T> dx = numbers<T>(s.in_size(), 3), wanted_dx = dx;
    if (!accumulate) std::fill(wanted_dx.begin(), wanted_dx.end(), T(0.0f));
    for (int64_t i = 0; i < s.out_size(); ++i)
      if (where[i] >= 0)
        wanted_dx[where[i]] =
            static_cast<T>(static_cast<float>(wanted_dx[where[i]]) + static_cast<float>(dy[i]));
    max_pool2d_gradient(s, dy.data(), taps.data(), dx.data(), accumulate);
    expect_same(dx, wanted_dx);
  }
  const std::vector<T> tangent = numbers<T>(s.in_size(), 4);
  std::vector<T> taken(s.out_size()), wanted_taken;
  for (const int64_t in : where) wanted_taken.push_back(in < 0 ? T(0.0f) : tangent[in]);
  max_pool2d_take(s, tangent.data(), taps.data(), taken.data());
  expect_same(taken, wanted_taken);
}

template <class T>
void check_average(Pool2dShape s) {
  for (const bool count_padding : {false, true}) {
    s.count_padding = count_padding;
    const std::vector<T> x = numbers<T>(s.in_size(), 1), dy = numbers<T>(s.out_size(), 2);
    std::vector<double> sums(s.out_size()), counts(s.out_size());
    for_taps(s, [&](int64_t in, int64_t out, int64_t) {
      sums[out] += x[in];
      counts[out] += 1;
    });
    if (count_padding)
      for (double& count : counts) count = static_cast<double>(s.window_h * s.window_w);
    std::vector<T> y(s.out_size()), wanted(s.out_size());
    for (int64_t i = 0; i < s.out_size(); ++i)
      wanted[i] = sizeof(T) == 8 ? static_cast<T>(sums[i] / counts[i])
                                 : T(static_cast<float>(sums[i]) / static_cast<float>(counts[i]));
    avg_pool2d(s, x.data(), y.data());
    expect_same(y, wanted);

    for (const bool accumulate : {false, true}) {
      std::vector<T> dx = numbers<T>(s.in_size(), 3);
      std::vector<double> wanted_dx(s.in_size());
      if (accumulate) std::copy(dx.begin(), dx.end(), wanted_dx.begin());
      for_taps(s,
               [&](int64_t in, int64_t out, int64_t) { wanted_dx[in] += dy[out] / counts[out]; });
      avg_pool2d_gradient(s, dy.data(), dx.data(), accumulate);
      const double tolerance = sizeof(T) == 8 ? 1e-14 : sizeof(T) == 4 ? 1e-5 : 0.06;
      for (int64_t i = 0; i < s.in_size(); ++i)
        ASSERT_NEAR(static_cast<double>(dx[i]), wanted_dx[i], tolerance);
    }
  }
}

TEST(Pool, Maximum) {
  for (const Pool2dShape& s : shapes(DType::float32)) check_max<float>(s);
  for (const Pool2dShape& s : shapes(DType::float64)) check_max<double>(s);
  for (const Pool2dShape& s : shapes(DType::float16)) check_max<half>(s);
  for (const Pool2dShape& s : shapes(DType::bfloat16)) check_max<bfloat>(s);
}

TEST(Pool, Average) {
  for (const Pool2dShape& s : shapes(DType::float32)) check_average<float>(s);
  for (const Pool2dShape& s : shapes(DType::float64)) check_average<double>(s);
  for (const Pool2dShape& s : shapes(DType::float16)) check_average<half>(s);
}

TEST(Pool, NanInfinityAndTies) {
  // Windows of two pixels; nine channels, so that a vector and a single lane are used.
  const Pool2dShape s = shape(DType::float32, 1, 1, 12, 9, 1, 2, 1, 2);
  const float pairs[6][2] = {{kNan, 1}, {1, kNan},    {-kInf, -kInf},
                             {2, 2},    {kNan, kNan}, {-0.0f, 0.0f}};
  std::vector<float> x(s.in_size()), y(s.out_size());
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t c = 0; c < 9; ++c) x[i * 9 + c] = pairs[i / 2][i % 2];
  std::vector<std::int32_t> taps(s.out_size());
  max_pool2d(s, x.data(), y.data(), taps.data());
  const std::int32_t wanted[6] = {0, 1, 0, 0, 0, 0};
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t c = 0; c < 9; ++c) {
      EXPECT_EQ(taps[i * 9 + c], wanted[i]) << i;
      EXPECT_EQ(std::isnan(y[i * 9 + c]), std::isnan(pairs[i][wanted[i]]));
    }
  EXPECT_EQ(y[2 * 9], -kInf);

  // The gradient of what was not chosen is 0 even if what was chosen gets inf or NaN.
  const std::vector<float> dy(s.out_size(), kInf);
  std::vector<float> dx(s.in_size());
  max_pool2d_gradient(s, dy.data(), taps.data(), dx.data(), false);
  EXPECT_EQ(dx[0], kInf);
  EXPECT_EQ(dx[9], 0);
}

TEST(Pool, LargeAveragesKeepTheirDigits) {
  const Pool2dShape s = shape(DType::float32, 1, 3000, 3000, 1, 3000, 3000, 1, 1);
  const std::vector<float> ones(s.in_size(), 0.1f);
  float mean = 0;
  avg_pool2d(s, ones.data(), &mean);
  EXPECT_NEAR(mean, 0.1f, 2e-6f);
}

TEST(Pool, ThreadsDoNotChangeBits) {
  const int before = thread_count();
  const Pool2dShape s = shape(DType::float32, 4, 50, 50, 20, 3, 3, 2, 2, 1, 1, 1, 1);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(s.in_size()), dy(s.out_size());
  for (auto* values : {&x, &dy})
    for (float& v : *values) v = normal(random);
  std::vector<float> y[2], average[2], dx[2], average_dx[2];
  std::vector<std::int32_t> taps[2];
  for (int i = 0; i < 2; ++i) {
    set_thread_count(i + 1);
    y[i].resize(s.out_size()), average[i] = y[i];
    dx[i].resize(s.in_size()), average_dx[i] = dx[i];
    taps[i].resize(s.out_size());
    max_pool2d(s, x.data(), y[i].data(), taps[i].data());
    max_pool2d_gradient(s, dy.data(), taps[i].data(), dx[i].data(), false);
    avg_pool2d(s, x.data(), average[i].data());
    avg_pool2d_gradient(s, dy.data(), average_dx[i].data(), false);
  }
  EXPECT_EQ(y[0], y[1]);
  EXPECT_EQ(taps[0], taps[1]);
  EXPECT_EQ(dx[0], dx[1]);
  EXPECT_EQ(average[0], average[1]);
  EXPECT_EQ(average_dx[0], average_dx[1]);
  set_thread_count(before);
}

}  // namespace
}  // namespace gradus::kernels
