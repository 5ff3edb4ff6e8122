// Where the rows of a Jacobian are still a diagonal matrix.
//
// Going back from a target, ops that act element by element map one cotangent that is zero except
// at element j to another one: the n cotangents of a Jacobian's rows stay a diagonal matrix, and
// the diagonal alone, one ordinary cotangent, can go through these ops. Only what lies behind
// them is swept with a batch. docs/design/024-jacobian-seeds.md
#pragma once
#include "autodiff/tape.h"

namespace gradus {

// The values at which the element by element part ends, and the diagonals there. Together they
// stand for the target: for every element j of it, the values' cotangents are zero except at
// elements whose number, modulo the number of rows, is j's.
struct DiagonalPart {
  std::vector<Recording::Id> values;
  std::vector<Tensor> diagonals;
};
DiagonalPart diagonal_part(Recording& recording, Recording::Followers bit,
                           std::span<const std::vector<Recording::Id>> sources,
                           const Tensor& target);

// Rows [first, first + count) of the n rows, as a batch of cotangents (count, shape of diagonal).
Tensor diagonal_rows(const Tensor& diagonal, std::int64_t first, std::int64_t count,
                     std::int64_t n);

}  // namespace gradus
