#include "ops/checks.h"

#include "base/check.h"
#include "gradus/type_error.h"
#include "graph/symbols.h"

namespace gradus {

void check_same_dtype(const Call& c) {
  for (const View& v : c.in) {
    if (v.dtype == c.in[0].dtype) continue;
    fail<TypeError>("[", c.op.name(), "] got dtypes ", name_of(c.in[0].dtype), " and ",
                    name_of(v.dtype), "; all must be the same, cast one of them");
  }
}

void check_operand_shape(const Call& c, int i, const Shape& expected) {
  if (shapes_agree(c.shape(i), expected)) return;
  fail<InvalidArgumentError>("[", c.op.name(), "] argument ", i, " has shape ", c.shape(i),
                             "; expected ", expected);
}

void check_index_dtype(const Call& c, int i) {
  const DType got = c.in[static_cast<std::size_t>(i)].dtype;
  if (got == int32 || got == int64) return;
  fail<InvalidArgumentError>("[", c.op.name(), "] indices must be int32 or int64, got ",
                             name_of(got));
}

void check_axis(const Call& c, std::int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return;
  fail<InvalidArgumentError>("[", c.op.name(), "] axis ", axis,
                             " is out of range for a tensor of rank ", rank);
}

void check_axes(const Call& c, const Ints& axes, int rank) {
  for (int i = 0; i < axes.rank(); ++i) {
    check_axis(c, axes[i], rank);
    if (i > 0 && axes[i] <= axes[i - 1])
      fail<InvalidArgumentError>("[", c.op.name(), "] got axes ", axes,
                                 "; they must be sorted, each named once");
  }
}

void check_sizes(const Call& c, const char* what, const Shape& shape) {
  for (const Size size : shape) {
    if (is_size(size)) continue;
    fail<InvalidArgumentError>("[", c.op.name(), "] got ", what, " ", shape,
                               "; sizes must be at least 0");
  }
}

void check_numbers(const Call& c, const char* what, const Ints& numbers, int count,
                   std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (numbers.rank() == count && std::all_of(numbers.begin(), numbers.end(), [&](Size x) {
        return !x.is_known() || (x >= least && x <= kMost);
      }))
    return;
  fail<InvalidArgumentError>("[", c.op.name(), "] got ", what, " ", numbers, "; expected ", count,
                             " numbers of at least ", least);
}

}  // namespace gradus
