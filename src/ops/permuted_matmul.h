// Products of operands that lie in memory with their axes in another order: what
//
//   transpose(matmul(transpose(a, orders[0]), transpose(b, orders[1])), orders[2])
//
// computes, without the copies. A product can step over matrices as well as over elements, as long
// as one of its two axes is the innermost in memory. Facts of matmul's record (graph/product.h).
#pragma once
#include "graph/op.h"

namespace gradus {

bool matmul_reads(const Call& c, int operand, const Ints& order);
bool matmul_writes(const Call& c, const Ints& order);
Tensor permuted_matmul(const void* attrs, std::span<const Tensor> in, std::span<const Ints> orders);

}  // namespace gradus
