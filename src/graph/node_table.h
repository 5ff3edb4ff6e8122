// Nodes by the hash of what they are, for value numbering: one array, because a graph of 10^5 nodes
// makes and frees a table in every pass.
#pragma once
#include <cstdint>
#include <vector>

namespace gradus {

class NodeTable {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  // A node with this hash for which `is_same` holds, or kNone.
  template <class F>
  std::uint32_t find(std::uint64_t hash, F is_same) const {
    if (slots_.empty()) return kNone;
    const auto low = static_cast<std::uint32_t>(hash);
    for (std::size_t at = low & mask(); slots_[at].node != kNone; at = (at + 1) & mask())
      if (slots_[at].hash == low && is_same(slots_[at].node)) return slots_[at].node;
    return kNone;
  }

  void add(std::uint64_t hash, std::uint32_t node) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    put({static_cast<std::uint32_t>(hash), node});
    ++count_;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0, node = kNone;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  void put(Slot slot) {
    std::size_t at = slot.hash & mask();
    while (slots_[at].node != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.node != kNone) put(s);
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  std::size_t count_ = 0;
};

}  // namespace gradus
