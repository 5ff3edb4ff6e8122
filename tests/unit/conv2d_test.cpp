#include "kernels/conv2d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gradus/threads.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

struct Case {
  int64_t batch, in_h, in_w, in_c, out_c, filter_h, filter_w;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  int64_t groups = 1;
};

Conv2dShape shape_of(const Case& c, DType dtype) {
  Conv2dShape s;
  s.dtype = dtype;
  s.batch = c.batch, s.in_h = c.in_h, s.in_w = c.in_w, s.in_c = c.in_c;
  s.filter_h = c.filter_h, s.filter_w = c.filter_w, s.out_c = c.out_c;
  s.stride_h = c.stride_h, s.stride_w = c.stride_w;
  s.dilation_h = c.dilation_h, s.dilation_w = c.dilation_w;
  s.pad_top = c.top, s.pad_bottom = c.bottom, s.pad_left = c.left, s.pad_right = c.right;
  s.groups = c.groups;
  return s;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.batch << "x" << c.in_h << "x" << c.in_w << "x" << c.in_c << " -> " << c.out_c
             << ", filter " << c.filter_h << "x" << c.filter_w << ", stride " << c.stride_h << ","
             << c.stride_w << ", dilation " << c.dilation_h << "," << c.dilation_w << ", padding "
             << c.top << "," << c.bottom << "," << c.left << "," << c.right << ", groups "
             << c.groups;
}

// Numbers between guards that nobody may change.
template <class T>
struct Buffer {
  static constexpr int64_t kGuard = 17;
  std::vector<T> all;
  explicit Buffer(int64_t size) : all(size + 2 * kGuard, T(-99)) {}
  int64_t size() const { return static_cast<int64_t>(all.size()) - 2 * kGuard; }
  T* data() { return all.data() + kGuard; }
  T& operator[](int64_t i) { return all[kGuard + i]; }
  void fill(std::mt19937& random) {  // whole numbers: any order of summation is exact
    std::uniform_int_distribution<int> small(-3, 3);
    for (int64_t i = 0; i < size(); ++i) (*this)[i] = static_cast<T>(small(random));
  }
};

// Calls f(input index, filter index, output index) for every product of the convolution.
template <class F>
void for_products(const Conv2dShape& s, const F& f) {
  const int64_t group_in = s.in_c / s.groups, group_out = s.out_c / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_h(); ++oy)
      for (int64_t ox = 0; ox < s.out_w(); ++ox)
        for (int64_t i = 0; i < s.filter_h; ++i)
          for (int64_t j = 0; j < s.filter_w; ++j) {
            const int64_t y = oy * s.stride_h + i * s.dilation_h - s.pad_top;
            const int64_t x = ox * s.stride_w + j * s.dilation_w - s.pad_left;
            if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w) continue;
            for (int64_t oc = 0; oc < s.out_c; ++oc)
              for (int64_t c = 0; c < group_in; ++c)
                f(((n * s.in_h + y) * s.in_w + x) * s.in_c + oc / group_out * group_in + c,
                  ((i * s.filter_w + j) * group_in + c) * s.out_c + oc,
                  ((n * s.out_h() + oy) * s.out_w() + ox) * s.out_c + oc);
          }
}

template <class T>
struct Problem {
  Conv2dShape s;
  Buffer<T> x, w, y;
  Problem(const Case& c)
      : s(shape_of(c, dtype_v<T>)),
        x(s.batch * s.in_h * s.in_w * s.in_c),
        w(s.filter_h * s.filter_w * s.in_c / s.groups * s.out_c),
        y(s.batch * s.out_h() * s.out_w() * s.out_c) {
    std::mt19937 random(1);
    x.fill(random), w.fill(random), y.fill(random);
  }
};

template <class T>
void expect_forward_right(const Case& c, bool with_bias, bool relu) {
  Problem<T> p(c);
  Buffer<T> bias(c.out_c), wanted = p.y;
  std::mt19937 random(2);
  bias.fill(random);
  for (int64_t i = 0; i < p.y.size(); ++i) wanted[i] = with_bias ? bias[i % c.out_c] : T(0);
  for_products(p.s, [&](int64_t x, int64_t w, int64_t y) { wanted[y] += p.x[x] * p.w[w]; });
  if (relu)
    for (int64_t i = 0; i < p.y.size(); ++i) wanted[i] = std::max(wanted[i], T(0));
  conv2d(p.s, p.x.data(), p.w.data(), p.y.data(), with_bias ? bias.data() : nullptr, relu);
  EXPECT_EQ(p.y.all, wanted.all) << c;
}

template <class T>
void expect_input_gradient_right(const Case& c, bool accumulate, bool gated) {
  Problem<T> p(c);
  Buffer<T> gate = p.x, wanted = p.x;
  std::mt19937 random(3);
  gate.fill(random);
  if (!accumulate)
    for (int64_t i = 0; i < p.x.size(); ++i) wanted[i] = 0;
  for_products(p.s, [&](int64_t x, int64_t w, int64_t y) { wanted[x] += p.y[y] * p.w[w]; });
  if (gated)
    for (int64_t i = 0; i < p.x.size(); ++i) wanted[i] = gate[i] > 0 ? wanted[i] : 0;
  conv2d_input_gradient(p.s, p.y.data(), p.w.data(), p.x.data(), accumulate,
                        gated ? gate.data() : nullptr);
  EXPECT_EQ(p.x.all, wanted.all) << c;
}

template <class T>
void expect_filter_gradient_right(const Case& c, bool accumulate) {
  Problem<T> p(c);
  Buffer<T> wanted = p.w;
  if (!accumulate)
    for (int64_t i = 0; i < p.w.size(); ++i) wanted[i] = 0;
  for_products(p.s, [&](int64_t x, int64_t w, int64_t y) { wanted[w] += p.y[y] * p.x[x]; });
  conv2d_filter_gradient(p.s, p.x.data(), p.y.data(), p.w.data(), accumulate);
  EXPECT_EQ(p.w.all, wanted.all) << c;
}

std::vector<Case> cases() {
  return {
      // batch, height, width, in, out, filter; stride; dilation; top, bottom, left, right; groups
      {1, 1, 1, 1, 1, 1, 1},
      {2, 5, 7, 3, 8, 1, 1},                                // a matrix product
      {2, 5, 7, 3, 8, 3, 3},                                // VALID
      {2, 5, 7, 3, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},        // SAME
      {1, 9, 9, 1, 17, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},       // one channel
      {1, 8, 14, 2, 33, 5, 2, 1, 1, 1, 1, 2, 2, 0, 1},      // even and oblong filters
      {2, 9, 10, 4, 5, 3, 3, 2, 2, 1, 1, 1, 0, 0, 1},       // strides
      {1, 11, 7, 3, 4, 2, 3, 3, 2, 1, 1, 0, 1, 2, 1},       //
      {2, 6, 6, 2, 3, 1, 1, 2, 3},                          // pixels that nobody reads
      {1, 12, 13, 3, 7, 3, 3, 1, 1, 2, 3, 2, 2, 3, 3},      // dilations
      {1, 12, 13, 3, 7, 3, 3, 2, 2, 2, 3, 1, 2, 3, 0},      // and strides
      {1, 13, 13, 2, 3, 3, 4, 2, 3, 3, 2, 0, 0, 0, 0},      //
      {1, 3, 3, 2, 2, 3, 3, 1, 1, 1, 1, 5, 5, 5, 5},        // more padding than image
      {1, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 3, 0, 0, 3},        //
      {2, 4, 4, 3, 3, 5, 5},                                // the filter does not fit
      {0, 4, 4, 3, 3, 2, 2},                                // no images
      {2, 6, 5, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2},     // groups
      {1, 7, 7, 6, 9, 2, 3, 2, 1, 1, 2, 1, 1, 1, 1, 3},     //
      {2, 6, 5, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 5},     // depthwise
      {1, 9, 8, 19, 19, 3, 2, 2, 2, 1, 2, 1, 0, 2, 1, 19},  //
      {1, 6, 5, 4, 12, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 4},    // with a multiplier
      {3, 14, 14, 32, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    // enough for threads
      {1, 30, 31, 20, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    //
      {1, 5, 6, 130, 140, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    // a large filter
      {2, 40, 40, 1, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},     // many rows of one channel
  };
}

TEST(Conv2d, Forward) {
  for (const Case& c : cases())
    for (const bool extras : {false, true}) {
      expect_forward_right<float>(c, extras, extras);
      expect_forward_right<double>(c, extras, !extras);
    }
}

TEST(Conv2d, InputGradient) {
  for (const Case& c : cases())
    for (const bool extras : {false, true}) {
      expect_input_gradient_right<float>(c, extras, extras);
      expect_input_gradient_right<double>(c, extras, !extras);
    }
}

TEST(Conv2d, FilterGradient) {
  for (const Case& c : cases())
    for (const bool accumulate : {false, true}) {
      expect_filter_gradient_right<float>(c, accumulate);
      expect_filter_gradient_right<double>(c, accumulate);
    }
}

TEST(Conv2d, EverySmallImageAndFilter) {
  for (int64_t size = 1; size <= 17; ++size)
    for (const int64_t filter : {1, 2, 3})
      for (const int64_t channels : {1, 2, 5, 9, 16}) {
        const Case c{1, size, 18 - size, channels, 17 - channels, filter, 4 - filter, 1, 1, 1, 1,
                     1, 0,    0,         1};
        expect_forward_right<float>(c, true, false);
        expect_input_gradient_right<float>(c, true, false);
        expect_filter_gradient_right<float>(c, true);
      }
}

TEST(Conv2d, NanReachesExactlyItsNeighbourhood) {
  Problem<float> p({1, 7, 7, 3, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1});
  p.x[(3 * 7 + 4) * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
  for (int64_t i = 0; i < p.w.size(); ++i) p.w[i] = 0;  // 0 * NaN is NaN
  conv2d(p.s, p.x.data(), p.w.data(), p.y.data());
  for (int64_t y = 0; y < 7; ++y)
    for (int64_t x = 0; x < 7; ++x)
      for (int64_t c = 0; c < 4; ++c)
        EXPECT_EQ(std::isnan(p.y[(y * 7 + x) * 4 + c]),
                  std::abs(y - 3) <= 1 && std::abs(x - 4) <= 1);
}

TEST(Conv2d, ThreadsDoNotChangeBits) {
  const int before = thread_count();
  for (const Case& c : {Case{8, 14, 14, 32, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
                        Case{16, 28, 28, 1, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    Problem<float> p(c);
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    for (auto* buffer : {&p.x, &p.w, &p.y})
      for (int64_t i = 0; i < buffer->size(); ++i) (*buffer)[i] = normal(random);
    Buffer<float> y[2] = {p.y, p.y}, dx[2] = {p.x, p.x}, dw[2] = {p.w, p.w};
    for (int i = 0; i < 2; ++i) {
      set_thread_count(i + 1);
      conv2d(p.s, p.x.data(), p.w.data(), y[i].data());
      conv2d_input_gradient(p.s, p.y.data(), p.w.data(), dx[i].data(), true);
      conv2d_filter_gradient(p.s, p.x.data(), p.y.data(), dw[i].data(), true);
    }
    EXPECT_EQ(y[0].all, y[1].all) << c;
    EXPECT_EQ(dx[0].all, dx[1].all) << c;
    EXPECT_EQ(dw[0].all, dw[1].all) << c;
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace gradus::kernels
