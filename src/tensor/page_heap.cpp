#include "tensor/page_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace gradus {
namespace {

constexpr std::size_t kPage = 4096, kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargestGrowth = std::size_t{64} << 20;

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::byte* map_region(std::size_t bytes) {
  void* p =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(p);
  const std::size_t head = round_up(reinterpret_cast<std::uintptr_t>(p), kHugePage) -
                           reinterpret_cast<std::uintptr_t>(p);
  if (head != 0) munmap(start, head);
  if (head != kHugePage) munmap(start + head + bytes, kHugePage - head);
  madvise(start + head, bytes, MADV_HUGEPAGE);  // advice: failure does not matter
  return start + head;
}

}  // namespace

PageHeap::FreeBlocks::node_type PageHeap::new_node(std::size_t size, Address address) {
  return free_blocks_.extract(free_blocks_.emplace(size, address).first);
}

void PageHeap::insert_free(Blocks::iterator block) noexcept {
  block->second.free = true;
  block->second.node.value() = {block->second.size, block->first};
  free_blocks_.insert(std::move(block->second.node));
}

void PageHeap::join_with_next(Blocks::iterator block) noexcept {
  const auto next = std::next(block);
  if (next == blocks_.end() || !next->second.free || next->second.starts_region) return;
  free_blocks_.erase({next->second.size, next->first});
  block->second.size += next->second.size;
  blocks_.erase(next);
}

void* PageHeap::take(std::size_t bytes) {
  const std::size_t size = round_up(bytes, granularity_);
  const auto fit = free_blocks_.lower_bound({size, nullptr});
  if (fit == free_blocks_.end()) return nullptr;
  const auto block = blocks_.find(fit->second);
  if (block->second.size > size) {
    const Address rest = block->first + size;
    const std::size_t rest_size = block->second.size - size;
    // What may throw comes first; on failure nothing has changed.
    auto node = new_node(rest_size, rest);
    const auto added = blocks_.emplace_hint(std::next(block), rest,
                                            Block{rest_size, true, false, FreeBlocks::node_type{}});
    free_blocks_.insert(std::move(node));
    block->second.size = added->first - block->first;
  }
  block->second.node = free_blocks_.extract(fit);
  block->second.free = false;
  free_ -= size;
  return block->first;
}

bool PageHeap::grow(std::size_t bytes, std::size_t allowance) {
  const std::size_t least = round_up(bytes, kHugePage);
  std::size_t size = std::max(least, std::min(round_up(reserved_ / 4, kHugePage), kLargestGrowth));
  if (size > allowance) size = least;
  if (size > allowance) return false;
  const Address start = map_region(size);
  if (start == nullptr) return false;
  try {
    auto node = new_node(size, start);
    const auto block = blocks_.emplace(start, Block{size, true, true, std::move(node)}).first;
    insert_free(block);
  } catch (const std::bad_alloc&) {
    munmap(start, size);
    return false;
  }
  reserved_ += size;
  free_ += size;
  return true;
}

void PageHeap::give(void* p) noexcept {
  auto block = blocks_.find(static_cast<Address>(p));
  free_ += block->second.size;
  join_with_next(block);
  if (block != blocks_.begin() && !block->second.starts_region) {
    const auto before = std::prev(block);
    if (before->second.free) {
      before->second.node = free_blocks_.extract({before->second.size, before->first});
      before->second.size += block->second.size;
      blocks_.erase(block);
      block = before;
    }
  }
  insert_free(block);
}

void PageHeap::release(std::size_t keep) noexcept {
  auto candidate = free_blocks_.end();
  while (free_ > keep && candidate != free_blocks_.begin()) {
    --candidate;
    const auto block = blocks_.find(candidate->second);
    const auto next = std::next(block);
    const bool whole_region =
        block->second.starts_region && (next == blocks_.end() || next->second.starts_region);
    if (!whole_region) continue;
    munmap(block->first, block->second.size);
    reserved_ -= block->second.size;
    free_ -= block->second.size;
    candidate = free_blocks_.erase(candidate);
    blocks_.erase(block);
  }
}

void PageHeap::discard_free_pages() noexcept {
  for (const auto& [size, address] : free_blocks_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::size_t first = round_up(begin, kPage), end = (begin + size) / kPage * kPage;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }
}

}  // namespace gradus
