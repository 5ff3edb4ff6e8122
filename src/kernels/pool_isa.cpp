// Every loop goes over rows, pixels and channels of its result and gathers what it needs: a
// gradient visits the windows that cover a pixel. So no two threads write the same place, each
// place is written once, and sums have one order. Channels are neighbours and fill the vectors.
#include <limits>
#include <vector>

#include "kernels/channel_lanes.h"
#include "kernels/pool_table.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

using std::int64_t;

// A part [begin, end) of an axis; always begin <= end.
struct Part {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// Where a window is inside the image, relative to the window.
inline Part inside(int64_t out, int64_t stride, int64_t pad, int64_t window, int64_t size) {
  const int64_t first = out * stride - pad;
  const int64_t begin = least(most(-first, 0), window);
  return {begin, most(least(size - first, window), begin)};
}

// The outputs whose windows cover a pixel.
inline Part covering(int64_t in, int64_t stride, int64_t pad, int64_t window, int64_t outputs) {
  const int64_t last = in + pad, first = last - window + 1;
  const int64_t begin = first <= 0 ? 0 : (first + stride - 1) / stride;
  return {begin, most(least(last / stride + 1, outputs), begin)};
}

template <class T>
void max_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const Pool2dShape& s = *args.shape;
  const int64_t out_h = args.out_h, out_w = args.out_w, in_row = s.in_w * s.channels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / out_h, oy = row % out_h;
    const Part ys = inside(oy, s.stride_h, s.pad_top, s.window_h, s.in_h);
    for (int64_t ox = 0; ox < out_w; ++ox) {
      const Part xs = inside(ox, s.stride_w, s.pad_left, s.window_w, s.in_w);
      const int64_t corner =  // of the window, which may be outside
          ((image * s.in_h + oy * s.stride_h - s.pad_top) * s.in_w + ox * s.stride_w - s.pad_left);
      const int64_t out = (row * out_w + ox) * s.channels;
      for_channels<T>(s.channels, [&](auto lanes, int64_t c) {
        using L = decltype(lanes);
        const T* from = static_cast<const T*>(args.from) + corner * s.channels + c;
        typename L::Value best = L::all(-std::numeric_limits<T>::infinity());
        typename L::Number tap = L::all_number(-1);
        for (int64_t i = ys.begin; i < ys.end; ++i) {
          const T* pixel = from + i * in_row + xs.begin * s.channels;
          for (int64_t j = xs.begin; j < xs.end; ++j, pixel += s.channels) {
            const typename L::Value x = L::get(pixel);
            // The first of all, a larger one, or a NaN that does not come after another replaces.
            const auto keep = (tap != -1) & ((x <= best) | (best != best));
            best = keep ? best : x;
            tap = keep ? tap : L::all_number(static_cast<Whole<T>>(i * s.window_w + j));
          }
        }
        L::put(static_cast<T*>(args.to) + out + c, best);
        if (args.new_taps) L::put_taps(args.new_taps + out + c, tap);
      });
    }
  }
}

template <class T>
void take_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const Pool2dShape& s = *args.shape;
  const int64_t out_h = args.out_h, out_w = args.out_w;
  const T* from = static_cast<const T*>(args.from);
  T* to = static_cast<T*>(args.to);
  for (int64_t row = begin; row < end; ++row)
    for (int64_t ox = 0; ox < out_w; ++ox) {
      const int64_t y = row % out_h * s.stride_h - s.pad_top, x = ox * s.stride_w - s.pad_left;
      for (int64_t c = 0; c < s.channels; ++c) {
        const int64_t out = (row * out_w + ox) * s.channels + c, tap = args.taps[out];
        const int64_t in_y = row / out_h * s.in_h + y + tap / s.window_w;
        const int64_t in_x = x + tap % s.window_w;
        to[out] = tap < 0 ? T(0) : from[(in_y * s.in_w + in_x) * s.channels + c];
      }
    }
}

// A window (oy, ox) that covers a pixel, which is at (i, j) in it. `out` is the index of its
// channels; `add` says whether the pixel's gradient has a value yet.
struct Cover {
  int64_t oy, ox, i, j, out;
  bool add;
};

// Calls body(pixel, cover) for every pixel of some rows and every window that covers it. Zeroes
// pixels that no window covers.
template <class T, class Body>
inline void for_covering(const PoolArgs& args, int64_t begin, int64_t end, const Body& body) {
  const Pool2dShape& s = *args.shape;
  const int64_t out_h = args.out_h, out_w = args.out_w;
  std::vector<Part> columns;  // found once, because it takes divisions
  for (int64_t x = 0; x < s.in_w; ++x)
    columns.push_back(covering(x, s.stride_w, s.pad_left, s.window_w, out_w));
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / s.in_h, y = row % s.in_h;
    const Part rows = covering(y, s.stride_h, s.pad_top, s.window_h, out_h);
    for (int64_t x = 0; x < s.in_w; ++x) {
      T* to = static_cast<T*>(args.to) + (row * s.in_w + x) * s.channels;
      bool add = args.accumulate;
      for (int64_t oy = rows.begin; oy < rows.end; ++oy)
        for (int64_t ox = columns[x].begin; ox < columns[x].end; ++ox, add = true)
          body(to, Cover{oy, ox, y + s.pad_top - oy * s.stride_h, x + s.pad_left - ox * s.stride_w,
                         ((image * out_h + oy) * out_w + ox) * s.channels, add});
      if (!add) std::memset(to, 0, sizeof(T) * s.channels);
    }
  }
}

template <class T>
void max_gradient_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const Pool2dShape& s = *args.shape;
  const T* from = static_cast<const T*>(args.from);
  for_covering<T>(args, begin, end, [&](T* to, const Cover& w) {
    const auto mine = static_cast<Whole<T>>(w.i * s.window_w + w.j);
    for_channels<T>(s.channels, [&](auto lanes, int64_t c) {
      using L = decltype(lanes);
      const auto hit = L::get_taps(args.taps + w.out + c) == mine;
      const typename L::Value part = hit ? L::get(from + w.out + c) : L::all(0);
      L::put(to + c, w.add ? L::get(to + c) + part : part);
    });
  });
}

template <class T>
void average_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const Pool2dShape& s = *args.shape;
  const int64_t out_h = args.out_h, out_w = args.out_w, in_row = s.in_w * s.channels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / out_h, oy = row % out_h;
    const Part ys = inside(oy, s.stride_h, s.pad_top, s.window_h, s.in_h);
    for (int64_t ox = 0; ox < out_w; ++ox) {
      const Part xs = inside(ox, s.stride_w, s.pad_left, s.window_w, s.in_w);
      const int64_t corner =
          ((image * s.in_h + oy * s.stride_h - s.pad_top) * s.in_w + ox * s.stride_w - s.pad_left);
      const int64_t count = s.count_padding ? s.window_h * s.window_w : ys.size() * xs.size();
      for_channels<T>(s.channels, [&](auto lanes, int64_t c) {
        using L = decltype(lanes);
        const T* from = static_cast<const T*>(args.from) + corner * s.channels + c;
        typename L::Value sum = L::all(0);
        for (int64_t i = ys.begin; i < ys.end; ++i) {
          const T* pixel = from + i * in_row + xs.begin * s.channels;
          typename L::Value row_sum = L::all(0);  // keeps the digits of large windows
          for (int64_t j = xs.begin; j < xs.end; ++j, pixel += s.channels) row_sum += L::get(pixel);
          sum += row_sum;
        }
        L::put(static_cast<T*>(args.to) + (row * out_w + ox) * s.channels + c,
               sum / L::all(static_cast<T>(count)));
      });
    }
  }
}

template <class T>
void average_gradient_rows(const PoolArgs& args, int64_t begin, int64_t end) {
  const Pool2dShape& s = *args.shape;
  const T* from = static_cast<const T*>(args.from);
  for_covering<T>(args, begin, end, [&](T* to, const Cover& w) {
    const int64_t inside_h = inside(w.oy, s.stride_h, s.pad_top, s.window_h, s.in_h).size();
    const int64_t inside_w = inside(w.ox, s.stride_w, s.pad_left, s.window_w, s.in_w).size();
    const auto count =
        static_cast<T>(s.count_padding ? s.window_h * s.window_w : inside_h * inside_w);
    for_channels<T>(s.channels, [&](auto lanes, int64_t c) {
      using L = decltype(lanes);
      const typename L::Value part = L::get(from + w.out + c) / L::all(count);
      L::put(to + c, w.add ? L::get(to + c) + part : part);
    });
  });
}

template <class T>
constexpr PoolTable table_of{max_rows<T>, take_rows<T>, max_gradient_rows<T>, average_rows<T>,
                             average_gradient_rows<T>};

}  // namespace

extern const PoolTables pool_tables;
const PoolTables pool_tables{table_of<float>, table_of<double>};

}  // namespace gradus::kernels::GRADUS_ISA
