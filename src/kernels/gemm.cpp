// How a product is cut, from the outside in:
//
//   chunks    blocks of C, each computed by one thread from beginning to end   choose_grid(), run()
//   k blocks  so that a panel of B stays in the first cache                    run_chunk()
//   panels    columns as wide as a register tile                               run_chunk()
//   tiles     rows of a panel: one or two calls of the kernel                  Panel
//
// Operands are read where they are if that is good enough: A always can be (the kernel broadcasts
// single elements of it), B unless it is transposed. B is packed panel by panel, right before use:
// the tile of the first rows copies it while computing. Transposed B with few rows takes the form
// `dot`, which needs no packing. Transposed A is packed when it would touch too many cache lines.
//
// float16 and bfloat16 are computed in float32: A and B become float32 when they are packed, which
// they always are, and a chunk of C is rounded when its sums are complete.
//
// An element of C is summed in one chunk, in blocks of k that follow from the sizes. So chunks may
// follow from the number of threads without changing a bit.
#include "kernels/gemm.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/gemm_pack.h"
#include "kernels/gemm_tile.h"
#include "kernels/half.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

constexpr TileOffsets kOneProduct{0, 0};
constexpr int64_t kFirstCache = 32 * 1024, kSecondCache = 512 * 1024;

constexpr int64_t kFewColumns = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t bytes_of(DType dtype) { return static_cast<int64_t>(size_of(dtype)); }

bool is_half(DType dtype) { return size_of(dtype) == 2; }

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

enum class PanelOfB { in_place, copied, transposed, widened };

// A product and how it will be computed. Strides are in bytes.
struct Product {
  Isa isa;
  bool float64;
  TileForm form;
  bool accumulate, relu;
  int64_t m, n, k;
  int64_t element;  // bytes of what is computed in: bias and tiles have it, and A and B when packed
  DType a_dtype, b_dtype, c_dtype;  // as stored, the gate as C
  const char* a;
  int64_t a_stride;
  const char* b;
  int64_t b_stride;
  char* c;
  int64_t c_stride;
  const char *bias, *gate;
  int64_t gate_stride;
  const BlockTaker* taker;

  PanelOfB panel = PanelOfB::in_place;
  bool pack_a = false;
  int64_t width = 0;   // columns of a panel
  int64_t height = 0;  // most rows of a tile
  int64_t most_k = 0;  // of a block

  const char* a_at(int64_t row, int64_t i) const { return a + a_step(row) + a_step_k(i); }
  int64_t a_step(int64_t rows) const {
    return rows * (form == TileForm::columns ? bytes_of(a_dtype) : a_stride);
  }
  int64_t a_step_k(int64_t i) const {
    return i * (form == TileForm::columns ? a_stride : bytes_of(a_dtype));
  }
  const char* b_at(int64_t i, int64_t column) const {
    const int64_t size = bytes_of(b_dtype);
    const bool by_column = form == TileForm::dot || panel == PanelOfB::transposed;
    return b + (by_column ? column * b_stride + i * size : i * b_stride + column * size);
  }
  int64_t packed_row(int64_t cols) const {  // bytes: whole vectors
    return vectors_for(cols, isa, float64) * lanes(isa, float64) * element;
  }
  // Bytes from one packed row of `count` elements, or tile of so many, to the next: an odd number
  // of cache lines, so that they fall on all sets.
  int64_t packed_step(int64_t count) const { return (ceil_div(count * element, 64) | 1) * 64; }
  int max_rows(int64_t cols) const { return kernels::max_rows(isa, float64, form, cols); }
};

// The tiles of one panel for one block of k, from the first row of a chunk to its last.
class Panel {
 public:
  Panel(const Product& p, Range rows, Range cols, Range ks) : p_(p) {
    spec_.isa = p.isa;
    spec_.float64 = p.float64;
    spec_.form = p.form;
    spec_.cols = static_cast<std::uint8_t>(cols.size());
    spec_.accumulate = p.accumulate || ks.begin > 0;
    const bool last = ks.end == p.k;
    spec_.bias = p.bias && last;
    spec_.relu = p.relu && last;
    spec_.gate = p.gate && last;
    args_.a = p.a_at(rows.begin, ks.begin);
    args_.a_stride = p.a_stride;
    args_.b = p.b_at(ks.begin, cols.begin);
    args_.b_stride = p.b_stride;
    args_.c = p.c + rows.begin * p.c_stride + cols.begin * p.element;
    args_.c_stride = p.c_stride;
    args_.k = ks.size();
    args_.offsets = &kOneProduct;
    args_.products = 1;
    args_.bias = p.bias ? p.bias + cols.begin * p.element : nullptr;
    args_.gate = p.gate ? p.gate + rows.begin * p.gate_stride + cols.begin * p.element : nullptr;
    args_.gate_stride = p.gate_stride;
  }

  void use_packed_a(const char* a) {
    args_.a = a;
    args_.a_stride = p_.packed_step(args_.k);
  }
  void use_packed_b(const char* b, int64_t stride) {
    args_.b = b;
    args_.b_stride = stride;
  }

  // The next `tiles` tiles downwards, which also write B to `b_copy` if there is one.
  void run(int64_t tiles, int64_t height, char* b_copy = nullptr) {
    if (tiles == 0) return;
    spec_.rows = static_cast<std::uint8_t>(height);
    spec_.copy_b = b_copy != nullptr;
    args_.b_copy = b_copy;
    args_.tiles = tiles;
    if (p_.form != TileForm::columns) {
      args_.a_step = height * args_.a_stride;
    } else if (p_.pack_a) {
      args_.a_stride = height * p_.element;
      args_.a_step = p_.packed_step(height * args_.k);
    } else {
      args_.a_step = height * p_.element;
    }
    tile_kernel(spec_)(args_);
    args_.a = static_cast<const char*>(args_.a) + tiles * args_.a_step;
    args_.c = static_cast<char*>(args_.c) + tiles * height * args_.c_stride;
    if (args_.gate)
      args_.gate = static_cast<const char*>(args_.gate) + tiles * height * args_.gate_stride;
  }

 private:
  const Product& p_;
  TileSpec spec_;
  TileArgs args_;
};

const auto& widen_function(const Product& p, DType dtype) {
  return pack_table(p.isa).widened[dtype == DType::bfloat16];
}

void pack_a(const Product& p, Range rows, Range ks, const RowCut& cut, char* to) {
  const char* from = p.a_at(rows.begin, ks.begin);
  if (p.form != TileForm::columns)
    return widen_function(p, p.a_dtype)(to, p.packed_step(ks.size()), from, p.a_stride, rows.size(),
                                        ks.size());
  const auto pack = pack_table(p.isa).tiles[pack_index(p.a_dtype)];
  const int64_t tall = cut.height + 1, tall_step = p.packed_step(tall * ks.size());
  pack(to, tall_step, from, p.a_stride, ks.size(), tall, cut.taller);
  pack(to + cut.taller * tall_step, p.packed_step(cut.height * ks.size()),
       from + p.a_step(cut.taller * tall), p.a_stride, ks.size(), cut.height,
       cut.tiles - cut.taller);
}

// Packs a panel that is not copied by a tile; returns the bytes between its rows, or in form dot
// between its columns.
int64_t pack_b(const Product& p, Range cols, Range ks, char* to) {
  const char* from = p.b_at(ks.begin, cols.begin);
  if (p.panel == PanelOfB::transposed) {
    const int64_t row = p.packed_row(cols.size());
    pack_table(p.isa).transposed[pack_index(p.b_dtype)](to, from, p.b_stride, ks.size(),
                                                        cols.size(), row / p.element);
    return row;
  }
  const bool dot = p.form == TileForm::dot;
  const int64_t row = dot ? p.packed_step(ks.size()) : p.packed_row(cols.size());
  widen_function(p, p.b_dtype)(to, row, from, p.b_stride, dot ? cols.size() : ks.size(),
                               dot ? ks.size() : cols.size());
  return row;
}

// Cuts of k of at most `most`, nearly equal, and whole vectors but for the last.
int64_t k_block(int64_t k, int64_t most) {
  return k <= most ? std::max<int64_t>(k, 1) : ceil_div(ceil_div(k, ceil_div(k, most)), 16) * 16;
}

void run_chunk(const Product& p, Range rows, Range cols) {
  const RowCut cut(rows.size(), p.height);
  const int64_t kc = k_block(p.k, p.most_k);
  std::optional<Scratch> a_scratch, b_scratch;
  char *packed_a = nullptr, *packed_b = nullptr;
  if (p.pack_a)
    packed_a = a_scratch.emplace(rows.size() * p.packed_step(kc) + cut.tiles * 64).as<char>();
  if (p.panel != PanelOfB::in_place)
    packed_b = b_scratch
                   .emplace(p.form == TileForm::dot ? p.width * p.packed_step(kc)
                                                    : p.packed_row(p.width) * kc)
                   .as<char>();
  int64_t k = 0;
  do {
    const Range ks{k, std::min(p.k, k + kc)};
    if (packed_a) pack_a(p, rows, ks, cut, packed_a);
    for (int64_t j = cols.begin; j < cols.end; j += p.width) {
      const Range panel_cols{j, std::min(cols.end, j + p.width)};
      Panel panel(p, rows, panel_cols, ks);
      if (packed_a) panel.use_packed_a(packed_a);
      int64_t tall = cut.taller, others = cut.tiles - cut.taller;
      if (p.panel == PanelOfB::copied) {
        panel.run(1, cut.height + (tall > 0), packed_b);
        --(tall > 0 ? tall : others);
        panel.use_packed_b(packed_b, p.packed_row(panel_cols.size()));
      } else if (packed_b) {
        panel.use_packed_b(packed_b, pack_b(p, panel_cols, ks, packed_b));
      }
      panel.run(tall, cut.height + 1);
      panel.run(others, cut.height);
    }
    k = ks.end;
  } while (k < p.k);
}

// A chunk of a C of halves: summed in float32, rounded once.
void run_half_chunk(const Product& p, Range rows, Range cols) {
  const int64_t row_bytes = cols.size() * p.element, before = rows.begin * row_bytes;
  const Scratch sums(rows.size() * row_bytes);
  std::optional<Scratch> gate;
  const int64_t corner = cols.begin * bytes_of(p.c_dtype);
  const auto widen = widen_function(p, p.c_dtype);
  char* c = p.c + rows.begin * p.c_stride + corner;
  if (p.accumulate) widen(sums.data(), row_bytes, c, p.c_stride, rows.size(), cols.size());
  Product here = p;
  here.c = sums.as<char>() - before - cols.begin * p.element;
  here.c_stride = row_bytes;
  if (p.gate) {
    gate.emplace(rows.size() * row_bytes);
    widen(gate->data(), row_bytes, p.gate + rows.begin * p.gate_stride + corner, p.gate_stride,
          rows.size(), cols.size());
    here.gate = gate->as<char>() - before - cols.begin * p.element;
    here.gate_stride = row_bytes;
  }
  run_chunk(here, rows, cols);
  if (p.c_stride == cols.size() * bytes_of(p.c_dtype))
    return narrow(p.c_dtype, c, sums.as<float>(), rows.size() * cols.size());
  for (int64_t r = 0; r < rows.size(); ++r)
    narrow(p.c_dtype, c + r * p.c_stride, sums.as<float>() + r * cols.size(), cols.size());
}

// A chunk into C, or to whoever takes it.
void finish_chunk(const Product& p, Range rows, Range cols) {
  const auto run = is_half(p.c_dtype) ? run_half_chunk : run_chunk;
  if (!p.taker) return run(p, rows, cols);
  (*p.taker)({rows.begin, rows.size(), cols.begin, cols.size()}, [&](void* to, int64_t row_bytes) {
    Product here = p;
    here.c = static_cast<char*>(to) - rows.begin * row_bytes - cols.begin * bytes_of(p.c_dtype);
    here.c_stride = row_bytes;
    run(here, rows, cols);
  });
}

struct Grid {
  int64_t rows, cols;  // of a chunk
};

// Chunks as large as the second cache likes, but at least two for each thread while each is worth
// it.
Grid choose_grid(const Product& p) {
  constexpr int64_t kMostRows = 252, kMostCols = 512;
  const int64_t threads = thread_count(), enough = threads == 1 ? 1 : 2 * threads;
  constexpr int64_t kLeastWork = 1'000'000;  // multiply-adds, about 20 us
  Grid grid{std::min(p.m, kMostRows), std::min(p.n, kMostCols)};
  while (ceil_div(p.m, grid.rows) * ceil_div(p.n, grid.cols) < enough &&
         grid.rows * grid.cols * p.k >= 2 * kLeastWork) {
    // Each chunk packs for itself, so the operand that is packed at a cost is rather not cut
    // across.
    const int64_t tall = ceil_div(grid.rows, p.height), wide = ceil_div(grid.cols, p.width);
    const bool keep_rows = p.panel == PanelOfB::transposed, keep_cols = p.pack_a && tall >= 16;
    if (wide > 1 && !keep_cols && (keep_rows || grid.cols >= grid.rows))
      grid.cols = ceil_div(wide, 2) * p.width;
    else if (tall > 1)
      grid.rows = ceil_div(tall, 2) * p.height;
    else
      break;
  }
  // Equal heights: a last chunk of a few rows would pack a whole B for itself.
  grid.rows = ceil_div(p.m, ceil_div(p.m, grid.rows));
  return grid;
}

void run(const Product& p) {
  constexpr int64_t kSerialWork = 1'000'000;  // multiply-adds, about 20 us
  if (p.m * p.n * p.k < kSerialWork) return finish_chunk(p, {0, p.m}, {0, p.n});
  const Grid grid = choose_grid(p);
  const int64_t down = ceil_div(p.m, grid.rows), across = ceil_div(p.n, grid.cols);
  parallel_for(down * across, [&](int64_t i) {
    const int64_t row = i % down * grid.rows, col = i / down * grid.cols;
    finish_chunk(p, {row, std::min(p.m, row + grid.rows)}, {col, std::min(p.n, col + grid.cols)});
  });
}

void choose_plan(Product& p, bool trans_b) {
  // Adding up lanes costs as much as 26 steps of k, transposing as much as 6 rows. A few columns
  // would leave most lanes empty.
  if (trans_b && p.form == TileForm::rows && (4 * p.m <= p.k || p.n <= kFewColumns))
    p.form = TileForm::dot;
  const bool dot = p.form == TileForm::dot;
  p.width = std::min(dot ? (p.m == 1 ? 8 : 4) : tile_cols(p.isa, p.float64, p.form, p.m), p.n);
  p.height = p.max_rows(p.width);
  p.most_k = 1024;
  p.pack_a = is_half(p.a_dtype);
  if (is_half(p.b_dtype)) {
    p.panel = trans_b && !dot ? PanelOfB::transposed : PanelOfB::widened;
    p.most_k = dot ? 512 : p.m <= 4 ? 128 : 256;
    return;
  }
  if (dot || p.k == 0) return;
  if (trans_b) {
    p.panel = PanelOfB::transposed;
    p.most_k = 256;
  } else if (p.m > p.height && p.k * p.b_stride > kFirstCache / 2) {
    p.panel = PanelOfB::copied;
    p.most_k = 256;
  } else if (p.m <= 4 && p.k * p.b_stride > 4 * kSecondCache) {
    p.most_k = 64;  // read B nearly row by row, as memory likes it
  }
  // Rows of A that fall on the same few cache sets, or on more pages than are kept in mind, or
  // whose lines, one for each k of a tile, do not fit the first cache beside the panel of B.
  const bool scattered = (p.k >= 16 && p.a_stride >= 2048 && p.a_stride % 1024 == 0) ||
                         (p.k >= 64 && p.a_stride >= 4096) ||
                         (p.k >= 192 && p.a_stride >= 512 && p.n >= 128);
  if (p.form == TileForm::columns && p.n >= 64 && scattered) p.pack_a = true;
}

// With one row or column an operand is a vector, and whether that is transposed is a matter of
// words. Chooses the words for which the kernel reads and writes neighbours.
GemmArgs simplified(GemmArgs g) {
  if (g.n == 1 && g.trans_a && g.ldc == 1 && !g.bias && (!g.gate || g.ld_gate == 1)) {
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
    g.trans_a = !g.trans_b;
    g.trans_b = false;
    g.n = g.m;
    g.m = 1;
    g.ldc = g.ld_gate = g.n;
  }
  if (g.m == 1 && g.trans_a && g.lda == 1) {
    g.trans_a = false;
    g.lda = g.k;
  }
  if (g.n == 1 && !g.trans_b && g.ldb == 1) {
    g.trans_b = true;
    g.ldb = g.k;
  }
  return g;
}

// B may have another dtype than the rest.
Product planned(const GemmArgs& g, DType b_dtype, Isa isa) {
  const bool float64 = g.dtype == DType::float64;
  const int64_t size = bytes_of(g.dtype);
  Product p{
      .isa = isa,
      .float64 = float64,
      .form = g.trans_a ? TileForm::columns : TileForm::rows,
      .accumulate = g.accumulate,
      .relu = g.relu,
      .m = g.m,
      .n = g.n,
      .k = g.k,
      .element = float64 ? 8 : 4,
      .a_dtype = g.dtype,
      .b_dtype = b_dtype,
      .c_dtype = g.dtype,
      .a = static_cast<const char*>(g.a),
      .a_stride = g.lda * size,
      .b = static_cast<const char*>(g.b),
      .b_stride = g.ldb * bytes_of(b_dtype),
      .c = static_cast<char*>(g.c),
      .c_stride = g.ldc * size,
      .bias = static_cast<const char*>(g.bias),
      .gate = static_cast<const char*>(g.gate),
      .gate_stride = g.ld_gate * size,
      .taker = g.taker,
  };
  choose_plan(p, g.trans_b);
  return p;
}

void run(const GemmArgs& g, DType b_dtype, Isa isa) {
  Product p = planned(g, b_dtype, isa);
  std::optional<Scratch> bias;
  if (g.bias && is_half(g.dtype)) {
    widen(g.dtype, bias.emplace(g.n * 4).as<float>(), g.bias, g.n);
    p.bias = bias->as<char>();
  }
  run(p);
}

// Turns the columns of a narrow B into rows, because vectors along k are then full.
void run_few_columns(GemmArgs g, Isa isa) {
  const DType wide = is_half(g.dtype) ? DType::float32 : g.dtype;
  const int64_t element = bytes_of(wide), size = bytes_of(g.dtype);
  Scratch rows(static_cast<std::size_t>(g.n * g.k * element));
  for (int64_t j = 0; j < g.n; ++j)
    pack_table(isa).transposed[pack_index(g.dtype)](rows.as<char>() + j * g.k * element,
                                                    static_cast<const char*>(g.b) + j * size,
                                                    g.ldb * size, 1, g.k, g.k);
  g.b = rows.data();
  g.trans_b = true;
  g.ldb = g.k;
  run(g, wide, isa);
}

// All of C as one block.
void take_whole(GemmArgs g, Isa isa) {
  const BlockTaker* taker = std::exchange(g.taker, nullptr);
  (*taker)({0, g.m, 0, g.n}, [&](void* to, int64_t row_bytes) {
    g.c = to;
    g.ldc = row_bytes / bytes_of(g.dtype);
    gemm(g, isa);
  });
}

}  // namespace

void gemm(const GemmArgs& args, Isa isa) {
  GRADUS_ASSERT(is_floating(args.dtype));
  if (args.m == 0 || args.n == 0) return;
  if (args.taker && (args.m == 1 || args.n <= kFewColumns)) return take_whole(args, isa);
  if (args.m == 1 || args.n == 1) return run(simplified(args), args.dtype, isa);
  if (args.n <= kFewColumns && args.k >= 64 && !args.trans_a && !args.trans_b)
    return run_few_columns(args, isa);
  run(args, args.dtype, isa);
}

void gemm(const GemmArgs& args) { gemm(args, isa()); }

int64_t products_at_once(const GemmArgs& args) {
  if (args.m == 1 || args.n <= kFewColumns) return 0;
  const Product p = planned(args, args.dtype, isa());
  return p.form == TileForm::dot ? 0 : k_block(p.k, p.most_k);
}

}  // namespace gradus::kernels
