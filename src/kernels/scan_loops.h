// The loops of scan.h, one table per instruction set: inclusive scans. Signed integers use the
// unsigned loops, complex sums the real ones.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// A running sum of floating numbers in twice their digits.
struct Carry {
  double high = 0, low = 0;
};

struct ScanLoops {
  enum Op { kSum, kProd, kOps };
  // One row: out[i] = in[0] op ... op in[i], or from the end. Sums of floating types start from
  // `carry` (null for zero).
  using Row = void (*)(const void* in, std::int64_t n, bool reverse, const Carry* carry, void* out);
  // Columns [0, width) of n rows that are `step` elements apart (negative for reverse).
  using Columns = void (*)(const void* in, std::int64_t n, std::int64_t step, std::int64_t width,
                           void* out);
  // The sum of a row, as a carry.
  using Total = Carry (*)(const void* in, std::int64_t n);

  Row row[kOps][kDTypeCount] = {};
  Columns columns[kOps][kDTypeCount] = {};
  Total total[kDTypeCount] = {};
};

namespace baseline {
extern const ScanLoops scan_loops;
}
namespace avx2 {
extern const ScanLoops scan_loops;
}
namespace avx512 {
extern const ScanLoops scan_loops;
}

}  // namespace gradus::kernels
