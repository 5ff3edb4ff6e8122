#include "kernels/recurrence.h"

#include <complex>
#include <type_traits>

#include "base/check.h"
#include "kernels/ranges.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kColumns = 64;  // columns that are walked together, their state on the stack

template <class T>
using Carry = std::conditional_t<is_complex(dtype_v<T>), std::complex<double>, double>;

template <class T>
Carry<T> load(T x) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<Carry<T>>(x);
  }
}
template <class T>
T round_to(Carry<T> x) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
void walk(const T* a, const T* b, const RecurrenceShape& s, std::int64_t columns, T* y) {
  Carry<T> state[kColumns] = {};
  const std::int64_t step = s.reverse ? -s.inner : s.inner;
  std::int64_t row = s.reverse ? (s.n - 1) * s.inner : 0;
  for (std::int64_t i = 0; i < s.n; ++i, row += step) {
    const std::int64_t factor = s.lag ? row - step : row;
    for (std::int64_t c = 0; c < columns; ++c) {
      state[c] = i == 0 ? load(b[row + c]) : load(a[factor + c]) * state[c] + load(b[row + c]);
      y[row + c] = round_to<T>(state[c]);
    }
  }
}

template <class T>
void walk_all(const void* a, const void* b, const RecurrenceShape& s, void* out) {
  const std::int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  const std::int64_t work =
      s.n * std::min(s.inner, kColumns) * static_cast<std::int64_t>(sizeof(T));
  parallel_ranges(s.outer * blocks, grain_of(work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % blocks * kColumns;
      const std::int64_t first = i / blocks * s.n * s.inner + column;
      walk(static_cast<const T*>(a) + first, static_cast<const T*>(b) + first, s,
           std::min(kColumns, s.inner - column), static_cast<T*>(out) + first);
    }
  });
}

}  // namespace

void linear_recurrence(DType t, const void* a, const void* b, const RecurrenceShape& shape,
                       void* out) {
  visit_dtype(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_differentiable(dtype_v<T>)) {
      walk_all<T>(a, b, shape, out);
    } else {
      fail<InternalError>("linear_recurrence of ", name_of(t));
    }
  });
}

}  // namespace gradus::kernels
