// First-order linear recurrences along the middle axis of [outer, n, inner].
//
// float16, bfloat16 and float32 are carried in float64 and rounded once. Each column is walked in
// order by one thread, so bits do not depend on the number of threads.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

struct RecurrenceShape {
  std::int64_t outer, n, inner;
  bool reverse;  // from the end: "before" is then "after"
  bool lag;      // a[i - 1] takes the place of a[i]
};

// out[i] = a[i] out[i - 1] + b[i], from zero; a[0] is not read. Floating and complex types.
void linear_recurrence(DType t, const void* a, const void* b, const RecurrenceShape& shape,
                       void* out);

}  // namespace gradus::kernels
