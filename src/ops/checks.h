// What shape rules ask of their operands and attributes, so that kernels need not. All throw
// InvalidArgumentError naming the op, and take symbolic sizes for what they may turn out to be.
#pragma once
#include "graph/op.h"

namespace gradus {

// All operands have the dtype of the first.
void check_same_dtype(const Call& call);
// Operand i has this shape.
void check_operand_shape(const Call& call, int i, const Shape& expected);
// Operand i holds indices: int32 or int64.
void check_index_dtype(const Call& call, int i);
// Attributes hold axes as kernels want them: not negative; several are sorted without repeats.
void check_axis(const Call& call, std::int64_t axis, int rank);
void check_axes(const Call& call, const Ints& axes, int rank);
// Every size is at least 0.
void check_sizes(const Call& call, const char* what, const Shape& shape);
// A list of `count` numbers from `least` to 2^30.
void check_numbers(const Call& call, const char* what, const Ints& numbers, int count,
                   std::int64_t least);

}  // namespace gradus
