#include "kernels/sparse_matmul_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

constexpr std::int64_t kAhead = 8;

template <class T>
inline void ask_for(const T* row, std::int64_t width) {
  const auto* first = reinterpret_cast<const char*>(row);
  const std::int64_t bytes = width * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t b = 0; b < (bytes < 512 ? bytes : 512); b += 64) __builtin_prefetch(first + b);
}

// kVectors registers of the sum, from column i on.
template <int kVectors, class T>
inline void sum_tile(const ScaledRows& s, std::int64_t i, Compute<T>* out) {
  using C = Compute<T>;
  const T *values = static_cast<const T*>(s.values), *dense = static_cast<const T*>(s.dense);
  Vec<C> sum[kVectors] = {};
  for (std::int64_t e = 0; e < s.count; ++e) {
    if (i == 0 && e + kAhead < s.listed) ask_for(dense + s.columns[e + kAhead] * s.width, s.width);
    const C scale = load_one(values + e);
    const T* row = dense + s.columns[e] * s.width + i;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v] += scale * load(row + v * kLanes<C>);
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) store(out + i + v * kLanes<C>, sum[v]);
}

template <class T>
void sum_scaled(const ScaledRows& s, void* out) {
  using C = Compute<T>;
  const T *values = static_cast<const T*>(s.values), *dense = static_cast<const T*>(s.dense);
  C* to = static_cast<C*>(out);
  std::int64_t i = 0;
  for (; i + 8 * kLanes<C> <= s.width; i += 8 * kLanes<C>) sum_tile<8, T>(s, i, to);
  for (; i + 2 * kLanes<C> <= s.width; i += 2 * kLanes<C>) sum_tile<2, T>(s, i, to);
  for (; i + kLanes<C> <= s.width; i += kLanes<C>) sum_tile<1, T>(s, i, to);
  for (; i < s.width; ++i) {
    C sum = 0;
    for (std::int64_t e = 0; e < s.count; ++e) {
      short_loop();
      sum += load_one(values + e) * load_one(dense + s.columns[e] * s.width + i);
    }
    to[i] = sum;
  }
}

template <int kWidth, class T>
void sum_columns(const NarrowGroups& g) {
  const T *values = static_cast<const T*>(g.values), *dense = static_cast<const T*>(g.dense);
  for (std::int64_t i = 0; i < g.count; ++i) {
    T sum[kWidth] = {};
    for (std::int64_t e = g.starts[i]; e < g.starts[i + 1]; ++e) {
      short_loop();
      const T* row = dense + g.columns[e] * kWidth;
#pragma GCC unroll 4
      for (int j = 0; j < kWidth; ++j) sum[j] += values[e] * row[j];
    }
    T* to = static_cast<T*>(g.out) + g.rows[i] * kWidth;
#pragma GCC unroll 4
    for (int j = 0; j < kWidth; ++j) to[j] = sum[j];
  }
}

template <class T>
void sum_narrow(const NarrowGroups& g) {
  switch (g.width) {
    case 1:
      return sum_columns<1, T>(g);
    case 2:
      return sum_columns<2, T>(g);
    case 3:
      return sum_columns<3, T>(g);
    default:
      return sum_columns<4, T>(g);
  }
}

template <class T>
inline Compute<T> dot(const T* a, const T* b, std::int64_t width) {
  using C = Compute<T>;
  Vec<C> sum[4] = {};
  std::int64_t i = 0;
  for (; i + 4 * kLanes<C> <= width; i += 4 * kLanes<C>)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[v] += load(a + i + v * kLanes<C>) * load(b + i + v * kLanes<C>);
  for (; i + kLanes<C> <= width; i += kLanes<C>) sum[0] += load(a + i) * load(b + i);
  const Vec<C> all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  C total = 0;
  for (int lane = 0; lane < kLanes<C>; ++lane) total += all[lane];
  for (; i < width; ++i) {
    short_loop();
    total += load_one(a + i) * load_one(b + i);
  }
  return total;
}

template <class T>
void dots(const SparseLoops::Pairs& p, void* out) {
  const T *a = static_cast<const T*>(p.a), *b = static_cast<const T*>(p.b);
  auto* to = static_cast<Compute<T>*>(out);
  for (std::int64_t e = 0; e < p.count; ++e) {
    if (e + kAhead < p.count) {
      ask_for(a + p.rows[e + kAhead] * p.width, p.width);
      ask_for(b + p.columns[e + kAhead] * p.width, p.width);
    }
    to[e] = dot(a + p.rows[e] * p.width, b + p.columns[e] * p.width, p.width);
  }
}

template <class T>
constexpr void enter(SparseLoops& loops) {
  loops.sum_scaled[static_cast<int>(dtype_v<T>)] = sum_scaled<T>;
  loops.dots[static_cast<int>(dtype_v<T>)] = dots<T>;
}

constexpr SparseLoops all_loops() {
  SparseLoops loops;
  enter<std::uint32_t>(loops);
  enter<std::uint64_t>(loops);
  enter<half>(loops);
  enter<bfloat>(loops);
  enter<float>(loops);
  enter<double>(loops);
  loops.sum_narrow[static_cast<int>(float32)] = sum_narrow<float>;
  loops.sum_narrow[static_cast<int>(float64)] = sum_narrow<double>;
  return loops;
}

}  // namespace

constinit const SparseLoops sparse_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
