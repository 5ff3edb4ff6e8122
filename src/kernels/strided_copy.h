// The one copy loop behind transpose, broadcast, slice, reverse, tile, concat and pad.
//
// An axis says how often to step and how far both sides step, in bytes; steps of the input may be
// zero (broadcast) or negative (reverse), steps of the output may be negative but must not overlap.
// Elements are copied as bits, so any type of 1, 2, 4, 8 or 16 bytes is served.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gradus::kernels {

inline constexpr int kMaxAxes = 64;  // twice the largest rank of an array

struct CopyAxis {
  std::int64_t extent;
  std::int64_t in_step;
  std::int64_t out_step;
};

// `in` and `out` are the addresses of the first element of the walk, the one with all indices zero.
// The two must not overlap. rank <= kMaxAxes.
void strided_copy(std::size_t item_size, const void* in, void* out, const CopyAxis* axes, int rank);

// `count` copies of one item, side by side.
void fill(std::size_t item_size, const void* item, std::int64_t count, void* out);

}  // namespace gradus::kernels
