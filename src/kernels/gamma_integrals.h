// The incomplete gamma and beta functions, for arrays of float32 or float64; they compute in
// float64.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// The `order`-th derivative with respect to a of the integral of t^(a-1) e^-t / Gamma(a), from 0 to
// x or, if `upper`, from x on; NaN unless a > 0 and x >= 0. Orders up to kMostDerivatives.
inline constexpr int kMostDerivatives = 24;
void igamma(DType t, int order, bool upper, const void* a, const void* x, std::int64_t count,
            void* out);

// The integral of t^(a-1) (1-t)^(b-1) / B(a, b) from 0 to x, differentiated order_a times in a and
// order_b times in b, together at most kMostDerivatives; NaN unless a, b > 0 and 0 <= x <= 1.
void betainc(DType t, int order_a, int order_b, const void* a, const void* b, const void* x,
             std::int64_t count, void* out);

}  // namespace gradus::kernels
