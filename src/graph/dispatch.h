// What happens when an op is called: dtype and shape are checked, then the op runs as a kernel,
// is appended to a graph (traced operands) or runs its batching rule (batched operands), and
// whoever observes the thread is told.
#pragma once
#include "graph/op.h"

namespace gradus {

// Runs the record's shape rule, or the default: elementwise broadcasting, else the first input.
void infer_outputs(const Call& call, Avals& out);

// Runs an op on operands whose elements are given as pointers to tensors.
Tensors dispatch(const Op& op, const void* attrs, std::span<const Tensor* const> in);
Tensor dispatch_one(const Op& op, const void* attrs, std::span<const Tensor* const> in);

// Runs just the kernel, on concrete operands into given outputs.
void run_kernel(const Op& op, const void* attrs, std::span<const Tensor* const> in,
                std::span<const Tensor> out);

// "[add] shapes (2, 3) and (4,) do not broadcast..." is thrown where they do not.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

}  // namespace gradus
