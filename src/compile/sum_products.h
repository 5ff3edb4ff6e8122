// The pass that makes one product of a sum of products over different rows,
//
//   a^T b + c^T d = [a, c]^T [b, d]
//
// as gradients that are accumulated over parts of a batch are: the sum is made inside the kernel
// and no part of it is kept.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> sum_products(const Graph& graph);

}  // namespace gradus
