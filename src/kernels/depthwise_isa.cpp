#include <vector>

#include "kernels/channel_lanes.h"
#include "kernels/depthwise_table.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

using std::int64_t;

// A tap of the filter along one axis, and the pixel that it meets there.
struct Meeting {
  int64_t tap, pixel;
};
using Meetings = std::vector<Meeting>;

// The input pixels that an output pixel sees.
Meetings seen_from(int64_t out, int64_t stride, int64_t dilation, int64_t pad, int64_t taps,
                   int64_t size) {
  Meetings seen;
  for (int64_t i = 0; i < taps; ++i) {
    const int64_t in = out * stride + i * dilation - pad;
    if (in >= 0 && in < size) seen.push_back({i, in});
  }
  return seen;
}

// The output pixels that see an input pixel.
Meetings seeing(int64_t in, int64_t stride, int64_t dilation, int64_t pad, int64_t taps,
                int64_t size) {
  Meetings seen;
  for (int64_t i = 0; i < taps; ++i) {
    const int64_t scaled = in + pad - i * dilation;
    if (scaled >= 0 && scaled % stride == 0 && scaled / stride < size)
      seen.push_back({i, scaled / stride});
  }
  return seen;
}

template <class T>
void forward_rows(const DepthwiseArgs& args, int64_t begin, int64_t end) {
  const Conv2dShape& s = *args.shape;
  const int64_t channels = s.in_c;
  std::vector<Meetings> columns;
  for (int64_t x = 0; x < args.out_w; ++x)
    columns.push_back(seen_from(x, s.stride_w, s.dilation_w, s.pad_left, s.filter_w, s.in_w));
  const T* bias = static_cast<const T*>(args.bias);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / args.out_h;
    const Meetings rows =
        seen_from(row % args.out_h, s.stride_h, s.dilation_h, s.pad_top, s.filter_h, s.in_h);
    for (int64_t x = 0; x < args.out_w; ++x)
      for_channels<T>(channels, [&](auto lanes, int64_t c) {
        using L = decltype(lanes);
        const T* from = static_cast<const T*>(args.input) + image * s.in_h * s.in_w * channels + c;
        const T* filter = static_cast<const T*>(args.filter) + c;
        typename L::Value sum = L::all(0);
        for (const Meeting& i : rows)
          for (const Meeting& j : columns[x])
            sum += L::get(from + (i.pixel * s.in_w + j.pixel) * channels) *
                   L::get(filter + (i.tap * s.filter_w + j.tap) * channels);
        if (bias) sum += L::get(bias + c);
        if (args.relu) sum = sum < 0 ? L::all(0) : sum;
        L::put(static_cast<T*>(args.to) + (row * args.out_w + x) * channels + c, sum);
      });
  }
}

template <class T>
void input_gradient_rows(const DepthwiseArgs& args, int64_t begin, int64_t end) {
  const Conv2dShape& s = *args.shape;
  const int64_t channels = s.in_c;
  std::vector<Meetings> columns;
  for (int64_t x = 0; x < s.in_w; ++x)
    columns.push_back(seeing(x, s.stride_w, s.dilation_w, s.pad_left, s.filter_w, args.out_w));
  const T* gate = static_cast<const T*>(args.gate);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / s.in_h;
    const Meetings rows =
        seeing(row % s.in_h, s.stride_h, s.dilation_h, s.pad_top, s.filter_h, args.out_h);
    for (int64_t x = 0; x < s.in_w; ++x)
      for_channels<T>(channels, [&](auto lanes, int64_t c) {
        using L = decltype(lanes);
        const T* from =
            static_cast<const T*>(args.d_output) + image * args.out_h * args.out_w * channels + c;
        const T* filter = static_cast<const T*>(args.filter) + c;
        const int64_t at = (row * s.in_w + x) * channels + c;
        T* to = static_cast<T*>(args.to) + at;
        typename L::Value sum = L::all(0);
        for (const Meeting& i : rows)
          for (const Meeting& j : columns[x])
            sum += L::get(from + (i.pixel * args.out_w + j.pixel) * channels) *
                   L::get(filter + (i.tap * s.filter_w + j.tap) * channels);
        if (args.accumulate) sum += L::get(to);
        if (gate) sum = L::get(gate + at) > 0 ? sum : L::all(0);
        L::put(to, sum);
      });
  }
}

template <class T>
void filter_gradient_rows(const DepthwiseArgs& args, int64_t begin, int64_t end) {
  const Conv2dShape& s = *args.shape;
  const int64_t channels = s.in_c;
  std::memset(args.to, 0, sizeof(T) * s.filter_h * s.filter_w * channels);
  std::vector<Meetings> columns;  // by tap: the output pixels whose tap is inside, and the input's
  for (int64_t j = 0; j < s.filter_w; ++j) {
    Meetings inside;
    for (int64_t x = 0; x < args.out_w; ++x) {
      const int64_t in = x * s.stride_w + j * s.dilation_w - s.pad_left;
      if (in >= 0 && in < s.in_w) inside.push_back({x, in});
    }
    columns.push_back(inside);
  }
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / args.out_h;
    for (const Meeting& i :
         seen_from(row % args.out_h, s.stride_h, s.dilation_h, s.pad_top, s.filter_h, s.in_h))
      for (int64_t j = 0; j < s.filter_w; ++j)
        for_channels<T>(channels, [&](auto lanes, int64_t c) {
          using L = decltype(lanes);
          const T* in = static_cast<const T*>(args.input) +
                        (image * s.in_h + i.pixel) * s.in_w * channels + c;
          const T* out = static_cast<const T*>(args.d_output) + row * args.out_w * channels + c;
          typename L::Value sum = L::all(0);  // of a row first: long sums keep their digits
          for (const Meeting& x : columns[j])
            sum += L::get(in + x.pixel * channels) * L::get(out + x.tap * channels);
          T* to = static_cast<T*>(args.to) + (i.tap * s.filter_w + j) * channels + c;
          L::put(to, L::get(to) + sum);
        });
  }
}

template <class T>
constexpr DepthwiseTable table_of{forward_rows<T>, input_gradient_rows<T>, filter_gradient_rows<T>};

}  // namespace

extern const DepthwiseTables depthwise_tables;
const DepthwiseTables depthwise_tables{table_of<float>, table_of<double>};

}  // namespace gradus::kernels::GRADUS_ISA
