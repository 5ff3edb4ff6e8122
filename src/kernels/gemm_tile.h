// The one kernel under every dense product: a register tile of a sum of products,
//
//   C[rows, cols] (+)= sum over i < products of A_i[rows, k] B_i[k, cols]
//
// with an optional epilogue while the tile is still in registers. matmul, every pass of a
// convolution, LSTM steps and attention only differ in the pointers and strides they hand to it.
//
// A TileSpec is what is known when code is emitted; TileArgs is what may change with every call.
// tile_kernel(spec) emits machine code the first time a spec is met (20-50 us) and finds it again
// in nanoseconds. Without AVX2, or where memory must not be executable, it is a plain C++ loop.
//
// Each element of C adds its k products in increasing k, product after product, starting from zero;
// the old C is added last. (In the form `dot` each vector lane does so for its own k, and the lanes
// are added up at the end.) So bits depend on the form and on where the caller cuts k, never on the
// tile's size or on threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/isa.h"

namespace gradus::kernels {

// How operands lie in memory; "contiguous" means that the elements are neighbours.
enum class TileForm : std::uint8_t {
  rows,     // A contiguous along k, B along columns: the plain product
  columns,  // A contiguous along rows, B along columns: the first operand transposed
  dot,      // A and B contiguous along k: the second operand transposed
};

struct TileSpec {
  Isa isa = Isa::baseline;
  bool float64 = false;
  TileForm form = TileForm::rows;
  std::uint8_t rows = 1;
  std::uint8_t cols = 1;
  bool accumulate = false;  // add to C instead of overwriting it
  bool bias = false;        // add bias[cols]
  bool relu = false;        // then max(x, 0), a NaN stays
  bool gate = false;        // then 0 where gate[rows, cols] is not > 0: the gradient of relu
  bool copy_b = false;      // also pack B while it passes through registers (not in form dot)

  std::uint32_t key() const {
    return static_cast<std::uint32_t>(isa) | std::uint32_t{float64} << 2 |
           static_cast<std::uint32_t>(form) << 3 | std::uint32_t{accumulate} << 5 |
           std::uint32_t{bias} << 6 | std::uint32_t{relu} << 7 | std::uint32_t{gate} << 8 |
           std::uint32_t{copy_b} << 9 | std::uint32_t{rows} << 10 | std::uint32_t{cols} << 16;
  }
};

// One product of the sum: byte offsets that are added to TileArgs::a and ::b.
struct TileOffsets {
  std::int64_t a, b;
};

// All strides are in bytes. The kernel walks down `tiles` tiles of `rows` rows each, with the same
// B: A moves on by a_step, C and the gate by rows * stride.
struct TileArgs {
  const void* a;
  const void* b;
  void* c;
  std::int64_t k;         // of each product; may be 0
  std::int64_t a_stride;  // form rows and dot: between rows of A; form columns: between its k
  std::int64_t b_stride;  // form dot: between columns of B; otherwise between its k
  std::int64_t c_stride;  // between rows of C
  std::int64_t tiles;     // at least 1
  std::int64_t a_step;
  const TileOffsets* offsets;
  std::int64_t products;  // at least 1
  const void* bias;
  const void* gate;
  std::int64_t gate_stride;
  void* b_copy;  // k rows of as many whole vectors as hold cols
};

class TileKernel {
 public:
  using Function = void (*)(const TileArgs*, const TileSpec*);
  TileKernel(Function function, const TileSpec& spec)
      : function_(function), key_(spec.key()), spec_(spec) {}
  void operator()(const TileArgs& args) const { function_(&args, &spec_); }
  std::uint32_t key() const { return key_; }

 private:
  Function function_;
  std::uint32_t key_;
  TileSpec spec_;
};

// Lives as long as the process. Any number of threads may ask at once.
const TileKernel& tile_kernel(const TileSpec& spec);

// Elements in a vector register of `isa`; 1 without vectors.
constexpr int lanes(Isa isa, bool float64) {
  return isa == Isa::baseline ? 1 : (isa == Isa::avx512 ? 16 : 8) >> float64;
}

// Vectors that `cols` columns need.
constexpr std::int64_t vectors_for(std::int64_t cols, Isa isa, bool float64) {
  const int shift = isa == Isa::baseline ? 0 : (isa == Isa::avx512 ? 4 : 3) - float64;
  return (cols + (std::int64_t{1} << shift) - 1) >> shift;
}

// max_rows by the number of vectors in a row of the tile.
struct HeightTable {
  static constexpr int kVectors = 31;
  std::int8_t rows[kVectors + 1] = {};

  constexpr HeightTable(bool wide, bool dot) {
    for (int vectors = 1; vectors <= kVectors; ++vectors) {
      const auto registers = [=](int r) {
        return std::max(std::min(r, vectors) + 1, wide && dot ? 6 : 2) + r * vectors;
      };
      int r = dot ? 6 : 14;
      while (r > 1 && registers(r) > (wide ? 32 : 16)) --r;
      rows[vectors] = static_cast<std::int8_t>(r);
    }
  }
};
inline constexpr HeightTable kTallest[2][2] = {{{false, false}, {false, true}},
                                               {{true, false}, {true, true}}};

// The tallest tile of `cols` columns whose accumulators and operands fit the registers.
constexpr int max_rows(Isa isa, bool float64, TileForm form, std::int64_t cols) {
  const bool wide = isa == Isa::avx512, dot = form == TileForm::dot;
  const std::int64_t vectors = dot ? cols : vectors_for(cols, isa, float64);
  return kTallest[wide][dot].rows[std::min<std::int64_t>(vectors, HeightTable::kVectors)];
}

// Columns of the tiles that suit `rows` rows: as many as the registers allow when there are few.
constexpr std::int64_t tile_cols(Isa isa, bool float64, TileForm form, std::int64_t rows) {
  if (isa == Isa::baseline) return 16;
  const int vector = lanes(isa, float64);
  int vectors = 2;
  for (const int more : {3, 4, 6, 12}) {
    if (rows > max_rows(isa, float64, form, more * vector)) break;
    vectors = more;
  }
  return vectors * vector;
}

// Rows cut into tiles of nearly equal height: `taller` tiles of height + 1, then the others. A few
// rows are rather cut into equal tiles if that leaves enough accumulators to be busy with.
struct RowCut {
  std::int64_t tiles, height, taller;

  constexpr RowCut(std::int64_t rows, std::int64_t most) : tiles(1), height(rows), taller(0) {
    if (rows <= most) return;
    if (rows < 64 && most == 6) {
      const auto few = static_cast<std::uint32_t>(rows);
      const std::uint32_t equal = few % 6 == 0 ? 6 : few % 5 == 0 ? 5 : few % 4 == 0 ? 4 : 0;
      if (equal) {
        tiles = few / equal;
        height = equal;
        return;
      }
    }
    tiles = (rows + most - 1) / most;
    height = rows / tiles;
    taller = rows - height * tiles;
  }
};

}  // namespace gradus::kernels
