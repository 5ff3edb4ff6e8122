// Counts of indices: how often each occurs, with which other, or among the best.
#pragma once
#include <optional>

#include "gradus/in.h"

namespace gradus {

struct BincountOptions {
  Tensor weights = {};  // of the shape of the numbers; without them, each counts 1
  Size minlength = 0;   // at least so many counts
  // At most so many, if there is such a limit and it is not negative: larger numbers are left out.
  std::optional<Size> maxlength = {};
  DType dtype = int32;  // of counts without weights
};
// How often 0, 1, 2, ... occur. The largest number says how many counts there are; inside vmap
// maxlength does.
Tensor bincount(In arr, const BincountOptions& options = {});

// Row i, column j: how often label i was predicted as j. Without num_classes, as many as occur.
Tensor confusion_matrix(In labels, In predictions, Size num_classes = -1, In weights = 1,
                        DType dtype = int32);

// Whether fewer than k classes have a larger prediction than the target. false for targets that do
// not exist and for rows that are not finite.
Tensor in_top_k(In targets, In predictions, std::int64_t k);

}  // namespace gradus
