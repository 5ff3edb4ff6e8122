#include "autodiff/cotangent_table.h"

#include <cstring>

#include "autodiff/rules.h"
#include "graph/context.h"
#include "tensor/tensor_impl.h"

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

const Tensor* CotangentTable::accumulator(std::uint32_t value) {
  if (!has(value)) return nullptr;
  Cotangent& sum = slots_[slot_of_[value] - 1];
  if (sum.is_rows() || sum.is_spread() || !is_plain(sum.value())) return nullptr;
  if (!is_unique(sum.value())) {
    const Tensor copy = make_tensor(sum.value().dtype(), sum.value().shape());
    std::memcpy(copy.impl()->data, sum.value().raw_data(), copy.num_bytes());
    sum = copy;
  }
  return &sum.value();
}

}  // namespace gradus
