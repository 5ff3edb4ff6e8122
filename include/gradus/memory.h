// Memory of tensors: how much is used, and how much may be.
//
// Freed memory is kept for reuse, because fresh pages are much dearer than the work done on them.
// What is kept is capped (a quarter of the machine's memory, at least 1 GiB), and everything is
// given back before an allocation is allowed to fail. A failed allocation throws
// ResourceExhaustedError, and everything works as before.
#pragma once
#include <cstddef>

namespace gradus {

struct MemoryStats {
  std::size_t live = 0;      // bytes in use, each block rounded up to 64
  std::size_t peak = 0;      // the largest `live` so far; exact while one thread allocates, else
                             // within 256 KiB per thread
  std::size_t reserved = 0;  // bytes taken from the system: in use, kept for reuse, or lost to
                             // fragmentation
};

MemoryStats memory_stats();
void reset_peak_memory();  // peak = live

// Tensors will not take more than this from the system; 0 means no limit but the machine's.
void set_memory_limit(std::size_t bytes);

// Gives memory that is kept for reuse back to the system. Other threads give back theirs when
// they next run out of, or overflow, what they keep.
void trim_memory();

}  // namespace gradus
