// The unblocked loops of linalg.h, one table per instruction set and type. All run along rows.
#pragma once
#include <cstdint>

namespace gradus::kernels {

template <class T>
struct LinalgLoops {
  // Upper u [n, n] of leading dimension ld becomes its factor: transpose(u) u. False if it is not
  // positive definite.
  bool (*cholesky_upper)(T* u, std::int64_t ld, std::int64_t n);
  // x [n, m] = a^-1 x for a triangle a [n, n] of leading dimension n.
  void (*solve)(const T* a, bool lower, bool unit, std::int64_t n, T* x, std::int64_t ldx,
                std::int64_t m);
  // Factors the first `width` columns of `rows` rows in place; pivot[j] >= j is the row that was
  // exchanged with row j (within these columns). False if a pivot is zero or NaN.
  bool (*lu_panel)(T* a, std::int64_t ld, std::int64_t rows, std::int64_t width,
                   std::int64_t* pivot);
  // out [rows, columns] of leading dimension `columns` = -in.
  void (*negate)(const T* in, std::int64_t ld, std::int64_t rows, std::int64_t columns, T* out);
};

namespace baseline {
extern const LinalgLoops<float> linalg_loops32;
extern const LinalgLoops<double> linalg_loops64;
}  // namespace baseline
namespace avx2 {
extern const LinalgLoops<float> linalg_loops32;
extern const LinalgLoops<double> linalg_loops64;
}  // namespace avx2
namespace avx512 {
extern const LinalgLoops<float> linalg_loops32;
extern const LinalgLoops<double> linalg_loops64;
}  // namespace avx512

}  // namespace gradus::kernels
