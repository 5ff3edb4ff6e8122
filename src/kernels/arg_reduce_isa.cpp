// A row is searched in two sweeps that stay in cache: the best value of each block, and then its
// first place in the block that held it. Columns keep the best value and its row, a block of
// columns at a time.
#include <limits>
#include <type_traits>

#include "kernels/reduce_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

struct Larger {
  template <class V>
  static auto better(V a, V b) {
    return a > b;
  }
  template <class T>
  static constexpr T worst() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};

struct Smaller {
  template <class V>
  static auto better(V a, V b) {
    return a < b;
  }
  template <class T>
  static constexpr T worst() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

template <class Order, class T>
inline Compute<T> best_of(const T* p, std::int64_t n, Compute<T> best) {
  using C = Compute<T>;
  std::int64_t i = 0;
  if (n >= 4 * kLanes<C>) {
    Vec<C> acc[4];
    for (Vec<C>& a : acc) a = best - Vec<C>{};
    for (; i + 4 * kLanes<C> <= n; i += 4 * kLanes<C>)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        const Vec<C> x = load(p + i + v * kLanes<C>);
        acc[v] = Order::better(x, acc[v]) ? x : acc[v];
      }
    for (const Vec<C>& a : acc)
      for (int l = 0; l < kLanes<C>; ++l) best = Order::better(a[l], best) ? a[l] : best;
  }
  for (; i < n; ++i) {
    short_loop();
    const C x = load_one(p + i);
    best = Order::better(x, best) ? x : best;
  }
  return best;
}

template <class Order, class T>
void rows(const void* in, std::int64_t count, std::int64_t n, std::int64_t* out) {
  using C = Compute<T>;
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t r = 0; r < count; ++r) {
    const T* p = static_cast<const T*>(in) + r * n;
    C best = Order::template worst<C>();
    std::int64_t place = -1;
    for (std::int64_t i = 0; i < n; i += kBlock) {
      const C value = best_of<Order>(p + i, n - i < kBlock ? n - i : kBlock, best);
      if (!Order::better(value, best)) continue;
      best = value;
      place = i;
    }
    if (place >= 0)
      while (load_one(p + place) != best) ++place;
    out[r] = place < 0 ? 0 : place;
  }
}

template <class Order, class T>
void columns(const void* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
             std::int64_t begin, std::int64_t end, std::int64_t* out) {
  using C = Compute<T>;
  // Places as wide as the values (32 bits for narrow ones) so that both fill whole vectors.
  using Place = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>;
  constexpr std::int64_t kBlock = 1024, kRows = std::int64_t{1} << 30;
  C best[kBlock];
  Place place[kBlock];
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t c = begin; c < end; c += kBlock) {
      const std::int64_t width = end - c < kBlock ? end - c : kBlock;
      const T* p = static_cast<const T*>(in) + o * n * inner + c;
      std::int64_t* to = out + o * inner + c;
      for (std::int64_t i = 0; i < width; ++i) {
        best[i] = Order::template worst<C>();
        to[i] = 0;
      }
      for (std::int64_t base = 0; base < n; base += kRows) {
        const std::int64_t rows = n - base < kRows ? n - base : kRows;
        for (std::int64_t i = 0; i < width; ++i) place[i] = -1;
        for (std::int64_t r = 0; r < rows; ++r) {
          const T* row = p + (base + r) * inner;
          std::int64_t i = 0;
          if constexpr (sizeof(C) == sizeof(Place)) {
            for (; i + kLanes<C> <= width; i += kLanes<C>) {
              const Vec<C> x = load(row + i), b = load(best + i);
              const auto better = Order::better(x, b);
              store(best + i, better ? x : b);
              store(place + i, better ? static_cast<Place>(r) - Vec<Place>{} : load(place + i));
            }
          }
          for (; i < width; ++i) {
            const C x = load_one(row + i);
            const bool better = Order::better(x, best[i]);
            best[i] = better ? x : best[i];
            place[i] = better ? static_cast<Place>(r) : place[i];
          }
        }
        for (std::int64_t i = 0; i < width; ++i)
          if (place[i] >= 0) to[i] = base + place[i];
      }
    }
  }
}

template <class T>
constexpr void enter(ArgReduceLoops& loops, DType t) {
  loops.rows[0][static_cast<int>(t)] = rows<Larger, T>;
  loops.rows[1][static_cast<int>(t)] = rows<Smaller, T>;
  loops.columns[0][static_cast<int>(t)] = columns<Larger, T>;
  loops.columns[1][static_cast<int>(t)] = columns<Smaller, T>;
}

constexpr ArgReduceLoops all_loops() {
  ArgReduceLoops loops;
  enter<std::int8_t>(loops, int8);
  enter<std::int16_t>(loops, int16);
  enter<std::int32_t>(loops, int32);
  enter<std::int64_t>(loops, int64);
  enter<std::uint8_t>(loops, uint8);
  enter<std::uint16_t>(loops, uint16);
  enter<std::uint32_t>(loops, uint32);
  enter<std::uint64_t>(loops, uint64);
  enter<half>(loops, float16);
  enter<bfloat>(loops, bfloat16);
  enter<float>(loops, float32);
  enter<double>(loops, float64);
  return loops;
}

}  // namespace

constinit const ArgReduceLoops arg_reduce_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
