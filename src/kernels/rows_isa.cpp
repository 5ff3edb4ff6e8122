#include "kernels/rows_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class V>
inline V add(V a, V b) {
  return static_cast<V>(a + b);
}

// kRows rows onto out, or into it if kFirst, as a tree.
template <int kRows, bool kFirst, class T>
inline void add_rows(const T* const* row, std::int64_t width, Compute<T>* out) {
  using C = Compute<T>;
  const auto tree = [row](auto at) {
    decltype(at(row[0])) a[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) a[r] = at(row[r]);
#pragma GCC unroll 3
    for (int m = kRows / 2; m > 0; m /= 2)
#pragma GCC unroll 4
      for (int r = 0; r < m; ++r) a[r] = add(a[r], a[r + m]);
    return a[0];
  };
  std::int64_t i = 0;
  for (; i + kLanes<C> <= width; i += kLanes<C>) {
    Vec<C> v = tree([i](const T* p) { return load(p + i); });
    if (!kFirst) v = add(load(out + i), v);
    store(out + i, v);
  }
  for (; i < width; ++i) {
    short_loop();
    const C c = tree([i](const T* p) { return load_one(p + i); });
    out[i] = kFirst ? c : add(out[i], c);
  }
}

template <class T>
void sum_listed(const void* values, const std::uint32_t* positions, std::int64_t count,
                std::int64_t width, void* out) {
  const T* base = static_cast<const T*>(values);
  auto* to = static_cast<Compute<T>*>(out);
  const T* row[8];
  const auto list = [&](std::int64_t first, int n) {
    for (int r = 0; r < n; ++r) row[r] = base + std::int64_t{positions[first + r]} * width;
  };
  list(0, 1);
  add_rows<1, true>(row, width, to);
  std::int64_t k = 1;
  for (; k + 8 <= count; k += 8) {
    list(k, 8);
    add_rows<8, false>(row, width, to);
  }
  for (; k < count; ++k) {
    list(k, 1);
    add_rows<1, false>(row, width, to);
  }
}

template <class T>
void add_row(const void* sum, std::int64_t width, bool onto, bool subtract, void* out) {
  using C = Compute<T>;
  const C* from = static_cast<const C*>(sum);
  T* to = static_cast<T*>(out);
  if (!onto) {
    for (std::int64_t i = 0; i < width; ++i) store_one(to + i, from[i]);
  } else if (subtract) {
    for (std::int64_t i = 0; i < width; ++i)
      store_one(to + i, static_cast<C>(load_one(to + i) - from[i]));
  } else {
    for (std::int64_t i = 0; i < width; ++i) store_one(to + i, add(load_one(to + i), from[i]));
  }
}

template <class Index>
bool in_range(const void* indices, std::int64_t count, std::int64_t limit) {
  const Index* index = static_cast<const Index*>(indices);
  Index low = 0, high = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    low = index[i] < low ? index[i] : low;
    high = index[i] > high ? index[i] : high;
  }
  return low >= 0 && high < limit;
}

template <class T>
constexpr void enter(RowsLoops& loops) {
  loops.sum_listed[static_cast<int>(dtype_v<T>)] = sum_listed<T>;
  loops.add_row[static_cast<int>(dtype_v<T>)] = add_row<T>;
}

constexpr RowsLoops all_loops() {
  RowsLoops loops;
  enter<std::uint8_t>(loops);
  enter<std::uint16_t>(loops);
  enter<std::uint32_t>(loops);
  enter<std::uint64_t>(loops);
  enter<half>(loops);
  enter<bfloat>(loops);
  enter<float>(loops);
  enter<double>(loops);
  loops.in_range32 = in_range<std::int32_t>;
  loops.in_range64 = in_range<std::int64_t>;
  return loops;
}

}  // namespace

constinit const RowsLoops rows_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
