#include "graph/level.h"

namespace gradus {

Level next_level() {
  static std::atomic<Level> newest{0};
  return newest.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace gradus
