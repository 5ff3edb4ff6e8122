// The pass that makes one product of a sum of products,
//
//   a^T b + c^T d = [a, c]^T [b, d]      and      a b^T + c d^T = [a, c] [b, d]^T
//
// as gradients are that are accumulated over parts of a batch, or that come from several layers
// with one argument: the sum is made inside the kernel and no part of it is kept.
#pragma once
#include "graph/graph.h"

namespace gradus {

std::shared_ptr<Graph> sum_products(const Graph& graph);

}  // namespace gradus
