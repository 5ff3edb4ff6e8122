// Which ops are sums over leading axes, so that a compiler can add up what a loop over rows makes
// instead of writing it first. It is said beside the record:
//
//   const RowSum reduce_sum_over_rows(reduce_sum_op, leading_axes_of);
//
// The function says how many leading axes of its only operand this application adds up, all of them
// at most; less than 1: none, or others.
#pragma once
#include "graph/op.h"

namespace gradus {

class RowSum {
 public:
  RowSum(const Op& op, RowAxesFn leading_axes);
  RowSum(const RowSum&) = delete;

  static RowAxesFn of(const Op& op);  // null: the op is no such sum

 private:
  const Op& op_;
  const RowAxesFn leading_axes_;
  const RowSum* const next_;
};

}  // namespace gradus
