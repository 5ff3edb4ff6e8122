// Reductions over any set of axes of a contiguous row-major array.
//
// Sums are accurate and reproducible: no partial sum is ever more than 64 additions long before it
// is combined with its equals, level by level, so the error grows like log n (10^7 float32 ones sum
// to exactly 10^7), and the order depends on the shape alone. float16 and bfloat16 are accumulated
// in float32 and rounded once; integers wrap; NaN wins in max and min.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

enum class Reduction : std::uint8_t { sum, mean, prod, max, min, any, all };

// any and all take bool, max and min every real type, sum, mean and prod every type but bool.
bool reduces(Reduction op, DType t);

// Axis i is reduced if bit i of `axes` is set. `out` holds the kept axes, in order, of the same
// dtype. Reducing nothing (a zero extent) gives the identity: 0, 1, the lowest or highest value;
// the mean of nothing is NaN (0 for integers). An integer mean truncates towards zero.
void reduce(Reduction op, DType t, const void* in, const std::int64_t* shape, int rank,
            std::uint64_t axes, void* out);

// The same for one axis of [outer, n, inner].
void reduce_axis(Reduction op, DType t, const void* in, std::int64_t outer, std::int64_t n,
                 std::int64_t inner, void* out);

enum class ArgReduction : std::uint8_t { argmax, argmin };

// Positions along the middle axis of [outer, n, inner], n >= 1, of bool or any real type. The first
// of equal values wins. As in TensorFlow NaN is never chosen, and a slice without any value above
// -infinity (for argmin: below infinity) gives 0.
void arg_reduce(ArgReduction op, DType t, const void* in, std::int64_t outer, std::int64_t n,
                std::int64_t inner, std::int64_t* out);

}  // namespace gradus::kernels
