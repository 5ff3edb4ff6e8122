// What a compiler can see of an operand: whether it is a diagonal matrix.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

// Diagonals (..., n) as the seed of a Jacobian, (..., n, n). In a trace it is a node, whatever the
// diagonals are, so that the compiler knows it for what it is.
Tensor diagonal_seed(const Tensor& diagonal);

// For an operand (n, ..., n) that has nothing wherever its first and last indices differ, its other
// elements as (others, n); else an undefined tensor. Such are seeds, also moved from (others, n, n)
// to (n, others, n). Zeros are numbers: 0 * inf is NaN, so what linalg::diag makes is none of them.
Tensor diagonal_of(const Tensor& operand);

}  // namespace gradus
