// Whether two traces are the same program.
//
// C++ code can look at a size that is a symbol as at a number: in a condition, a loop, arithmetic,
// a result. Nothing stops it at the read, so a trace with symbols is believed only where it is
// proved: at each new set of sizes the function is traced again with these sizes as numbers, and
// the trace with symbols, its sizes replaced by the same numbers, must be that program, op by op.
// Then it computes exactly what the function does there. Comparing what both compute on the
// arguments of a call would prove nothing about the next call.
//
// Two programs are the same if their results and effects are the same terms. A term is an op with
// its attributes and the terms of its operands; a constant is its elements, and what is computed
// from constants alone is a constant. So it does not matter in which order ops stand, whether equal
// ones were merged, or that a size is a node in one program and a number in the other.
#pragma once
#include "graph/graph.h"

namespace gradus {

// Sizes of `symbolic` by its symbols; `known` has none.
bool same_program(const Graph& symbolic, const std::vector<std::int64_t>& sizes,
                  const Graph& known);

}  // namespace gradus
