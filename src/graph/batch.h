// Batching rules: how an op runs on operands that have one more leading axis, the batch.
//
// Inside vmap a tensor stands for one example; an op on such tensors calls its record's batching
// rule, once, on whole batches. Elementwise ops need no rule. The usual ones:
//   none            composites: the body runs on the batch's examples (all its ops are batched)
//   batch_leading   the op treats all leading axes alike (cholesky, sort along the last axis)
//   batch_loop      one call per example; always right, and slow
#pragma once
#include "graph/level.h"
#include "graph/op.h"

namespace gradus {

Tensors batch_leading(const BatchCall& call);
Tensors batch_loop(const BatchCall& call);
// The same as a loop of the program, where only the program will know how many examples there are.
// The compiler, which has loops, puts it here.
extern BatchFn loop_in_program;

// A batch as one example of it, and back.
Tensor make_batched(const Tensor& batch, Level level);
// The whole batch of x at a level; broadcast if x does not depend on it.
Tensor unbatch(const Tensor& x, Level level, Size size);

// Runs an op with at least one batched operand (called by dispatch).
Tensors run_batched(const Op& op, const void* attrs, std::span<const Tensor* const> in);
// What a tensor that a batching rule uses was for who called the op: if it is the whole batch of an
// operand, that operand, and itself if it is an operand too.
SmallVector<Tensor, 2> operands_seen_as(const Tensor& t);

}  // namespace gradus
