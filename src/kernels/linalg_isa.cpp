#include "kernels/linalg_loops.h"

#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
inline T magnitude(T x) {
  return x < 0 ? -x : x;
}

// y -= factor * x
template <class T>
inline void subtract(T factor, const T* __restrict x, std::int64_t n, T* __restrict y) {
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, load(y + i) - factor * load(x + i));
  for (; i < n; ++i) {
    short_loop();
    y[i] -= factor * x[i];
  }
}

template <class T>
inline void divide(T by, std::int64_t n, T* x) {
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(x + i, load(x + i) / by);
  for (; i < n; ++i) {
    short_loop();
    x[i] /= by;
  }
}

template <class T>
bool cholesky_upper(T* u, std::int64_t ld, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    T* row = u + j * ld;
    if (!(row[j] > 0)) return false;
    const T root =
        sizeof(T) == 4 ? __builtin_sqrtf(static_cast<float>(row[j])) : __builtin_sqrt(row[j]);
    divide(root, n - j - 1, row + j + 1);
    row[j] = root;
    for (std::int64_t i = j + 1; i < n; ++i) subtract(row[i], row + i, n - i, u + i * ld + i);
  }
  return true;
}

template <class T>
void solve(const T* a, bool lower, bool unit, std::int64_t n, T* x, std::int64_t ldx,
           std::int64_t m) {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = lower ? k : n - 1 - k;
    T* row = x + i * ldx;
    const std::int64_t begin = lower ? 0 : i + 1, end = lower ? i : n;
    if (m == 1) {
      T sum = row[0];
      for (std::int64_t p = begin; p < end; ++p) sum -= a[i * n + p] * x[p * ldx];
      row[0] = sum;
    } else {
      for (std::int64_t p = begin; p < end; ++p) subtract(a[i * n + p], x + p * ldx, m, row);
    }
    if (!unit) divide(a[i * n + i], m, row);
  }
}

template <class T>
bool lu_panel(T* a, std::int64_t ld, std::int64_t rows, std::int64_t width, std::int64_t* pivot) {
  bool regular = true;
  for (std::int64_t j = 0; j < width; ++j) {
    std::int64_t best = j;
    T size = -1;
    for (std::int64_t i = j; i < rows; ++i) {
      const T candidate = magnitude(a[i * ld + j]);
      if (candidate > size) {
        size = candidate;
        best = i;
      }
    }
    pivot[j] = best;
    if (best != j)
      for (std::int64_t c = 0; c < width; ++c) {
        const T kept = a[j * ld + c];
        a[j * ld + c] = a[best * ld + c];
        a[best * ld + c] = kept;
      }
    if (!(size > 0)) {
      regular = false;
      continue;
    }
    const T* row = a + j * ld;
    for (std::int64_t i = j + 1; i < rows; ++i) {
      T* other = a + i * ld;
      other[j] /= row[j];
      subtract(other[j], row + j + 1, width - j - 1, other + j + 1);
    }
  }
  return regular;
}

template <class T>
void negate(const T* in, std::int64_t ld, std::int64_t rows, std::int64_t columns, T* out) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out[r * columns + c] = -in[r * ld + c];
}

}  // namespace

constinit const LinalgLoops<float> linalg_loops32 = {cholesky_upper<float>, solve<float>,
                                                     lu_panel<float>, negate<float>};
constinit const LinalgLoops<double> linalg_loops64 = {cholesky_upper<double>, solve<double>,
                                                      lu_panel<double>, negate<double>};

}  // namespace gradus::kernels::GRADUS_ISA
