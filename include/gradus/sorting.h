// Sorting, ranking and searching along an axis. Equal elements keep their order; NaN comes last.
#pragma once
#include "gradus/in.h"

namespace gradus {

enum class Direction : std::uint8_t { ascending, descending };
Tensor sort(In values, int axis = -1, Direction direction = Direction::ascending);
// Positions in sorted order, int32.
Tensor argsort(In values, int axis = -1, Direction direction = Direction::ascending);

// The k largest elements along the last axis, largest first; of equal ones the first.
struct TopK {
  Tensor values, indices;
};
TopK top_k(In input, Size k = 1);

// For each value, how many elements of its sorted row are below it (left) or not above it (right).
enum class Side : std::uint8_t { left, right };
Tensor searchsorted(In sorted_sequence, In values, Side side = Side::left, DType out_type = int32);

// The different values in order of first appearance, for each element the number of its value, and
// how often each occurs. How many there are depends on the data: a compiled function finds it when
// it runs.
struct Unique {
  Tensor y, idx, count;
};
Unique unique(In x, DType out_idx = int32);

}  // namespace gradus
