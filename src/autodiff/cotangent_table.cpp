#include "autodiff/cotangent_table.h"

#include "autodiff/rules.h"
#include "graph/context.h"

namespace gradus {

void CotangentTable::add(std::uint32_t value, Cotangent ct) {
  if (ct.is_zero()) return;
  if (const std::uint32_t slot = slot_of_[value]) {
    Cotangent& sum = slots_[slot - 1];
    sum = add_cotangents(std::move(sum), std::move(ct));
    return;
  }
  if (free_.empty()) {
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot] = std::move(ct);
  slot_of_[value] = slot + 1;
}

Cotangent CotangentTable::take(std::uint32_t value) {
  const std::uint32_t slot = slot_of_[value];
  if (slot == 0) return {};
  slot_of_[value] = 0;
  free_.push_back(slot - 1);
  return std::exchange(slots_[slot - 1], {});
}

const Tensor* CotangentTable::accumulator(std::uint32_t value) const {
  if (!has(value)) return nullptr;
  const Cotangent& sum = peek(value);
  if (sum.is_rows() || sum.is_spread()) return nullptr;
  return is_plain(sum.value()) && is_unique(sum.value()) ? &sum.value() : nullptr;
}

}  // namespace gradus
