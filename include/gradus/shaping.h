// Ops that move elements without changing them.
#pragma once
#include <concepts>
#include <utility>
#include <vector>

#include "gradus/in.h"
#include "gradus/makers.h"

namespace gradus {

// The value of an integer scalar, to be used as a size: zeros({to_size(n), 2}). A compiled function
// finds it when it runs.
Size to_size(In scalar);

Tensor reshape(In x, const Shape& shape);  // one size may be -1
Tensor broadcast_to(In x, const Shape& shape);
Tensor transpose(In x, const Shape& permutation);
Tensor transpose(In x);  // all axes reversed
Tensor expand_dims(In x, int axis);
Tensor squeeze(In x);  // all axes of size 1 go away
Tensor squeeze(In x, const Shape& axes);

Tensor concat(const std::vector<Tensor>& parts, int axis);
Tensor stack(const std::vector<Tensor>& parts, int axis = 0);  // along a new axis
std::vector<Tensor> unstack(In x, int axis = 0);
// Equal parts, or parts of given sizes, of which one may be -1.
std::vector<Tensor> split(In x, int num_or_size_splits, int axis = 0);
std::vector<Tensor> split(In x, const std::vector<Size>& num_or_size_splits, int axis = 0);
std::vector<Tensor> split(In x, const std::same_as<std::vector<std::int64_t>> auto& sizes,
                          int axis = 0) {
  return split(x, std::vector<Size>(sizes.begin(), sizes.end()), axis);
}

// Each axis repeated as a whole, or each element repeated along an axis (without one, the elements
// of the flattened tensor). `repeats` may differ from element to element.
Tensor tile(In x, const Shape& multiples);
Tensor repeat(In x, Size repeats);
Tensor repeat(In x, Size repeats, int axis);
Tensor repeat(In x, const std::vector<std::int64_t>& repeats, int axis);
Tensor repeat_each(In x, const Tensor& repeats, int axis);  // that a program computes

Tensor reverse(In x, const Shape& axes);
// The first seq_lengths[b] slices along seq_axis backwards, for each b along batch_axis.
Tensor reverse_sequence(In x, In seq_lengths, int seq_axis, int batch_axis = 0);
// Element i goes to position (i + shift) modulo the size; shifts of one axis add up.
Tensor roll(In x, const Shape& shift, const Shape& axis);
Tensor roll_by(In x, const Tensor& shift, int axis);  // by as many as a program computes

// (before, after) for each axis. The border holds a constant, or the tensor mirrored without
// (reflect) or with (symmetric) its edge.
using Paddings = std::vector<std::pair<Size, Size>>;
enum class PadMode { constant, reflect, symmetric };
Tensor pad(In x, const Paddings& paddings, PadMode mode = PadMode::constant,
           In constant_values = 0);

// The bits of each element as another dtype. A smaller one adds an axis of elements, a larger one
// takes the last axis away.
Tensor bitcast(In x, DType dtype);

}  // namespace gradus
