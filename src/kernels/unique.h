// The different values of an array, in the order of their first appearance.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// Writes the values (room for n), for each element the number of its value, and, unless null, how
// often each value occurs (room for n). Returns how many values there are. Any real type or bool;
// 0 and -0 are the same value, a NaN is never the same as another.
std::int64_t unique(DType t, const void* in, std::int64_t n, void* values, std::int64_t* numbers,
                    std::int64_t* counts);

}  // namespace gradus::kernels
