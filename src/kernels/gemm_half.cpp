#include "kernels/gemm_half.h"

#include <algorithm>
#include <optional>

#include "base/thread_pool.h"
#include "kernels/half.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

// Calls rows(begin, end) for all rows, in parallel when there is much to do.
template <class Rows>
void for_rows(int64_t count, int64_t row, const Rows& rows) {
  constexpr int64_t kElements = 64 * 1024;  // of a chunk: about 5 us
  const int64_t step = std::max<int64_t>(1, kElements / std::max<int64_t>(1, row));
  if (count <= step) return rows(0, count);
  parallel_for((count + step - 1) / step,
               [&](int64_t i) { rows(i * step, std::min(count, (i + 1) * step)); });
}

// A float32 copy of a matrix, without gaps.
class Widened {
 public:
  Widened(DType dtype, int64_t rows, int64_t cols)
      : dtype_(dtype), rows_(rows), cols_(cols), copy_(sizeof(float) * rows * cols) {}

  float* data() { return copy_.as<float>(); }

  void load(const void* from, int64_t stride) {
    const auto* halves = static_cast<const std::uint16_t*>(from);
    for_rows(rows_, cols_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        widen(dtype_, data() + i * cols_, halves + i * stride, cols_);
    });
  }
  void store(void* to, int64_t stride) {
    auto* halves = static_cast<std::uint16_t*>(to);
    for_rows(rows_, cols_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        narrow(dtype_, halves + i * stride, data() + i * cols_, cols_);
    });
  }

 private:
  DType dtype_;
  int64_t rows_, cols_;
  Scratch copy_;
};

}  // namespace

void gemm_half(const GemmArgs& args, Isa isa) {
  GemmArgs g = args;
  g.dtype = DType::float32;

  Widened a(args.dtype, g.trans_a ? g.k : g.m, g.trans_a ? g.m : g.k);
  a.load(g.a, g.lda);
  g.a = a.data();
  g.lda = g.trans_a ? g.m : g.k;

  Widened b(args.dtype, g.trans_b ? g.n : g.k, g.trans_b ? g.k : g.n);
  b.load(g.b, g.ldb);
  g.b = b.data();
  g.ldb = g.trans_b ? g.k : g.n;

  Widened c(args.dtype, g.m, g.n);
  if (g.accumulate) c.load(g.c, g.ldc);
  g.c = c.data();
  g.ldc = g.n;

  std::optional<Widened> bias, gate;
  if (g.bias) {
    bias.emplace(args.dtype, 1, g.n).load(g.bias, g.n);
    g.bias = bias->data();
  }
  if (g.gate) {
    gate.emplace(args.dtype, g.m, g.n).load(g.gate, g.ld_gate);
    g.gate = gate->data();
    g.ld_gate = g.n;
  }
  gemm(g, isa);
  c.store(args.c, args.ldc);
}

}  // namespace gradus::kernels
