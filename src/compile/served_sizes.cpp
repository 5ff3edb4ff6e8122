#include "compile/served_sizes.h"

#include <algorithm>

#include "graph/bind.h"

namespace gradus {

void ServedSizes::check(const Graph& graph, const Sizes& sizes) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(known_, sizes) != known_.end()) return;
  }
  check_sizes(graph, sizes);
  constexpr std::size_t kMost = 64;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMost) known_.clear();
  known_.push_back(sizes);
}

}  // namespace gradus
