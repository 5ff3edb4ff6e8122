// Two ways, by the size of the filter.
//
// Small filters: the output pixels are cut into chunks with a partial sum each, and these are added
// up at the end. Within a chunk blocks of output rows pass by; the tile kernel takes a row of
// output pixels as k and sums over the rows of the block, reading the input where it is. Tiles have
// neighbouring input channels (and taps, which are neighbours as well) as rows.
//
// Large filters: partial sums would not fit any cache, but a matrix of patches is cheap in
// comparison; so image by image it is one matrix product.
#include "kernels/conv2d_filter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/conv2d_window.h"
#include "kernels/gemm.h"
#include "kernels/gemm_tile.h"
#include "kernels/scratch.h"
#include "kernels/tile_sum.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

constexpr int64_t kLargeFilter = 512 * 1024;  // bytes
constexpr int64_t kMostChunks = 8, kLeastWork = 500'000;
constexpr int64_t kPanelBytes = 16 * 1024;  // of d_output in a block: half of the first cache

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class FilterGradient {
 public:
  FilterGradient(const Conv2dShape& s, const void* input, const void* d_output)
      : s_(s),
        isa_(isa()),
        float64_(s.dtype == DType::float64),
        element_(float64_ ? 8 : 4),
        out_h_(s.out_h()),
        out_w_(s.out_w()),
        group_in_(s.in_c / s.groups),
        group_out_(s.out_c / s.groups),
        pixel_(s.in_c * element_),
        merged_(s.groups == 1 && s.dilation_w == 1),
        tile_rows_(merged_ ? s.filter_w * s.in_c : group_in_),
        filter_row_(s.out_c * element_),
        filter_bytes_(s.filter_h * s.filter_w * group_in_ * filter_row_),
        width_(std::min(tile_cols(isa_, float64_, TileForm::columns, tile_rows_), group_out_)),
        block_(std::clamp<int64_t>(kPanelBytes / (out_w_ * packed_row(width_)), 1, out_h_)),
        input_(static_cast<const char*>(input)),
        d_output_(static_cast<const char*>(d_output)) {}

  void run(char* d_filter, bool accumulate) {
    const int64_t units = s_.batch * ceil_div(out_h_, block_);
    const int64_t work = s_.batch * out_h_ * out_w_ * filter_bytes_ / element_;
    const int64_t chunks = std::clamp<int64_t>(std::min(work / kLeastWork, units), 1, kMostChunks);
    if (chunks == 1) return run_units(0, units, d_filter, accumulate);
    Scratch partial(static_cast<std::size_t>(chunks * filter_bytes_));
    parallel_for(chunks, [&](int64_t i) {
      run_units(units * i / chunks, units * (i + 1) / chunks,
                partial.as<char>() + i * filter_bytes_, false);
    });
    sum_arrays(s_.dtype, partial.data(), chunks, filter_bytes_ / element_, d_filter, accumulate);
  }

 private:
  const Conv2dShape& s_;
  const Isa isa_;
  const bool float64_;
  const int64_t element_, out_h_, out_w_, group_in_, group_out_, pixel_;
  const bool merged_;        // the taps of a filter row are neighbours: tiles may go across them
  const int64_t tile_rows_;  // rows of the filter's matrix to be cut into tiles
  const int64_t filter_row_, filter_bytes_;
  const int64_t width_;
  const int64_t block_;  // output rows at a time
  const char *input_, *d_output_;

  int64_t packed_row(int64_t cols) const {
    return vectors_for(cols, isa_, float64_) * lanes(isa_, float64_) * element_;
  }

  // A unit is a block of rows of an image.
  void run_units(int64_t begin, int64_t end, char* d_filter, bool accumulate) const {
    Scratch panel(static_cast<std::size_t>(block_ * out_w_ * packed_row(width_)));
    const int64_t per_image = ceil_div(out_h_, block_);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t item = unit / per_image, y0 = unit % per_image * block_;
      run_block(item, y0, std::min(out_h_, y0 + block_), d_filter, accumulate || unit > begin,
                panel.as<char>());
    }
  }

  void run_block(int64_t item, int64_t y0, int64_t y1, char* d_filter, bool accumulate,
                 char* panel) const {
    const Image image{input_ + item * s_.in_h * s_.in_w * pixel_, s_.in_h, s_.in_w, pixel_};
    const int64_t top = y0 * s_.stride_h - s_.pad_top, left = -s_.pad_left;
    const Window window(
        image,
        {top, (y1 - 1) * s_.stride_h + (s_.filter_h - 1) * s_.dilation_h + 1 - s_.pad_top, left,
         (out_w_ - 1) * s_.stride_w + (s_.filter_w - 1) * s_.dilation_w + 1 - s_.pad_left});
    // The block of d_output as it is and, copied by the first tile, as a panel.
    const auto offsets = [&](int64_t b_row) {
      std::vector<TileOffsets> rows;
      for (int64_t y = 0; y < y1 - y0; ++y)
        rows.push_back({y * s_.stride_h * window.pitch(), y * out_w_ * b_row});
      return rows;
    };
    const std::vector<TileOffsets> in_place = offsets(filter_row_);
    const char* d_output = d_output_ + (item * out_h_ + y0) * out_w_ * filter_row_;
    for (int64_t g = 0; g < s_.groups; ++g)
      for (int64_t j = 0; j < group_out_; j += width_) {
        const int64_t column = (g * group_out_ + j) * element_;
        TileSpec spec;
        spec.isa = isa_;
        spec.float64 = float64_;
        spec.form = TileForm::columns;
        spec.cols = static_cast<std::uint8_t>(std::min(width_, group_out_ - j));
        spec.accumulate = accumulate;
        TileArgs args{};
        args.b = d_output + column;
        args.b_stride = filter_row_;
        args.b_copy = panel;
        args.k = out_w_;
        args.a_stride = s_.stride_w * pixel_;
        args.c_stride = filter_row_;
        args.offsets = in_place.data();
        args.products = y1 - y0;
        const std::vector<TileOffsets> packed = offsets(packed_row(spec.cols));
        bool copied = false;
        for (int64_t i = 0; i < s_.filter_h; ++i)
          for (int64_t tap = 0; tap < (merged_ ? 1 : s_.filter_w); ++tap) {
            args.a = window.at(top + i * s_.dilation_h, left + tap * s_.dilation_w) +
                     g * group_in_ * element_;
            args.c = d_filter + (i * s_.filter_w + tap) * group_in_ * filter_row_ + column;
            run_tiles(spec, args, copied, packed);
          }
      }
  }

  // The tiles of one tap, or of a row of taps.
  void run_tiles(TileSpec spec, TileArgs& args, bool& copied,
                 const std::vector<TileOffsets>& packed) const {
    const RowCut cut(tile_rows_, max_rows(isa_, float64_, TileForm::columns, width_));
    int64_t tall = cut.taller, others = cut.tiles - cut.taller;
    const auto run = [&](int64_t tiles, int64_t height) {
      if (tiles == 0) return;
      spec.rows = static_cast<std::uint8_t>(height);
      args.tiles = tiles;
      args.a_step = height * element_;
      tile_kernel(spec)(args);
      args.a = static_cast<const char*>(args.a) + tiles * args.a_step;
      args.c = static_cast<char*>(args.c) + tiles * height * filter_row_;
    };
    if (!copied) {
      spec.copy_b = true;
      run(1, cut.height + (tall > 0));
      spec.copy_b = false;
      --(tall > 0 ? tall : others);
      copied = true;
      args.b = args.b_copy;
      args.b_stride = packed_row(spec.cols);
      args.offsets = packed.data();
    }
    run(tall, cut.height + 1);
    run(others, cut.height);
  }
};

// Rows of `patches` are the output pixels of one image: what each saw through all taps.
void make_patches(const Conv2dShape& s, const char* input, char* patches) {
  const int64_t element = static_cast<int64_t>(size_of(s.dtype)), pixel = s.in_c * element;
  const int64_t out_w = s.out_w(), patch = s.filter_h * s.filter_w * pixel;
  parallel_for(s.out_h(), [&](int64_t y) {
    const int64_t top = y * s.stride_h - s.pad_top;
    const Window window(
        {input, s.in_h, s.in_w, pixel},
        {top, top + (s.filter_h - 1) * s.dilation_h + 1, -s.pad_left,
         (out_w - 1) * s.stride_w + (s.filter_w - 1) * s.dilation_w + 1 - s.pad_left});
    char* to = patches + y * out_w * patch;
    for (int64_t x = 0; x < out_w; ++x)
      for (int64_t i = 0; i < s.filter_h; ++i)
        for (int64_t j = 0; j < s.filter_w; ++j, to += pixel)
          std::memcpy(
              to, window.at(top + i * s.dilation_h, x * s.stride_w - s.pad_left + j * s.dilation_w),
              pixel);
  });
}

void run_with_patches(const Conv2dShape& s, const char* input, const char* d_output, void* d_filter,
                      bool accumulate) {
  const int64_t element = static_cast<int64_t>(size_of(s.dtype));
  const int64_t pixels = s.out_h() * s.out_w(), patch = s.filter_h * s.filter_w * s.in_c;
  Scratch patches(static_cast<std::size_t>(pixels * patch * element));
  GemmArgs g;
  g.dtype = s.dtype;
  g.trans_a = true;
  g.m = patch, g.n = s.out_c, g.k = pixels;
  g.a = patches.data(), g.lda = patch;
  g.ldb = s.out_c;
  g.c = d_filter, g.ldc = s.out_c;
  for (int64_t item = 0; item < s.batch; ++item) {
    make_patches(s, input + item * s.in_h * s.in_w * s.in_c * element, patches.as<char>());
    g.b = d_output + item * pixels * s.out_c * element;
    g.accumulate = accumulate || item > 0;
    gemm(g);
  }
}

}  // namespace

void run_filter_gradient(const Conv2dShape& s, const void* input, const void* d_output,
                         void* d_filter, bool accumulate) {
  const int64_t bytes = s.filter_h * s.filter_w * (s.in_c / s.groups) * s.out_c *
                        static_cast<int64_t>(size_of(s.dtype));
  if (bytes == 0) return;
  if (s.batch == 0 || s.out_h() == 0 || s.out_w() == 0) {
    if (!accumulate) std::memset(d_filter, 0, static_cast<std::size_t>(bytes));
  } else if (bytes > kLargeFilter && s.groups == 1) {
    run_with_patches(s, static_cast<const char*>(input), static_cast<const char*>(d_output),
                     d_filter, accumulate);
  } else {
    FilterGradient(s, input, d_output).run(static_cast<char*>(d_filter), accumulate);
  }
}

}  // namespace gradus::kernels
