// Ops whose result has a size that depends on the data. They look at values, so they run eagerly
// only; inside a traced or mapped function they say what to use instead.
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
#include "kernels/scratch.h"
#include "kernels/unique.h"
#include "ops/axes.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

void check_known(const char* op, const Tensor& t, const char* instead) {
  if (is_concrete(t)) return;
  fail<InvalidArgumentError>("[", op,
                             "] the values of its argument are not known here (inside a "
                             "traced or mapped function), and the size of the result depends on "
                             "them; ",
                             instead);
}

// The positions of the elements that are true, in row-major order.
std::vector<std::int64_t> true_positions(const Tensor& mask) {
  std::vector<std::int64_t> positions;
  const bool* p = mask.data<bool>();
  for (std::int64_t i = 0, n = mask.num_elements(); i < n; ++i)
    if (p[i]) positions.push_back(i);
  return positions;
}

}  // namespace

Tensor where(In condition) {
  check_known("where", condition, "use where(condition, x, y) with two alternatives");
  if (condition->rank() == 0) {
    fail<InvalidArgumentError>("[where] got a scalar; a condition with at least one axis expected");
  }
  const Tensor mask = condition->dtype() == bool_ ? condition.tensor() : not_equal(condition, 0);
  const std::vector<std::int64_t> positions = true_positions(mask);
  const Shape& shape = condition->shape();
  std::vector<std::int64_t> coordinates(positions.size() * static_cast<std::size_t>(shape.rank()));
  auto next = coordinates.end();
  for (std::size_t i = positions.size(); i-- > 0;) {
    std::int64_t rest = positions[i];
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      *--next = rest % shape[axis];
      rest /= shape[axis];
    }
  }
  return Tensor::from(coordinates, {static_cast<std::int64_t>(positions.size()), shape.rank()});
}

Tensor boolean_mask(In tensor, In mask, int axis) {
  check_known("boolean_mask", mask, "multiply by the mask or use where(mask, x, y)");
  const Shape &shape = tensor->shape(), &chosen = mask->shape();
  const int at = tensor->rank() ? normal_axis("boolean_mask", axis, tensor->rank()) : 0;
  bool fits = chosen.rank() > 0 && at + chosen.rank() <= shape.rank() && mask->dtype() == bool_;
  for (int i = 0; fits && i < chosen.rank(); ++i) fits = chosen[i] == shape[at + i];
  if (!fits) {
    fail<InvalidArgumentError>("[boolean_mask] a ", name_of(mask->dtype()), " mask of shape ",
                               chosen, " does not fit a tensor of shape ", shape, " from axis ", at,
                               " on; it must be bool and have at least one axis");
  }
  Shape merged;
  for (int i = 0; i < at; ++i) merged.push_back(shape[i]);
  merged.push_back(mask->num_elements());
  for (int i = at + chosen.rank(); i < shape.rank(); ++i) merged.push_back(shape[i]);
  return gather(reshape(tensor, merged), Tensor::from(true_positions(mask)), at);
}

Unique unique(In x, DType out_idx) {
  check_known("unique", x, "use it outside");
  if (x->rank() != 1) {
    fail<InvalidArgumentError>("[unique] got shape ", x->shape(), "; a vector was expected");
  }
  const std::int64_t n = x->num_elements();
  const auto bytes = static_cast<std::size_t>(n) * size_of(x->dtype());
  kernels::Scratch values(bytes), numbers(static_cast<std::size_t>(n) * 8),
      counts(static_cast<std::size_t>(n) * 8);
  const std::int64_t found = kernels::unique(x->dtype(), x->raw_data(), n, values.data(),
                                             numbers.as<std::int64_t>(), counts.as<std::int64_t>());
  const auto copy = [](DType dtype, std::int64_t count, const void* from) {
    return Tensor::filled_by(dtype, {count}, [&](void* to) {
      if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(dtype));
    });
  };
  // Values that can have a derivative are taken from the tensor, where each is found first.
  const bool followed = is_floating(x->dtype()) || is_complex(x->dtype());
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; followed && i < n; ++i)
    if (numbers.as<std::int64_t>()[i] == static_cast<std::int64_t>(first.size()))
      first.push_back(i);
  const Tensor y =
      followed ? gather(x, Tensor::from(first)) : copy(x->dtype(), found, values.data());
  return {y, cast(copy(int64, n, numbers.data()), out_idx),
          cast(copy(int64, found, counts.data()), out_idx)};
}

}  // namespace gradus
