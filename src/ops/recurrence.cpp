#include "ops/recurrence.h"

#include "base/check.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "ops/checks.h"

namespace gradus {

void check_operand_count(const Call& call, std::size_t count) {
  if (call.in.size() != count && call.in.size() != count + 1) {
    fail<InvalidArgumentError>("[", call.op.name(), "] got ", call.in.size(),
                               " operands; expected ", count, ", or one more for the mask");
  }
  check_same_dtype({call.op, call.attrs, call.in.first(count)});
}

void check_mask(const Call& call, std::size_t i) {
  if (call.in.size() <= i) return;
  const Shape &mask = *call.in[i].shape, &x = call.shape(0);
  if (call.in[i].dtype != bool_ || !shapes_agree(mask, Shape{x[0], x[1]})) {
    fail<InvalidArgumentError>("[", call.op.name(), "] got a mask of ", name_of(call.in[i].dtype),
                               " with shape ", mask, "; it must be bool ", Shape{x[0], x[1]});
  }
}

Tensor last_state(const Tensor& all, int time_axis) {
  Shape begin{0, 0, 0}, size{-1, -1, -1};
  begin[time_axis] = all.shape()[time_axis] - 1;
  size[time_axis] = 1;
  return squeeze(slice(all, begin, size), {time_axis});
}

Sample with_mask(Sample plain) {
  plain.in.push_back({{plain.in[0].shape[0], plain.in[0].shape[1]}, 0, 1, Fill::boolean});
  return plain;
}

}  // namespace gradus
