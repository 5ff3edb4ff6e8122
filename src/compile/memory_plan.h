// Places buffers in one arena so that no two that are alive at the same time overlap.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gradus {

struct Lifetime {
  std::int64_t bytes;
  std::uint32_t first, last;  // steps, both included
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // by buffer, multiples of 64
  std::int64_t bytes = 0;             // of the arena
};

// Buffers in the order in which they begin to live. Walks once through time and takes for each
// buffer the smallest gap that it fits into: n log n.
MemoryPlan plan_memory(std::span<const Lifetime> buffers);

}  // namespace gradus
