#include "ops/axes.h"

#include "base/check.h"

namespace gradus {

int normal_axis(const char* op, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    fail<InvalidArgumentError>("[", op, "] axis ", axis, " is out of range for a tensor of rank ",
                               rank, "; it must be in [", -rank, ", ", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ints normal_axes(const char* op, const Ints& axes, int rank) {
  bool seen[kMaxRank] = {};
  for (std::int64_t axis : axes) {
    bool& here = seen[normal_axis(op, axis, rank)];
    if (here) fail<InvalidArgumentError>("[", op, "] axes ", axes, " name axis ", axis, " twice");
    here = true;
  }
  Ints sorted;
  for (int i = 0; i < rank; ++i)
    if (seen[i]) sorted.push_back(i);
  return sorted;
}

Ints all_axes(int rank) {
  Ints axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace gradus
