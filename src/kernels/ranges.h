// parallel_for over ranges: [0, n) in pieces of `grain` items, which the caller derives from the
// problem alone (see kGrainBytes), so that the pieces are the same at any number of threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace gradus::kernels {

// One piece should move about this much memory: some 10 us, well above the cost of handing it out.
inline constexpr std::int64_t kGrainBytes = 256 * 1024;

inline std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// How many items of `bytes` each make up one piece.
inline std::int64_t grain_of(std::int64_t bytes) {
  return std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, bytes));
}

// The same for rows that lie anywhere in memory, which takes longer.
inline std::int64_t grain_of_rows(std::int64_t bytes) { return grain_of(4 * bytes); }

template <class Body>
void parallel_ranges(std::int64_t n, std::int64_t grain, Body&& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  parallel_for((n + grain - 1) / grain,
               [&](std::int64_t piece) { body(piece * grain, std::min(n, (piece + 1) * grain)); });
}

}  // namespace gradus::kernels
