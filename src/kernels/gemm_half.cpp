// Blocks of C, each by one thread: pieces of A and B that fit the second cache together are widened
// right before they are multiplied, and a block is rounded when its sum is complete. So the
// operands are read as halves and never lie anywhere as a whole in float32.
#include "kernels/gemm_half.h"

#include <algorithm>
#include <optional>

#include "base/thread_pool.h"
#include "kernels/half.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

constexpr int64_t kMostRows = 192, kMostCols = 256, kMostDepth = 192;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Parts of at most `most`, nearly equal, and whole vectors but for the last.
int64_t part_of(int64_t size, int64_t most) {
  const int64_t even = ceil_div(size, std::max<int64_t>(1, ceil_div(size, most)));
  return size <= most ? size : std::min(most, ceil_div(even, 16) * 16);
}

// A float32 copy of a piece of a matrix of halves, without gaps.
class Widened {
 public:
  Widened(DType dtype, int64_t elements) : dtype_(dtype), copy_(sizeof(float) * elements) {}

  float* data() { return copy_.as<float>(); }

  void load(const void* from, int64_t stride, int64_t row, int64_t col, int64_t rows,
            int64_t cols) {
    const auto* halves = static_cast<const std::uint16_t*>(from) + row * stride + col;
    for (int64_t i = 0; i < rows; ++i) widen(dtype_, data() + i * cols, halves + i * stride, cols);
  }
  void store(void* to, int64_t stride, int64_t row, int64_t col, int64_t rows, int64_t cols) {
    auto* halves = static_cast<std::uint16_t*>(to) + row * stride + col;
    for (int64_t i = 0; i < rows; ++i) narrow(dtype_, halves + i * stride, data() + i * cols, cols);
  }

 private:
  DType dtype_;
  Scratch copy_;
};

void run_block(const GemmArgs& args, Isa isa, int64_t row, int64_t rows, int64_t col,
               int64_t cols) {
  const int64_t depth = part_of(args.k, kMostDepth);
  Widened a(args.dtype, rows * depth), b(args.dtype, depth * cols), c(args.dtype, rows * cols);
  GemmArgs g = args;
  g.dtype = DType::float32;
  g.m = rows, g.n = cols;
  g.a = a.data(), g.b = b.data();
  g.c = c.data(), g.ldc = cols;
  if (g.accumulate) c.load(args.c, args.ldc, row, col, rows, cols);
  std::optional<Widened> bias, gate;
  if (args.bias) bias.emplace(args.dtype, cols).load(args.bias, 0, 0, col, 1, cols);
  if (args.gate)
    gate.emplace(args.dtype, rows * cols).load(args.gate, args.ld_gate, row, col, rows, cols);
  int64_t k = 0;
  do {
    g.k = std::min(depth, args.k - k);
    if (args.trans_a)
      a.load(args.a, args.lda, k, row, g.k, rows);
    else
      a.load(args.a, args.lda, row, k, rows, g.k);
    if (args.trans_b)
      b.load(args.b, args.ldb, col, k, cols, g.k);
    else
      b.load(args.b, args.ldb, k, col, g.k, cols);
    g.lda = args.trans_a ? rows : g.k;
    g.ldb = args.trans_b ? g.k : cols;
    k += g.k;
    const bool last = k == args.k;
    g.bias = last && bias ? bias->data() : nullptr;
    g.relu = last && args.relu;
    g.gate = last && gate ? gate->data() : nullptr;
    g.ld_gate = cols;
    gemm(g, isa);
    g.accumulate = true;
  } while (k < args.k);
  c.store(args.c, args.ldc, row, col, rows, cols);
}

}  // namespace

void gemm_half(const GemmArgs& args, Isa isa) {
  const int64_t rows = part_of(args.m, kMostRows), cols = part_of(args.n, kMostCols);
  const int64_t down = ceil_div(args.m, rows), across = ceil_div(args.n, cols);
  const auto block = [&](int64_t i) {
    const int64_t row = i % down * rows, col = i / down * cols;
    run_block(args, isa, row, std::min(rows, args.m - row), col, std::min(cols, args.n - col));
  };
  if (down * across == 1) return block(0);
  parallel_for(down * across, block);
}

}  // namespace gradus::kernels
