// Right-looking blocked algorithms: factor or solve a block, then take its part out of the rest
// with one matrix product. gemm adds, so one factor of that product is a negated copy.
#include "kernels/linalg.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/gemm.h"
#include "kernels/isa.h"
#include "kernels/linalg_loops.h"
#include "kernels/ranges.h"
#include "kernels/scratch.h"
#include "kernels/strided_copy.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kBlock = 64;

template <class T>
const LinalgLoops<T>& loops() {
  if constexpr (std::is_same_v<T, float>) {
    static const LinalgLoops<T>& picked =
        pick(baseline::linalg_loops32, avx2::linalg_loops32, avx512::linalg_loops32);
    return picked;
  } else {
    static const LinalgLoops<T>& picked =
        pick(baseline::linalg_loops64, avx2::linalg_loops64, avx512::linalg_loops64);
    return picked;
  }
}

// A matrix, or a part of one.
template <class T>
struct Matrix {
  T* data;
  std::int64_t ld;
  T* at(std::int64_t row, std::int64_t column) const { return data + row * ld + column; }
  Matrix part(std::int64_t row, std::int64_t column) const { return {at(row, column), ld}; }
};

// c [m, n] += op(a) b
template <class T>
void add_product(Matrix<const T> a, bool transpose_a, Matrix<const T> b, bool transpose_b,
                 std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> c) {
  if (m == 0 || n == 0 || k == 0) return;
  GemmArgs args;
  args.dtype = dtype_v<T>;
  args.trans_a = transpose_a;
  args.trans_b = transpose_b;
  args.accumulate = true;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a = a.data;
  args.lda = a.ld;
  args.b = b.data;
  args.ldb = b.ld;
  args.c = c.data;
  args.ldc = c.ld;
  gemm(args);
}

// to [columns, rows] = transpose of from [rows, columns]
template <class T>
void copy_transposed(Matrix<const T> from, std::int64_t rows, std::int64_t columns, Matrix<T> to) {
  constexpr std::int64_t kSize = sizeof(T);
  const CopyAxis axes[] = {{columns, kSize, to.ld * kSize}, {rows, from.ld * kSize, kSize}};
  strided_copy(sizeof(T), from.data, to.data, axes, 2);
}

template <class T>
void copy(Matrix<const T> from, std::int64_t rows, std::int64_t columns, Matrix<T> to) {
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(from.at(r, 0), columns, to.at(r, 0));
}

// x [n, m] = op(a)^-1 x in place.
template <class T>
void solve_in_place(Triangle triangle, Matrix<const T> a, std::int64_t n, std::int64_t m,
                    Matrix<T> x) {
  const bool lower = triangle.lower != triangle.transpose;  // op(a) is
  Scratch memory(static_cast<std::size_t>(kBlock * (kBlock + m)) * sizeof(T));
  T *block = memory.as<T>(), *negated = block + kBlock * kBlock;
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const std::int64_t first = (lower ? k : blocks - 1 - k) * kBlock;
    const std::int64_t size = std::min(kBlock, n - first);
    if (triangle.transpose)
      copy_transposed(a.part(first, first), size, size, {block, size});
    else
      copy(a.part(first, first), size, size, {block, size});
    loops<T>().solve(block, lower, triangle.unit, size, x.at(first, 0), x.ld, m);
    // Rows still to be solved lose what they owe to this block.
    const std::int64_t begin = lower ? first + size : 0, rows = lower ? n - begin : first;
    if (rows == 0) continue;
    loops<T>().negate(x.at(first, 0), x.ld, size, m, negated);
    add_product<T>(triangle.transpose ? a.part(first, begin) : a.part(begin, first),
                   triangle.transpose, {negated, m}, false, rows, m, size, x.part(begin, 0));
  }
}

template <class T>
bool factor_cholesky(Matrix<T> a, std::int64_t n) {
  Scratch memory(static_cast<std::size_t>(kBlock * (kBlock + 2 * n)) * sizeof(T));
  T *upper = memory.as<T>(), *panel = upper + kBlock * kBlock, *negated = panel + kBlock * n;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t size = std::min(kBlock, n - first), rest = n - first - size;
    // Transposed, so that loops run along rows: the block becomes upper, the panel below it wide.
    copy_transposed<T>({a.at(first, first), a.ld}, size, size, {upper, size});
    if (!loops<T>().cholesky_upper(upper, size, size)) return false;
    copy_transposed<T>({upper, size}, size, size, a.part(first, first));
    if (rest == 0) break;
    copy_transposed<T>({a.at(first + size, first), a.ld}, rest, size, {panel, rest});
    solve_in_place<T>({}, {a.at(first, first), a.ld}, size, rest, {panel, rest});
    copy_transposed<T>({panel, rest}, size, rest, a.part(first + size, first));
    loops<T>().negate(panel, rest, size, rest, negated);
    // Only blocks that touch the lower triangle of what remains.
    constexpr std::int64_t kStrip = 4 * kBlock;
    for (std::int64_t c = 0; c < rest; c += kStrip)
      add_product<T>({panel + c, rest}, true, {negated + c, rest}, false, rest - c,
                     std::min(kStrip, rest - c), size, a.part(first + size + c, first + size + c));
  }
  return true;
}

template <class T>
bool factor_lu(Matrix<T> a, std::int64_t n, std::int32_t* permutation) {
  for (std::int64_t i = 0; i < n; ++i) permutation[i] = static_cast<std::int32_t>(i);
  Scratch memory(static_cast<std::size_t>(kBlock * n) * sizeof(T) + kBlock * sizeof(std::int64_t));
  auto* pivot = memory.as<std::int64_t>();
  T* negated = reinterpret_cast<T*>(pivot + kBlock);
  bool regular = true;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t size = std::min(kBlock, n - first), rest = n - first - size;
    regular &= loops<T>().lu_panel(a.at(first, first), a.ld, n - first, size, pivot);
    for (std::int64_t j = 0; j < size; ++j) {
      const std::int64_t row = first + j, other = first + pivot[j];
      if (row == other) continue;
      std::swap(permutation[row], permutation[other]);
      std::swap_ranges(a.at(row, 0), a.at(row, first), a.at(other, 0));
      std::swap_ranges(a.at(row, first + size), a.at(row, n), a.at(other, first + size));
    }
    if (rest == 0) break;
    solve_in_place<T>({.lower = true, .transpose = false, .unit = true}, {a.at(first, first), a.ld},
                      size, rest, a.part(first, first + size));
    loops<T>().negate(a.at(first + size, first), a.ld, rest, size, negated);
    add_product<T>({negated, size}, false, {a.at(first, first + size), a.ld}, false, rest, rest,
                   size, a.part(first + size, first + size));
  }
  return regular;
}

// Calls f(T{}) for float32 and float64.
template <class F>
void visit_real(DType t, F&& f) {
  if (t == float32)
    f(float{});
  else
    f(double{});
}

// Matrices of a batch are spread over threads; a single one is left to gemm.
template <class Body>
void for_each_matrix(std::int64_t batch, std::int64_t n, Body body) {
  parallel_ranges(batch, grain_of(n * n * 64), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) body(b);
  });
}

// The first of `failed` that is set, or -1.
std::int64_t first_failure(const char* failed, std::int64_t batch) {
  const char* found = std::find(failed, failed + batch, char{1});
  return found == failed + batch ? -1 : found - failed;
}

}  // namespace

std::int64_t cholesky(DType t, const void* in, std::int64_t batch, std::int64_t n, void* out) {
  Scratch memory(static_cast<std::size_t>(batch));
  char* failed = memory.as<char>();
  std::fill_n(failed, batch, char{0});
  visit_real(t, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](std::int64_t b) {
      const T* from = static_cast<const T*>(in) + b * n * n;
      T* to = static_cast<T*>(out) + b * n * n;
      for (std::int64_t r = 0; r < n; ++r) {
        std::copy_n(from + r * n, r + 1, to + r * n);
        std::fill(to + r * n + r + 1, to + r * n + n, T(0));
      }
      if (!factor_cholesky<T>({to, n}, n)) {
        failed[b] = 1;
        std::fill_n(to, n * n, std::numeric_limits<T>::quiet_NaN());
        return;
      }
      for (std::int64_t r = 0; r < n; ++r) std::fill(to + r * n + r + 1, to + r * n + n, T(0));
    });
  });
  return first_failure(failed, batch);
}

void triangular_solve(DType t, Triangle triangle, const void* a, const void* b, std::int64_t batch,
                      std::int64_t n, std::int64_t m, void* x) {
  if (n == 0 || m == 0) return;
  visit_real(t, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](std::int64_t i) {
      T* to = static_cast<T*>(x) + i * n * m;
      std::copy_n(static_cast<const T*>(b) + i * n * m, n * m, to);
      solve_in_place<T>(triangle, {static_cast<const T*>(a) + i * n * n, n}, n, m, {to, m});
    });
  });
}

std::int64_t lu(DType t, const void* in, std::int64_t batch, std::int64_t n, void* factors,
                std::int32_t* permutation) {
  Scratch memory(static_cast<std::size_t>(batch));
  char* failed = memory.as<char>();
  std::fill_n(failed, batch, char{0});
  visit_real(t, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](std::int64_t b) {
      T* to = static_cast<T*>(factors) + b * n * n;
      std::copy_n(static_cast<const T*>(in) + b * n * n, n * n, to);
      failed[b] = factor_lu<T>({to, n}, n, permutation + b * n) ? 0 : 1;
    });
  });
  return first_failure(failed, batch);
}

void lu_solve(DType t, const void* factors, const std::int32_t* permutation, bool transpose,
              const void* b, std::int64_t batch, std::int64_t n, std::int64_t m, void* x) {
  if (n == 0 || m == 0) return;
  visit_real(t, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](std::int64_t i) {
      const Matrix<const T> a = {static_cast<const T*>(factors) + i * n * n, n};
      const T* from = static_cast<const T*>(b) + i * n * m;
      T* to = static_cast<T*>(x) + i * n * m;
      const std::int32_t* order = permutation + i * n;
      const Triangle l = {.lower = true, .transpose = transpose, .unit = true};
      const Triangle u = {.lower = false, .transpose = transpose, .unit = false};
      if (!transpose) {  // P A = L U
        for (std::int64_t r = 0; r < n; ++r) std::copy_n(from + order[r] * m, m, to + r * m);
        solve_in_place<T>(l, a, n, m, {to, m});
        solve_in_place<T>(u, a, n, m, {to, m});
      } else {  // A^T = U^T L^T P
        Scratch memory(static_cast<std::size_t>(n * m) * sizeof(T));
        T* y = memory.as<T>();
        std::copy_n(from, n * m, y);
        solve_in_place<T>(u, a, n, m, {y, m});
        solve_in_place<T>(l, a, n, m, {y, m});
        for (std::int64_t r = 0; r < n; ++r) std::copy_n(y + r * m, m, to + order[r] * m);
      }
    });
  });
}

}  // namespace gradus::kernels
