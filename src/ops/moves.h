// Small moves that rules are made of.
#pragma once
#include "gradus/tensor.h"
#include "graph/attrs.h"
#include "graph/op.h"

namespace gradus {

// Every element one place further along an axis (or one place back); a zero comes in, the last
// element falls out.
Tensor shift(const Tensor& x, int axis, bool back);

Tensor pad_zeros(const Tensor& x, const Ints& before, const Ints& after);

// The fact OpInfo::piece of the block of `size` at `begin` of an array.
std::int64_t piece_of_block(const Ints& begin, const Shape& size, const Shape& whole);

}  // namespace gradus
