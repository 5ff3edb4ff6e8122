#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/gemm.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

const void* moved(const void* from, int64_t elements, DType dtype) {
  if (!from) return nullptr;
  return static_cast<const char*>(from) + elements * static_cast<int64_t>(size_of(dtype));
}

GemmArgs item(const GemmArgs& first, const GemmStrides& strides, int64_t i) {
  GemmArgs g = first;
  g.a = moved(g.a, i * strides.a, g.dtype);
  g.b = moved(g.b, i * strides.b, g.dtype);
  g.c = const_cast<void*>(moved(g.c, i * strides.c, g.dtype));
  g.gate = moved(g.gate, i * strides.gate, g.dtype);
  return g;
}

// Item i, whose C is the rows from i * m on.
void run_item(const GemmArgs& first, const GemmStrides& strides, int64_t i) {
  GemmArgs g = item(first, strides, i);
  if (!first.taker) return gemm(g);
  const auto take = [&](const Block& block, ComputeBlock compute) {
    (*first.taker)({i * g.m + block.row, block.rows, block.col, block.cols}, compute);
  };
  const BlockTaker taker = take;
  g.taker = &taker;
  gemm(g);
}

// All items write the same C: their products are added up, in order.
void gemm_sum(const GemmArgs& first, int64_t count, const GemmStrides& strides) {
  for (int64_t i = 0; i < count; ++i) {
    GemmArgs g = item(first, strides, i);
    if (i > 0) g.accumulate = true;
    if (i + 1 < count) {
      g.bias = g.gate = nullptr;
      g.relu = false;
    }
    gemm(g);
  }
}

// Whether the items are one product with more rows, or (when summed) with a longer k.
bool merge(GemmArgs& g, int64_t count, const GemmStrides& strides) {
  if (strides.c == 0) {
    if (!g.trans_a || g.trans_b || strides.a != g.k * g.lda || strides.b != g.k * g.ldb)
      return false;
    g.k *= count;
    return true;
  }
  if (g.trans_a || strides.b != 0 || strides.a != g.m * g.lda || strides.c != g.m * g.ldc ||
      (g.gate && strides.gate != g.m * g.ld_gate))
    return false;
  g.m *= count;
  return true;
}

}  // namespace

void gemm_batch(const GemmArgs& first, int64_t count, const GemmStrides& strides) {
  if (count <= 0) return;
  GemmArgs merged = first;
  if (count == 1 || merge(merged, count, strides)) return gemm(merged);
  if (strides.c == 0) return gemm_sum(first, count, strides);

  constexpr int64_t kChunkWork = 500'000;  // multiply-adds, about 10 us
  const int64_t work = std::max<int64_t>(1, first.m * first.n * first.k);
  if (work >= 4 * kChunkWork || work * count < 2 * kChunkWork) {
    for (int64_t i = 0; i < count; ++i) run_item(first, strides, i);
    return;
  }
  const int64_t step = std::max<int64_t>(1, kChunkWork / work);
  parallel_for((count + step - 1) / step, [&](int64_t chunk) {
    const int64_t end = std::min(count, (chunk + 1) * step);
    for (int64_t i = chunk * step; i < end; ++i) run_item(first, strides, i);
  });
}

}  // namespace gradus::kernels
