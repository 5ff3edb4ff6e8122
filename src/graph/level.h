// Levels: one order for everything that gives tensors a second meaning for a while.
//
// A tape, a forward accumulator, a vmap and a trace each take the next number when they open. What
// opened later is inside: an op on batched or traced tensors belongs to the highest level among
// them, whose rule runs first and calls ops of lower levels; an observer (tape or accumulator) is
// told of ops that belong to levels below its own. So vmap of grad and grad of vmap, traces of
// either and either of traces need no special cases, and no derivative sees what an inner one
// perturbs.
#pragma once
#include "tensor/tensor_impl.h"

namespace gradus {

using Level = std::uint64_t;  // 0: plain tensors

Level next_level();

inline Level level_of(const Tensor& t) { return is_concrete(t) ? 0 : t.impl()->extra()->level; }

}  // namespace gradus
