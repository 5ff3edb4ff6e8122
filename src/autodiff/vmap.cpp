#include "gradus/vmap.h"

#include "base/check.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/axes.h"

namespace gradus::detail {

Mapping::Mapping(std::vector<InAxis> axes, std::size_t arguments)
    : axes_(std::move(axes)), level_(next_level()) {
  if (axes_.empty()) axes_.assign(arguments, 0);
  if (axes_.size() != arguments) {
    fail<InvalidArgumentError>("[vmap] got ", axes_.size(), " in_axes for ", arguments,
                               " arguments; give one per argument, or none to map axis 0 of all");
  }
  bool any = false;
  for (const InAxis& axis : axes_) any |= axis.has_value();
  if (!any) {
    fail<InvalidArgumentError>(
        "[vmap] no argument is mapped; at least one in_axes must be an axis, not nullopt");
  }
}

Tensor Mapping::split(std::size_t argument, const Tensor& batch) {
  if (!axes_[argument]) return batch;
  if (batch.rank() == 0) {
    fail<InvalidArgumentError>("[vmap] argument ", argument,
                               " is a scalar and has no axis to map; give std::nullopt as its "
                               "in_axes to share it between the examples");
  }
  const int axis = normal_axis("vmap", *axes_[argument], batch.rank());
  Tensor front = batch;
  if (axis != 0) {
    Ints order{axis};
    for (int i = 0; i < batch.rank(); ++i)
      if (i != axis) order.push_back(i);
    front = transpose(batch, order);
  }
  const Size size = front.shape()[0];
  if (is_same(size_, -1)) size_ = size;
  if (!sizes_agree(size, size_)) {
    fail<InvalidArgumentError>("[vmap] argument ", argument, " of shape ", batch.shape(), " has ",
                               size, " examples along axis ", axis, ", the arguments before it ",
                               size_, "; they must agree");
  }
  return make_batched(front, level_);
}

Tensor Mapping::join(const Tensor& example) const {
  if (level_of(example) > level_) {
    fail<InvalidArgumentError>(
        "[vmap] the function returned a tensor of a vmap or trace inside it, which has ended; "
        "return it from there instead of keeping it");
  }
  return unbatch(example, level_, size_);
}

}  // namespace gradus::detail
