// Long loops that nothing else cuts into chunks: between pieces they look whether the user has
// interrupted (gradus/interrupt.h).
#pragma once
#include <algorithm>
#include <cstdint>

#include "gradus/interrupt.h"

namespace gradus {

// body(i) for all i below n, in order.
template <class F>
void in_pieces(std::int64_t n, F&& body) {
  constexpr std::int64_t kPiece = 1 << 18;  // below a millisecond of anything simple
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    check_interrupt();
    const std::int64_t end = std::min(n, begin + kPiece);
    for (std::int64_t i = begin; i < end; ++i) body(i);
  }
}

}  // namespace gradus
