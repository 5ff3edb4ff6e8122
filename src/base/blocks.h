// Results that are made block by block and taken over one after the other.
//
// A kernel that can work this way calls the taker once for each rectangle of its result, seen as a
// matrix whose rows are all axes but the last. The taker says where the rectangle goes, has it
// computed, and then does with it what comes next, while it is still in a cache. Blocks come in
// any order and on any thread, and cover every element once. Where they end may follow from the
// number of threads, so what a taker makes of an element must not depend on its block. A block with
// all columns is computed to one place without gaps between its rows.
#pragma once
#include <cstdint>

#include "base/function_ref.h"

namespace gradus {

struct Block {
  std::int64_t row, rows, col, cols;
};

using ComputeBlock = FunctionRef<void(void* to, std::int64_t row_bytes)>;
using BlockTaker = FunctionRef<void(const Block& block, ComputeBlock compute)>;

}  // namespace gradus
