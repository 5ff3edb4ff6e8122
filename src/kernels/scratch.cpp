#include "kernels/scratch.h"

#include <sys/mman.h>

#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"

namespace gradus::kernels {
namespace {

constexpr std::align_val_t kAlignment{64}, kHugePage{std::size_t{2} << 20};

struct Block {
  void* data = nullptr;
  std::size_t capacity = 0;
};

// A block of at least `bytes`, new.
Block create(std::size_t bytes) {
  Block block;
  if (bytes < Scratch::kLarge) {
    block.capacity = std::bit_ceil(bytes < 4096 ? std::size_t{4096} : bytes);
    block.data = ::operator new(block.capacity, kAlignment, std::nothrow);
  } else {
    constexpr auto kPage = static_cast<std::size_t>(kHugePage);
    block.capacity = (bytes + kPage - 1) / kPage * kPage;
    block.data = ::operator new(block.capacity, kHugePage, std::nothrow);
    if (block.data) madvise(block.data, block.capacity, MADV_HUGEPAGE);
  }
  return block;
}

void destroy(const Block& block) {
  ::operator delete(block.data, block.capacity <= Scratch::kLarge ? kAlignment : kHugePage);
}

// A few free blocks. The smallest that is large enough is taken; when full, the smallest goes.
class FreeBlocks {
 public:
  ~FreeBlocks() {
    for (const Block& block : blocks_)
      if (block.data) destroy(block);
  }

  Block take(std::size_t bytes) {
    Block* best = nullptr;
    for (Block& block : blocks_)
      if (block.data && block.capacity >= bytes && (!best || block.capacity < best->capacity))
        best = &block;
    if (!best) return {};
    total_ -= best->capacity;
    return std::exchange(*best, {});
  }

  // Returns a block that has to be destroyed instead, if any.
  Block give(const Block& block) {
    Block* slot = &blocks_[0];
    for (Block& other : blocks_)
      if (other.capacity < slot->capacity) slot = &other;
    if (slot->capacity >= block.capacity ||
        total_ - slot->capacity + block.capacity > Scratch::kMaxKept)
      return block;
    total_ += block.capacity - slot->capacity;
    return std::exchange(*slot, block);
  }

 private:
  static constexpr int kSlots = 4;
  Block blocks_[kSlots];
  std::size_t total_ = 0;
};

thread_local FreeBlocks small_blocks;

// Never destroyed: kernels may run until the process ends.
struct LargeBlocks {
  std::mutex mutex;
  FreeBlocks free;
};
LargeBlocks& large_blocks() {
  static auto* blocks = new LargeBlocks;
  return *blocks;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  Block block;
  if (bytes < kLarge) {
    block = small_blocks.take(bytes);
  } else {
    LargeBlocks& shared = large_blocks();
    const std::lock_guard lock(shared.mutex);
    block = shared.free.take(bytes);
  }
  if (!block.data) block = create(bytes);
  if (!block.data)
    fail<ResourceExhaustedError>("out of memory: a kernel needs ", bytes, " bytes to work in");
  data_ = block.data;
  capacity_ = block.capacity;
}

Scratch::~Scratch() {
  Block victim;
  if (capacity_ <= kLarge) {  // large ones are at least a huge page
    victim = small_blocks.give({data_, capacity_});
  } else {
    LargeBlocks& shared = large_blocks();
    const std::lock_guard lock(shared.mutex);
    victim = shared.free.give({data_, capacity_});
  }
  if (victim.data) destroy(victim);
}

}  // namespace gradus::kernels
