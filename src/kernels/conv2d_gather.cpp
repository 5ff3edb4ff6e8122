#include "kernels/conv2d_gather.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/gemm_pack.h"
#include "kernels/gemm_tile.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

constexpr int64_t kFewColumns = 4;           // then vectors go along k
constexpr int64_t kFilterBytes = 64 * 1024;  // of a panel that are used before moving on
constexpr int64_t kWindowBytes = 192 * 1024;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The taps as products for the tile kernel: a run of taps that are neighbours in the source and in
// the packed filter is one product with a longer k.
struct Products {
  std::vector<GatherTap> taps;  // in the order of the packed filter
  int64_t run = 1;              // taps in a product

  explicit Products(const GatherPass& pass) : taps(pass.taps) {
    std::sort(taps.begin(), taps.end(), [](const GatherTap& x, const GatherTap& y) {
      return x.dy != y.dy ? x.dy < y.dy : x.dx < y.dx;
    });
    const int64_t element = pass.float64 ? 8 : 4;
    if (pass.source.pixel != pass.k * element) return;
    // All runs must have the length of the first.
    const auto follows = [&](std::size_t i) {
      return taps[i].dy == taps[i - 1].dy && taps[i].dx == taps[i - 1].dx + 1;
    };
    std::size_t length = 1;
    while (length < taps.size() && follows(length)) ++length;
    for (std::size_t i = 1; i < taps.size(); ++i)
      if (follows(i) != (i % length != 0)) return;
    if (taps.size() % length == 0) run = static_cast<int64_t>(length);
  }
};

class Gather {
 public:
  explicit Gather(const GatherPass& pass)
      : pass_(pass),
        isa_(isa()),
        element_(pass.float64 ? 8 : 4),
        products_(pass),
        form_(pass.n <= kFewColumns ? TileForm::dot : TileForm::rows),
        width_(std::min(panel_width(), pass.n)),
        k_rows_(static_cast<int64_t>(products_.taps.size()) * pass.k),
        panel_bytes_(form_ == TileForm::dot ? width_ * k_rows_ * element_ : k_rows_ * packed_row()),
        panels_(ceil_div(pass.n, width_)),
        filter_(static_cast<std::size_t>(pass.groups * panels_ * panel_bytes_)) {
    find_extent();
    pack_filter();
  }

  void run() {
    const int64_t block = block_rows(), blocks = ceil_div(pass_.rows, block);
    const auto chunk = [&](int64_t i) {
      const int64_t y = i % blocks * block;
      take_block(i / blocks, y, std::min(pass_.rows, y + block));
    };
    if (blocks * pass_.batch == 1) return chunk(0);
    parallel_for(blocks * pass_.batch, chunk);
  }

 private:
  const GatherPass& pass_;
  const Isa isa_;
  const int64_t element_;
  const Products products_;
  const TileForm form_;
  const int64_t width_;                 // of a panel
  const int64_t k_rows_;                // of the packed filter: all taps
  const int64_t panel_bytes_, panels_;  // panels of each group
  Scratch filter_;
  Extent reach_{0, 1, 0, 1};  // of the taps, around the pixel

  int64_t panel_width() const {
    return form_ == TileForm::dot ? kFewColumns : tile_cols(isa_, pass_.float64, form_, pass_.cols);
  }
  int64_t packed_row() const {
    return vectors_for(width_, isa_, pass_.float64) * lanes(isa_, pass_.float64) * element_;
  }

  void find_extent() {
    if (products_.taps.empty()) return;
    reach_ = {products_.taps.front().dy, products_.taps.back().dy + 1, products_.taps[0].dx, 0};
    reach_.right = reach_.left + 1;
    for (const GatherTap& tap : products_.taps) {
      reach_.left = std::min(reach_.left, tap.dx);
      reach_.right = std::max(reach_.right, tap.dx + 1);
    }
  }

  void pack_filter() {
    const auto pack = [&](int64_t panel) {
      const int64_t j = panel % panels_ * width_, cols = std::min(width_, pass_.n - j);
      for (std::size_t t = 0; t < products_.taps.size(); ++t)
        pack_tap(static_cast<int64_t>(t), panel / panels_, j, cols,
                 filter_.as<char>() + panel * panel_bytes_);
    };
    const int64_t panels = pass_.groups * panels_;
    constexpr int64_t kParallelFrom = 128 * 1024;  // elements
    if (k_rows_ * pass_.n * pass_.groups < kParallelFrom)
      for (int64_t panel = 0; panel < panels; ++panel) pack(panel);
    else
      parallel_for(panels, pack);
  }

  // Columns [j, j + cols) of one tap's matrix.
  void pack_tap(int64_t t, int64_t group, int64_t j, int64_t cols, char* panel) const {
    const int64_t k = pass_.k, row = pass_.filter_row;
    const char* from = pass_.filter + group * pass_.filter_group +
                       products_.taps[t].filter * pass_.filter_tap +
                       j * (pass_.filter_transposed ? row : element_);
    const auto transpose = pack_table(isa_).transposed[pass_.float64];
    if (form_ == TileForm::dot) {
      for (int64_t c = 0; c < cols; ++c) {
        char* to = panel + (c * k_rows_ + t * k) * element_;
        if (pass_.filter_transposed)
          std::memcpy(to, from + c * row, k * element_);
        else
          transpose(to, from + c * element_, row, 1, k, k);
      }
      return;
    }
    char* to = panel + t * k * packed_row();
    if (pass_.filter_transposed) return transpose(to, from, row, k, cols, packed_row() / element_);
    for (int64_t i = 0; i < k; ++i)
      std::memcpy(to + i * packed_row(), from + i * row, cols * element_);
  }

  // Target rows of a chunk: what the second cache holds of the source, but several chunks in all.
  int64_t block_rows() const {
    constexpr int64_t kEnoughChunks = 8, kLeastWork = 500'000;
    const int64_t row_bytes = pass_.step_y * pass_.cols * pass_.step_x * pass_.source.pixel;
    const int64_t row_work = std::max<int64_t>(1, pass_.cols * k_rows_ * pass_.n * pass_.groups);
    int64_t block =
        std::clamp<int64_t>(kWindowBytes / std::max<int64_t>(1, row_bytes), 1, pass_.rows);
    if (ceil_div(pass_.rows, block) * pass_.batch < kEnoughChunks)
      block = std::min(block, std::max(ceil_div(pass_.rows * pass_.batch, kEnoughChunks),
                                       ceil_div(kLeastWork, row_work)));
    return block;
  }

  void take_block(int64_t item, int64_t y0, int64_t y1) const {
    if (!pass_.taker) return run_block(item, y0, y1, pass_.target);
    const int64_t first = (item * pass_.rows + y0) * pass_.cols;
    (*pass_.taker)({first, (y1 - y0) * pass_.cols, 0, pass_.groups * pass_.n},
                   [&](void* to, int64_t pixel_bytes) {
                     run_block(item, y0, y1, static_cast<char*>(to) - first * pixel_bytes);
                   });
  }

  // Into the target that begins at `target`.
  void run_block(int64_t item, int64_t y0, int64_t y1, char* target) const {
    Image image = pass_.source;
    image.data += item * pass_.source_item;
    const Window window(image,
                        {y0 * pass_.step_y + reach_.top, (y1 - 1) * pass_.step_y + reach_.bottom,
                         reach_.left, (pass_.cols - 1) * pass_.step_x + reach_.right});
    const std::vector<TileOffsets> offsets = offsets_in(window);

    // As many products at a time as the first cache can hold of a panel; at least one, if only to
    // write zeros.
    const auto count = static_cast<int64_t>(offsets.size());
    const int64_t bytes = products_.run * pass_.k * packed_row();
    const int64_t step = std::max<int64_t>(1, kFilterBytes / std::max<int64_t>(1, bytes));
    for (int64_t panel = 0; panel < pass_.groups * panels_; ++panel)
      for (int64_t i = 0; i < count; i += step)
        run_panel(item, y0, y1, window, target, panel, offsets, i, std::min(count, i + step));
  }

  std::vector<TileOffsets> offsets_in(const Window& window) const {
    std::vector<TileOffsets> offsets;
    const char* origin = window.at(0, 0);
    const int64_t k_bytes = form_ == TileForm::dot ? element_ : packed_row();
    for (std::size_t t = 0; t < products_.taps.size(); t += products_.run) {
      const GatherTap& tap = products_.taps[t];
      offsets.push_back(
          {window.at(tap.dy, tap.dx) - origin, static_cast<int64_t>(t) * pass_.k * k_bytes});
    }
    if (offsets.empty()) offsets.push_back({0, 0});
    return offsets;
  }

  // Rows [y0, y1) of the target, the channels of one panel, products [first, last).
  void run_panel(int64_t item, int64_t y0, int64_t y1, const Window& window, char* target,
                 int64_t panel, const std::vector<TileOffsets>& offsets, int64_t first,
                 int64_t last) const {
    const int64_t group = panel / panels_, j = panel % panels_ * width_;
    const int64_t channel = (group * pass_.n + j) * element_;
    const bool final_part = last == static_cast<int64_t>(offsets.size());
    TileSpec spec;
    spec.isa = isa_;
    spec.float64 = pass_.float64;
    spec.form = form_;
    spec.cols = static_cast<std::uint8_t>(std::min(width_, pass_.n - j));
    spec.accumulate = pass_.accumulate || first > 0;
    spec.bias = pass_.bias && final_part;
    spec.relu = pass_.relu && final_part;
    spec.gate = pass_.gate && final_part;
    const RowCut cut(pass_.cols, max_rows(isa_, pass_.float64, form_, width_));
    TileKernel const* kernels[2];  // of the taller tiles and of the others
    for (int i = 0; i < 2; ++i) {
      spec.rows = static_cast<std::uint8_t>(cut.height + (i == 0 && cut.taller > 0));
      kernels[i] = &tile_kernel(spec);
    }

    TileArgs args{};
    args.b = static_cast<const char*>(filter_.data()) + panel * panel_bytes_;
    args.k = products_.taps.empty() ? 0 : products_.run * pass_.k;
    args.a_stride = pass_.step_x * pass_.source.pixel;
    args.b_stride = form_ == TileForm::dot ? k_rows_ * element_ : packed_row();
    args.c_stride = args.gate_stride = pass_.target_col;
    args.offsets = offsets.data() + first;
    args.products = last - first;
    if (pass_.bias) args.bias = pass_.bias + channel;
    for (int64_t y = y0; y < y1; ++y) {
      const int64_t place = item * pass_.target_item + y * pass_.target_row + channel;
      args.a = window.at(y * pass_.step_y, 0) + group * pass_.k * element_;
      args.c = target + place;
      if (pass_.gate) args.gate = pass_.gate + place;
      for (int i = 0; i < 2; ++i) {
        args.tiles = i == 0 ? cut.taller : cut.tiles - cut.taller;
        if (args.tiles == 0) continue;
        const int64_t height = cut.height + (i == 0), pixels = args.tiles * height;
        args.a_step = height * args.a_stride;
        (*kernels[i])(args);
        args.a = static_cast<const char*>(args.a) + pixels * args.a_stride;
        args.c = static_cast<char*>(args.c) + pixels * args.c_stride;
        if (args.gate) args.gate = static_cast<const char*>(args.gate) + pixels * args.gate_stride;
      }
    }
  }
};

}  // namespace

void run_gather(const GatherPass& pass) {
  if (pass.batch == 0 || pass.rows == 0 || pass.cols == 0 || pass.n == 0) return;
  Gather(pass).run();
}

}  // namespace gradus::kernels
