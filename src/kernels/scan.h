// Cumulative sum, product and log-sum-exp along the middle axis of [outer, n, inner].
//
// Sums carry twice the digits of the type (float64 for up to float32, a compensated pair for
// float64), so the last of 10^7 prefixes is as accurate as the first; integers wrap.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

enum class Scan : std::uint8_t { sum, prod, logsumexp };

// sum and prod take every type but bool, logsumexp floating types.
bool scans(Scan op, DType t);

// An exclusive scan starts with 0, 1 or -infinity and leaves out the last element; a reverse one
// runs from the end. `in` and `out` must not overlap.
void scan(Scan op, DType t, const void* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
          bool exclusive, bool reverse, void* out);

}  // namespace gradus::kernels
