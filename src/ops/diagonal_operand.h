// What a compiler can see of an operand: whether it is a diagonal matrix.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

// For an operand (n, ..., n) that is known to be zero wherever its first and last indices differ,
// its other elements as (others, n); else an undefined tensor. Known is what linalg::diag made
// (also moved from (others, n, n) to (n, others, n)) and constants.
Tensor diagonal_of(const Tensor& operand);

}  // namespace gradus
