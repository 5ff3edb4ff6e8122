// Large memory: regions mapped from the system, cut into blocks that are multiples of one
// granularity and aligned to it. Best fit; neighbours that are free are joined. Regions start at
// multiples of 2 MiB and ask for huge pages, since a page fault costs as much as writing several
// pages. The book-keeping is kept apart from the blocks, so that free memory is never touched.
// Not thread-safe: the allocator's lock guards all heaps.
#pragma once
#include <cstddef>
#include <map>
#include <memory_resource>
#include <set>
#include <utility>

namespace gradus {

class PageHeap {
 public:
  // `granularity` divides 2 MiB.
  explicit PageHeap(std::size_t granularity) : granularity_(granularity) {}

  // A block of at least `bytes`, or null if none is free.
  void* take(std::size_t bytes);
  // Maps a region in which a block of `bytes` fits; maps more than that in proportion to what
  // there is already, if `allowance` permits. False if the system or the allowance refuses.
  bool grow(std::size_t bytes, std::size_t allowance);
  void give(void* p) noexcept;

  // Unmaps regions that are wholly free, largest first, until at most `keep` free bytes remain.
  void release(std::size_t keep) noexcept;
  // Gives the pages of all free blocks back to the system; their address space stays.
  void discard_free_pages() noexcept;

  std::size_t reserved_bytes() const { return reserved_; }
  std::size_t free_bytes() const { return free_; }

 private:
  using Address = std::byte*;
  using FreeBlocks = std::pmr::set<std::pair<std::size_t, Address>>;
  struct Block {
    std::size_t size;
    bool free;
    bool starts_region;
    FreeBlocks::node_type node;  // held while in use, so that freeing never allocates
  };
  using Blocks = std::pmr::map<Address, Block>;

  FreeBlocks::node_type new_node(std::size_t size, Address address);
  void insert_free(Blocks::iterator block) noexcept;
  void join_with_next(Blocks::iterator block) noexcept;

  std::size_t granularity_;
  std::size_t reserved_ = 0, free_ = 0;
  std::pmr::unsynchronized_pool_resource nodes_;
  Blocks blocks_{&nodes_};  // all blocks by address
  FreeBlocks free_blocks_{&nodes_};
};

}  // namespace gradus
