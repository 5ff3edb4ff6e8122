// Small blocks of one size, cut from spans. A span is a run of 256 KiB, aligned to its size, with
// this header at its start: masking a block's address finds its span. Blocks are cut off one by
// one when first needed, so that a span's memory is touched no earlier than it is used. Not
// thread-safe: the allocator's lock guards all lists.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tensor/page_heap.h"

namespace gradus {

inline constexpr std::size_t kSpanBytes = std::size_t{256} << 10;

// A free block holds the address of the next one.
struct FreeBlock {
  FreeBlock* next;
};

struct alignas(64) Span {
  Span* next;
  Span* before;
  FreeBlock* free;       // blocks that were given back
  std::uint32_t used;    // blocks that are out
  std::uint32_t cut;     // blocks that were ever out
  std::uint32_t blocks;  // that fit in
};
static_assert(sizeof(Span) == 64, "blocks start right after and must be aligned to 64 bytes");

// All spans of one block size that have a free block.
class SpanList {
 public:
  // Null if all blocks are out; then add() a run.
  FreeBlock* take(std::size_t block_size);
  void add(void* run, std::size_t block_size);
  // A span that becomes wholly free goes back to `runs`, unless it is the only one in the list:
  // one stays, so that a size in steady use does not go to and fro.
  void give(FreeBlock* block, PageHeap& runs) noexcept;
  void release_empty(PageHeap& runs) noexcept;

 private:
  void link(Span* span);
  void unlink(Span* span);
  Span* first_ = nullptr;
};

}  // namespace gradus
