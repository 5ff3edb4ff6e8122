#include "kernels/row_groups.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/isa.h"
#include "kernels/ranges.h"
#include "kernels/reduce.h"
#include "kernels/rows_loops.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kPiece = 256;

// A row and where it came from; ordering by row alone keeps the order of arrival.
constexpr std::uint64_t pack(std::int64_t row, std::int64_t position) {
  return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(position);
}

// Sorts by the upper half, whose values are below `limit`, least significant digit first. All
// digits are counted in one pass.
std::uint64_t* radix_sort(std::uint64_t* from, std::uint64_t* to, std::int64_t count,
                          std::int64_t limit) {
  constexpr int kWidest = 11;
  const int bits = std::bit_width(static_cast<std::uint64_t>(limit - 1));
  const int digits = (bits + kWidest - 1) / kWidest, width = (bits + digits - 1) / digits;
  const std::uint32_t values = 1u << width;
  const auto digit = [=](std::uint64_t x, int d) { return x >> (32 + d * width) & (values - 1); };
  std::uint32_t places[3][1 << kWidest];
  for (int d = 0; d < digits; ++d) std::fill_n(places[d], values, 0u);
  for (std::int64_t i = 0; i < count; ++i)
    for (int d = 0; d < digits; ++d) ++places[d][digit(from[i], d)];
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* place = places[d];
    std::exclusive_scan(place, place + values, place, 0u);
    for (std::int64_t i = 0; i < count; ++i) to[place[digit(from[i], d)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

}  // namespace

RowGroups::RowGroups(DType index_type, const void* indices, std::int64_t count, std::int64_t limit)
    : memory_(static_cast<std::size_t>(count) * 20 + 8) {
  GRADUS_ASSERT(count < std::int64_t{1} << 32);
  rows_ = memory_.as<std::int64_t>();
  starts_ = rows_ + count;
  positions_ = reinterpret_cast<std::uint32_t*>(starts_ + count + 1);
  if (index_type == int32)
    build(static_cast<const std::int32_t*>(indices), count, limit);
  else
    build(static_cast<const std::int64_t*>(indices), count, limit);
}

// Groups follow from the sorted positions.
template <class RowOf>
void RowGroups::cut(std::int64_t count, RowOf row_of) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t row = row_of(k);
    if (size_ && rows_[size_ - 1] == row) continue;
    rows_[size_] = row;
    starts_[size_++] = k;
  }
  starts_[size_] = count;
}

template <class Index>
void RowGroups::build(const Index* indices, std::int64_t count, std::int64_t limit) {
  if (std::is_sorted(indices, indices + count) && (count == 0 || indices[0] >= 0)) {
    std::iota(positions_, positions_ + count, 0u);
    cut(count, [&](std::int64_t k) { return static_cast<std::int64_t>(indices[k]); });
    return;
  }
  if (limit <= std::max<std::int64_t>(4 * count, 1 << 16)) {  // count, then place
    Scratch memory(static_cast<std::size_t>(limit) * 4);
    auto* end = memory.as<std::uint32_t>();
    std::fill_n(end, limit, 0u);
    for (std::int64_t i = 0; i < count; ++i)
      if (indices[i] >= 0) ++end[indices[i]];
    std::uint32_t total = 0;
    for (std::int64_t row = 0; row < limit; ++row) {
      if (end[row]) {
        rows_[size_] = row;
        starts_[size_++] = total;
      }
      total += std::exchange(end[row], total);
    }
    starts_[size_] = total;
    for (std::int64_t i = 0; i < count; ++i)
      if (indices[i] >= 0) positions_[end[indices[i]]++] = static_cast<std::uint32_t>(i);
    return;
  }
  std::int64_t used = 0;
  if (limit <= std::int64_t{1} << 32) {
    Scratch memory(static_cast<std::size_t>(count) * 16);
    auto* packed = memory.as<std::uint64_t>();
    for (std::int64_t i = 0; i < count; ++i)
      if (indices[i] >= 0) packed[used++] = pack(indices[i], i);
    const std::uint64_t* sorted = radix_sort(packed, packed + count, used, limit);
    for (std::int64_t k = 0; k < used; ++k) positions_[k] = static_cast<std::uint32_t>(sorted[k]);
    cut(used, [&](std::int64_t k) { return static_cast<std::int64_t>(sorted[k] >> 32); });
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    if (indices[i] >= 0) positions_[used++] = static_cast<std::uint32_t>(i);
  std::stable_sort(positions_, positions_ + used,
                   [&](std::uint32_t a, std::uint32_t b) { return indices[a] < indices[b]; });
  cut(used, [&](std::int64_t k) { return static_cast<std::int64_t>(indices[positions_[k]]); });
}

namespace {

// How sums over t are computed: with the loops of `loop`, `unit` numbers per element, giving `sum`.
struct SumTypes {
  DType loop, sum;
  std::int64_t unit;
};

SumTypes sum_types(DType t) {
  constexpr DType kUnsigned[] = {uint8, uint8, uint16, uint32, uint64};
  if (is_complex(t)) {
    const DType real = t == complex64 ? float32 : float64;
    return {real, real, 2};
  }
  const DType loop = t <= int64 ? kUnsigned[static_cast<int>(t)] : t;
  return {loop, loop == float16 || loop == bfloat16 ? float32 : loop, 1};
}

// Rows are anywhere in memory: those of the next few groups are asked for early.
void prefetch_row(const char* row, std::int64_t bytes) {
  for (std::int64_t b = 0; b < std::min<std::int64_t>(bytes, 512); b += 64)
    __builtin_prefetch(row + b);
}

const RowsLoops& loops() {
  static const RowsLoops& picked = pick(baseline::rows_loops, avx2::rows_loops, avx512::rows_loops);
  return picked;
}

// The sum of more than kPiece rows: pieces, then their sums level by level.
void sum_many(SumTypes types, const void* values, const std::uint32_t* positions,
              std::int64_t count, std::int64_t width, void* out) {
  const auto sum_listed = loops().sum_listed[static_cast<int>(types.loop)];
  const std::int64_t pieces = (count + kPiece - 1) / kPiece;
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(size_of(types.loop));
  const std::int64_t sum_bytes = width * static_cast<std::int64_t>(size_of(types.sum));
  Scratch partial(static_cast<std::size_t>(pieces * sum_bytes));
  parallel_ranges(pieces, grain_of(kPiece * row_bytes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      sum_listed(values, positions + p * kPiece, std::min(kPiece, count - p * kPiece), width,
                 partial.as<char>() + p * sum_bytes);
  });
  reduce_axis(Reduction::sum, types.sum, partial.data(), 1, pieces, width, out);
}

// Calls sink(g, sum) for every group, from several threads; sum has width numbers of types.sum.
template <class Sink>
void for_each_sum(SumTypes types, const RowGroups& groups, const void* values, std::int64_t width,
                  Sink sink) {
  const auto sum_listed = loops().sum_listed[static_cast<int>(types.loop)];
  const std::int64_t* starts = groups.starts();
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(size_of(types.loop));
  const std::int64_t sum_bytes = width * static_cast<std::int64_t>(size_of(types.sum));

  // Ranges of groups with about the same number of updates; long groups are done apart.
  std::vector<std::int64_t> cuts = {0}, long_groups;
  const std::int64_t grain = grain_of(row_bytes);
  for (std::int64_t g = 0; g < groups.size(); ++g) {
    if (starts[g + 1] - starts[g] > kPiece) long_groups.push_back(g);
    if (starts[g + 1] - starts[cuts.back()] >= grain || g + 1 == groups.size())
      cuts.push_back(g + 1);
  }
  const auto ranges = static_cast<std::int64_t>(cuts.size()) - 1;
  parallel_ranges(ranges, 1, [&](std::int64_t begin, std::int64_t end) {
    Scratch sum(static_cast<std::size_t>(sum_bytes));
    for (std::int64_t g = cuts[begin]; g < cuts[end]; ++g) {
      const std::int64_t count = starts[g + 1] - starts[g];
      if (count > kPiece) continue;
      const std::uint32_t* positions = groups.positions() + starts[g];
      if (g + 4 < groups.size())
        prefetch_row(static_cast<const char*>(values) +
                         std::int64_t{groups.positions()[starts[g + 4]]} * row_bytes,
                     row_bytes);
      if (count == 1 && types.loop == types.sum) {
        sink(g, static_cast<const char*>(values) + std::int64_t{positions[0]} * row_bytes);
      } else {
        sum_listed(values, positions, count, width, sum.data());
        sink(g, sum.data());
      }
    }
  });
  for (const std::int64_t g : long_groups) {
    Scratch sum(static_cast<std::size_t>(sum_bytes));
    sum_many(types, values, groups.positions() + starts[g], starts[g + 1] - starts[g], width,
             sum.data());
    sink(g, sum.data());
  }
}

}  // namespace

void sum_rows(DType t, const void* values, std::span<const std::uint32_t> positions,
              std::int64_t width, void* out) {
  const SumTypes types = sum_types(t);
  const auto count = static_cast<std::int64_t>(positions.size()), n = width * types.unit;
  const bool rounded = types.loop != types.sum;
  Scratch wide(rounded ? static_cast<std::size_t>(n) * size_of(types.sum) : 0);
  void* sum = rounded ? wide.data() : out;
  if (count > kPiece)
    sum_many(types, values, positions.data(), count, n, sum);
  else
    loops().sum_listed[static_cast<int>(types.loop)](values, positions.data(), count, n, sum);
  if (rounded) loops().add_row[static_cast<int>(types.loop)](sum, n, false, false, out);
}

void sum_groups(DType t, const RowGroups& groups, const void* values, std::int64_t width,
                void* out) {
  const SumTypes types = sum_types(t);
  const std::int64_t n = width * types.unit,
                     row_bytes = width * static_cast<std::int64_t>(size_of(t));
  for_each_sum(types, groups, values, n, [&](std::int64_t g, const void* sum) {
    loops().add_row[static_cast<int>(types.loop)](sum, n, false, false,
                                                  static_cast<char*>(out) + g * row_bytes);
  });
}

void add_groups(DType t, const RowGroups& groups, const void* values, std::int64_t width, void* out,
                bool subtract) {
  const SumTypes types = sum_types(t);
  const std::int64_t n = width * types.unit,
                     row_bytes = width * static_cast<std::int64_t>(size_of(t));
  for_each_sum(types, groups, values, n, [&](std::int64_t g, const void* sum) {
    if (g + 2 < groups.size())
      prefetch_row(static_cast<char*>(out) + groups.rows()[g + 2] * row_bytes, row_bytes);
    loops().add_row[static_cast<int>(types.loop)](
        sum, n, true, subtract, static_cast<char*>(out) + groups.rows()[g] * row_bytes);
  });
}

}  // namespace gradus::kernels
