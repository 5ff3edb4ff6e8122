// Branches under vmap: each example chooses for itself.
//
// A branch runs once, on those examples that chose it, and its results go back to where these
// examples were. So nothing of a branch, a NaN say, reaches an example that did not choose it, and
// no work is done that nobody needs.
#pragma once
#include "control/branch.h"

namespace gradus {

// index has one number for each example; operands with `rows` have a row for each, the others are
// the same for all. Results have a row for each.
Tensors run_choices(const std::shared_ptr<Branches>& branches, const Tensor& index,
                    std::span<const Tensor> operands, const std::vector<bool>& rows);

}  // namespace gradus
