// Sizes that values decide: the one op at which a program stops to look at a number.
//
// While a function is traced, the value of an integer scalar becomes a new unknown size, as an
// argument's is. The program binds it when it gets there (compile/stretches.h).
#pragma once
#include "graph/graph.h"

namespace gradus {

// Gives a tensor without elements, of shape (size, 0): its shape says which size was found.
extern const Op found_size_op;

// The value of an integer scalar, as a size.
Size found_size(const Tensor& scalar);

// What a batching rule says where sizes would differ from example to example.
[[noreturn]] void refuse_sizes_of_examples();

// Whether running the graph finds sizes; of the graphs inside of it (branches, loops) each finds
// its own.
bool finds_sizes(const Graph& graph);

}  // namespace gradus
