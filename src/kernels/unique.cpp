#include "kernels/unique.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/in_pieces.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

template <class T>
std::uint64_t hash(T x) {
  if (x == T(0)) return 0;  // also -0
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  bits *= 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: consecutive keys land far apart
  return bits ^ bits >> 32;
}

template <class T>
std::int64_t unique_of(const T* in, std::int64_t n, T* values, std::int64_t* numbers,
                       std::int64_t* counts) {
  // Open addressing: each slot holds the number of a value, or -1; at most half of them are taken.
  const std::uint64_t slots =
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(8, 2 * n)));
  Scratch memory(slots * sizeof(std::int64_t));
  auto* table = memory.as<std::int64_t>();
  in_pieces(static_cast<std::int64_t>(slots), [&](std::int64_t i) { table[i] = -1; });
  std::int64_t found = 0;
  in_pieces(n, [&](std::int64_t i) {
    const T x = in[i];
    const bool is_nan = x != x;  // NOLINT(misc-redundant-expression)
    if (is_nan) {                // equal to nothing, so not worth a slot
      values[found] = x;
      if (counts) counts[found] = 1;
      numbers[i] = found++;
      return;
    }
    std::uint64_t slot = hash(x) & (slots - 1);
    while (table[slot] >= 0 && values[table[slot]] != x) slot = (slot + 1) & (slots - 1);
    if (table[slot] < 0) {
      table[slot] = found;
      values[found] = x;
      if (counts) counts[found] = 0;
      ++found;
    }
    numbers[i] = table[slot];
    if (counts) ++counts[table[slot]];
  });
  return found;
}

}  // namespace

std::int64_t unique(DType t, const void* in, std::int64_t n, void* values, std::int64_t* numbers,
                    std::int64_t* counts) {
  std::int64_t found = 0;
  visit_dtype(t, [&]<class T>(T) {
    if constexpr (!is_complex(dtype_v<T>))
      found = unique_of(static_cast<const T*>(in), n, static_cast<T*>(values), numbers, counts);
  });
  return found;
}

}  // namespace gradus::kernels
