// Where the bytes of tensors come from.
//
// allocate() returns memory aligned to 64 bytes with unspecified content; deallocate() wants the
// same size again and may be called on any thread. A pair costs about 5 ns for blocks up to 1 MiB.
// Both work at any time, also while threads end and during static destruction. Three levels:
//   thread cache   free lists in 53 size classes, four per power of two, up to 1 MiB; no locks
//   spans          blocks up to 16 KiB cut from runs of 256 KiB, for all threads (block_span.h)
//   page heaps     everything larger, best fit with coalescing, huge pages (page_heap.h)
// Under AddressSanitizer every block comes from malloc, so that misuse is found.
#pragma once
#include <cstddef>

#include "gradus/memory.h"

namespace gradus {

// Throws ResourceExhaustedError, naming the bytes, when there is no memory for it.
void* allocate(std::size_t bytes);
void deallocate(void* p, std::size_t bytes) noexcept;

}  // namespace gradus
