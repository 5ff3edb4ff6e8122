// Every element becomes an unsigned key in the order wanted, with its position behind it: one
// 64-bit word for types of up to 32 bits, two for the others. Different positions make all words
// different, so any sort of them is stable; long rows are sorted by radix.
#include "kernels/sort.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/in_pieces.h"
#include "kernels/ranges.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kRadixFrom = 128;  // shorter rows are sorted by comparisons
// More best ones than these are found by sorting all: choosing and sorting them by comparisons
// would not look at the interrupt flag for too long.
constexpr std::int64_t kMostChosen = 1 << 16;

// An unsigned number that orders like x; NaN above all. Bits beyond those of T are zero.
template <class T>
std::uint64_t key_of(T x) {
  constexpr int kBits = 8 * sizeof(T);
  constexpr std::uint64_t kSign = std::uint64_t{1} << (kBits - 1), kAll = kSign | (kSign - 1);
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return (static_cast<std::uint64_t>(x) & kAll) ^ kSign;
  } else {
    const bool is_nan = x != x;  // NOLINT(misc-redundant-expression)
    if (is_nan) return kAll;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    if ((bits & ~kSign) == 0) return kSign;  // 0 and -0
    return bits & kSign ? ~bits & kAll : bits | kSign;
  }
}

template <class T>
std::uint64_t key_of(T x, bool descending) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0} >> (64 - 8 * sizeof(T));
  const std::uint64_t key = key_of(x);
  const bool is_nan = x != x;  // NOLINT(misc-redundant-expression)
  return descending && !is_nan ? ~key & kAll : key;
}

// A key of up to 32 bits and a position.
struct Narrow {
  std::uint64_t word;
  Narrow() = default;
  Narrow(std::uint64_t key, std::uint32_t position) : word(key << 32 | position) {}
  std::uint64_t key() const { return word >> 32; }
  std::uint32_t position() const { return static_cast<std::uint32_t>(word); }
  bool operator<(const Narrow& other) const { return word < other.word; }
};

// A key of up to 64 bits and a position.
struct Wide {
  std::uint64_t bits;
  std::uint64_t place;
  Wide() = default;
  Wide(std::uint64_t key, std::uint32_t position) : bits(key), place(position) {}
  std::uint64_t key() const { return bits; }
  std::uint32_t position() const { return static_cast<std::uint32_t>(place); }
  bool operator<(const Wide& other) const {
    return bits < other.bits || (bits == other.bits && place < other.place);
  }
};

template <class T>
using Entry = std::conditional_t<(sizeof(T) <= 4), Narrow, Wide>;

// By key alone, keeping the order of equals; entries arrive in the order of their positions.
// Returns the sorted one of the two buffers.
template <class E>
E* radix_sort(E* from, E* to, std::int64_t n, int key_bits) {
  constexpr int kDigit = 8;
  constexpr int kValues = 1 << kDigit;
  for (int shift = 0; shift < key_bits; shift += kDigit) {
    std::int64_t place[kValues] = {};
    const auto digit = [shift](const E& e) { return e.key() >> shift & (kValues - 1); };
    in_pieces(n, [&](std::int64_t i) { ++place[digit(from[i])]; });
    if (place[digit(from[0])] == n) continue;  // all the same
    std::exclusive_scan(std::begin(place), std::end(place), std::begin(place), std::int64_t{0});
    in_pieces(n, [&](std::int64_t i) { to[place[digit(from[i])]++] = from[i]; });
    std::swap(from, to);
  }
  return from;
}

template <class E>
E* sort_entries(E* entries, E* other, std::int64_t n, int key_bits) {
  if (n >= kRadixFrom) return radix_sort(entries, other, n, key_bits);
  std::sort(entries, entries + n);
  return entries;
}

// The first k of each row in order.
template <class T>
void sort_rows(bool descending, const T* in, std::int64_t rows, std::int64_t n, std::int64_t k,
               T* values, std::int32_t* positions) {
  using E = Entry<T>;
  parallel_ranges(rows, grain_of(n * 64), [&](std::int64_t begin, std::int64_t end) {
    Scratch memory(static_cast<std::size_t>(2 * n) * sizeof(E));
    for (std::int64_t r = begin; r < end; ++r) {
      E* entries = memory.as<E>();
      in_pieces(n, [&](std::int64_t i) {
        entries[i] = E(key_of(in[r * n + i], descending), static_cast<std::uint32_t>(i));
      });
      entries = sort_entries(entries, entries + n, n, 8 * static_cast<int>(sizeof(T)));
      in_pieces(k, [&](std::int64_t i) {
        if (values) values[r * k + i] = in[r * n + entries[i].position()];
        if (positions) positions[r * k + i] = static_cast<std::int32_t>(entries[i].position());
      });
    }
  });
}

template <class T>
void top_k_rows(const T* in, std::int64_t rows, std::int64_t n, std::int64_t k, T* values,
                std::int32_t* positions) {
  using E = Entry<T>;
  parallel_ranges(rows, grain_of(n * 16), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t room = std::min(n, std::max<std::int64_t>(4 * k, 256));
    Scratch memory(static_cast<std::size_t>(room) * sizeof(E));
    for (std::int64_t r = begin; r < end; ++r) {
      // Candidates gather until there is no room; then only the best k stay, and the worst of them
      // is what a newcomer has to beat.
      E* best = memory.as<E>();
      std::int64_t count = 0;
      std::uint64_t worst = 0;
      bool full = false;
      in_pieces(n, [&](std::int64_t i) {
        const std::uint64_t key = key_of(in[r * n + i], true);
        if (full && key >= worst) return;  // an equal one came earlier
        if (count == room) {
          std::nth_element(best, best + k - 1, best + count);
          count = k;
          worst = best[k - 1].key();
          full = true;
          if (key >= worst) return;
        }
        best[count++] = E(key, static_cast<std::uint32_t>(i));
      });
      if (count > k) std::nth_element(best, best + k - 1, best + count);
      std::sort(best, best + k);
      for (std::int64_t i = 0; i < k; ++i) {
        values[r * k + i] = in[r * n + best[i].position()];
        positions[r * k + i] = static_cast<std::int32_t>(best[i].position());
      }
    }
  });
}

template <class F>
void visit_real(DType t, F&& f) {
  visit_dtype(t, [&]<class T>(T zero) {
    if constexpr (!is_complex(dtype_v<T>)) f(zero);
  });
}

}  // namespace

void sort(Direction direction, DType t, const void* in, std::int64_t rows, std::int64_t n,
          void* values, std::int32_t* positions) {
  if (n == 0) return;
  visit_real(t, [&]<class T>(T) {
    sort_rows(direction == Direction::descending, static_cast<const T*>(in), rows, n, n,
              static_cast<T*>(values), positions);
  });
}

void top_k(DType t, const void* in, std::int64_t rows, std::int64_t n, std::int64_t k, void* values,
           std::int32_t* positions) {
  if (k == 0) return;
  visit_real(t, [&]<class T>(T) {
    if (k > kMostChosen) {
      sort_rows(true, static_cast<const T*>(in), rows, n, k, static_cast<T*>(values), positions);
    } else {
      top_k_rows(static_cast<const T*>(in), rows, n, k, static_cast<T*>(values), positions);
    }
  });
}

void search_sorted(Side side, DType t, const void* sorted, std::int64_t rows, std::int64_t n,
                   const void* values, std::int64_t m, DType index_type, void* out) {
  visit_real(t, [&]<class T>(T) {
    parallel_ranges(rows * m, 2048, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* row = static_cast<const T*>(sorted) + i / m * n;
        const T x = static_cast<const T*>(values)[i];
        const std::int64_t place =
            side == Side::left
                ? std::lower_bound(row, row + n, x, [](T a, T b) { return a < b; }) - row
                : std::upper_bound(row, row + n, x, [](T a, T b) { return a < b; }) - row;
        if (index_type == int32)
          static_cast<std::int32_t*>(out)[i] = static_cast<std::int32_t>(place);
        else
          static_cast<std::int64_t*>(out)[i] = place;
      }
    });
  });
}

}  // namespace gradus::kernels
