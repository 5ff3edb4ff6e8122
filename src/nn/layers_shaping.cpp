#include "gradus/layers_shaping.h"

#include <algorithm>

#include "gradus/error.h"
#include "gradus/layers_convolution.h"
#include "gradus/ops.h"

namespace gradus::keras {

namespace forms {

Tensor flatten(In x, bool channels_first) {
  const Tensor in = channels_first && x->rank() > 2 ? to_channels_last(x) : x.tensor();
  const Shape& s = in.shape();
  Size size = 1;
  for (int i = 1; i < s.rank(); ++i) size *= s[i];
  return gradus::reshape(in, {s[0], size});
}

Tensor reshaped(In x, const Shape& target) {
  const Shape& s = x->shape();
  if (s.rank() == 0) throw InvalidArgumentError("[Reshape] got a scalar; expected a batch");
  bool is_known = true;
  Size have = 1, want = 1;
  for (int i = 1; i < s.rank(); ++i) {
    is_known &= s[i].is_known();
    have *= s[i];
  }
  int open = -1;
  Shape shape = {-1};
  for (int i = 0; i < target.rank(); ++i) {
    shape.push_back(target[i]);
    if (target[i] == -1)
      open = i + 1;
    else
      want *= target[i];
  }
  if (is_known && (open < 0 ? have != want : want == 0 || have % want != 0))
    throw InvalidArgumentError("[Reshape] got an input of shape " + to_string(s) +
                               ", whose examples do not have the elements of " + to_string(target));
  if (open >= 0 && is_known) shape[open] = have / want;
  if (open >= 0 && !is_known) shape[0] = s[0];
  return gradus::reshape(x, shape);
}

Tensor merged(const std::vector<Tensor>& inputs, Merge how) {
  if (inputs.empty()) throw InvalidArgumentError("[merge] got no inputs");
  int rank = 0;
  for (const Tensor& x : inputs) rank = std::max(rank, x.rank());
  Tensor total;
  for (Tensor x : inputs) {
    while (x.rank() < rank) x = expand_dims(x, 1);
    total = !total.defined()           ? x
            : how == Merge::product    ? total * x
            : how == Merge::difference ? total - x
            : how == Merge::maximum    ? gradus::maximum(total, x)
            : how == Merge::minimum    ? gradus::minimum(total, x)
                                       : total + x;
  }
  if (how != Merge::mean) return total;
  if (is_integer(total.dtype()))
    total = cast(total, size_of(total.dtype()) <= 2 ? float32 : float64);
  return total / static_cast<double>(inputs.size());
}

}  // namespace forms

Tensor Concatenate::operator()(const std::vector<Tensor>& inputs) const {
  return concat(inputs, axis);
}

}  // namespace gradus::keras
