// A program with more inputs than a kernel takes, cut into programs that have few enough.
//
// Derivatives of high order read many values: the tangent of an op has twice its inputs, that of
// the tangent four times as many. The values of the whole program are visited in order, each with
// the set of sources it is computed from. Where a set grows too large, the operand with the most
// sources is cut off: it becomes the result of a piece, and from there on it is one source. An
// instruction has at most three operands, so this always ends, for any number of inputs.
#pragma once
#include <vector>

#include "expr/program.h"

namespace gradus {

struct ExpressionPiece {
  expr::Program program;     // with one output
  std::vector<int> sources;  // by input: one of the whole, or their number plus an earlier piece
};

// The last piece gives the output of the whole, which has one. Values that are cut off are floats
// and masks.
std::vector<ExpressionPiece> split_expression(const expr::Program& whole, std::size_t max_inputs);

}  // namespace gradus
