#include "kernels/scratch.h"

#include <bit>
#include <new>

#include "base/check.h"

namespace gradus::kernels {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr int kSlots = 4;

// Free blocks of this thread, smallest demands first served by whichever block is large enough.
struct FreeBlocks {
  void* data[kSlots] = {};
  std::size_t capacity[kSlots] = {};

  ~FreeBlocks() {
    for (void* block : data)
      if (block) ::operator delete(block, kAlignment);
  }
};

thread_local FreeBlocks free_blocks;

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  FreeBlocks& kept = free_blocks;
  int best = -1;
  for (int i = 0; i < kSlots; ++i)
    if (kept.data[i] && kept.capacity[i] >= bytes &&
        (best < 0 || kept.capacity[i] < kept.capacity[best]))
      best = i;
  if (best >= 0) {
    data_ = kept.data[best];
    capacity_ = kept.capacity[best];
    kept.data[best] = nullptr;
    return;
  }
  capacity_ = bytes <= kMaxKept ? std::bit_ceil(bytes < 4096 ? std::size_t{4096} : bytes) : bytes;
  data_ = ::operator new(capacity_, kAlignment, std::nothrow);
  if (!data_)
    fail<ResourceExhaustedError>("out of memory: a kernel needs ", bytes, " bytes to work in");
}

Scratch::~Scratch() {
  FreeBlocks& kept = free_blocks;
  void* victim = data_;
  if (capacity_ <= kMaxKept) {
    int slot = 0;  // an empty slot, or else the smallest block
    for (int i = 0; i < kSlots; ++i) {
      if (!kept.data[i]) {
        slot = i;
        break;
      }
      if (kept.capacity[i] < kept.capacity[slot]) slot = i;
    }
    if (!kept.data[slot] || kept.capacity[slot] < capacity_) {
      victim = kept.data[slot];
      kept.data[slot] = data_;
      kept.capacity[slot] = capacity_;
    }
  }
  if (victim) ::operator delete(victim, kAlignment);
}

}  // namespace gradus::kernels
