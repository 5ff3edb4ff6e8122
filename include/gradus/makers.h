// New tensors, from nothing but a shape or a few numbers.
#pragma once
#include <string>
#include <vector>

#include "gradus/in.h"

namespace gradus {

Tensor zeros(const Shape& shape, DType dtype = float32, CallSite = {});
Tensor ones(const Shape& shape, DType dtype = float32, CallSite = {});
Tensor fill(const Shape& shape, In value);  // the dtype is the value's
Tensor zeros_like(In x);
Tensor ones_like(In x);

// start, start + delta, ... below (or above) limit. Plain numbers give int32 or float32.
Tensor range(In limit);
Tensor range(In start, In limit, In delta = 1);
// `num` numbers from start to stop, both included, along a new axis. Integers give float64.
Tensor linspace(In start, In stop, Size num, int axis = 0);
// 0, 1, 2, ... of which the number may be a size that a traced function does not know yet.
Tensor iota(Size count, DType dtype = int64, CallSite = {});

// Ones on the diagonal; num_columns of -1 means square.
Tensor eye(Size num_rows, Size num_columns = -1, const Shape& batch_shape = {},
           DType dtype = float32, CallSite = {});

// A new axis of size depth with on_value at the index and off_value elsewhere; an index outside
// gives off_value everywhere. Plain numbers give float32.
Tensor one_hot(In indices, Size depth, In on_value = 1.0, In off_value = 0.0, int axis = -1);

// true for the first `lengths` of `maxlen` positions, along a new last axis. maxlen of -1 takes the
// largest length, which must then be known (not inside a traced function).
Tensor sequence_mask(In lengths, Size maxlen = -1, DType dtype = bool_);

// Coordinates of a grid; "xy" swaps the first two axes, "ij" does not.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, const std::string& indexing = "xy");

// Shape, number of elements and number of axes as tensors; inside a traced function, also of sizes
// that are not yet known.
Tensor shape(In x, DType out_type = int32);
Tensor size(In x, DType out_type = int32);
Tensor rank(In x);
Tensor dynamic_size(Size size);  // one size, as an int64 scalar

}  // namespace gradus
