// Reductions over groups of rows. segment_ids (any shape that `data` begins with) says to which of
// num_segments groups each row belongs; negative ids belong to none.
#pragma once
#include "gradus/in.h"

namespace gradus {

Tensor unsorted_segment_sum(In data, In segment_ids, Size num_segments);
Tensor unsorted_segment_mean(In data, In segment_ids, Size num_segments);    // empty: 0
Tensor unsorted_segment_sqrt_n(In data, In segment_ids, Size num_segments);  // / sqrt(n)
// The gradient is exact at any order, with any number of zeros. An empty group gives 1.
Tensor unsorted_segment_prod(In data, In segment_ids, Size num_segments);
// Rows that tie share the gradient equally. An empty group gives the lowest (or highest) number.
Tensor unsorted_segment_max(In data, In segment_ids, Size num_segments);
Tensor unsorted_segment_min(In data, In segment_ids, Size num_segments);

// The same for ids that are a sorted vector; the last one says how many groups there are, so it
// must be known (not inside a traced function). Empty groups give 0, or 1 for the product.
Tensor segment_sum(In data, In segment_ids);
Tensor segment_mean(In data, In segment_ids);
Tensor segment_prod(In data, In segment_ids);
Tensor segment_max(In data, In segment_ids);
Tensor segment_min(In data, In segment_ids);

}  // namespace gradus
