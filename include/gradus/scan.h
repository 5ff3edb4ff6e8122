// Running sums, products and their kin along one axis.
//
// An exclusive scan leaves out the element itself: [a, b, c] gives [0, a, a + b]. A reverse one
// runs from the end: [a + b + c, b + c, c].
#pragma once
#include "gradus/in.h"

namespace gradus {

Tensor cumsum(In x, int axis = 0, bool exclusive = false, bool reverse = false);
// The gradient is exact at any order, with any number of zeros.
Tensor cumprod(In x, int axis = 0, bool exclusive = false, bool reverse = false);
// log(exp(x[0]) + ... + exp(x[i])), safe at any scale.
Tensor cumulative_logsumexp(In x, int axis = 0, bool exclusive = false, bool reverse = false);

// y[i] = a[i] * y[i - 1] + b[i] with y[-1] = 0: running sums that fade, filters, products with
// their derivatives. a and b have one shape; a[0] does not matter. With `lag`, a[i - 1] takes the
// place of a[i].
Tensor linear_recurrence(In a, In b, int axis = 0, bool reverse = false, bool lag = false);

}  // namespace gradus
