#include "kernels/scatter.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "kernels/ranges.h"
#include "kernels/row_groups.h"
#include "kernels/scratch.h"
#include "kernels/strided_copy.h"

namespace gradus::kernels {
namespace {

// Integers wrap: arithmetic modulo 2^64 is right for all of them.
template <class T>
std::uint64_t modular(T x) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<std::uint64_t>(std::int64_t{x});
  else
    return x;
}

template <ScatterOp kOp, class T>
T combine(T a, T b) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
    return T(combine<kOp, float>(a, b));
  } else if constexpr (kOp == ScatterOp::multiply) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(modular(a) * modular(b));
    else
      return a * b;
  } else {
    const bool better = kOp == ScatterOp::maximum ? b > a : b < a;
    const bool is_nan = b != b;  // NOLINT(misc-redundant-expression)
    return better || is_nan ? b : a;
  }
}

// Row by row in the order of the updates, columns split between threads. A row that was not
// touched yet (if that is asked for) takes its first update as it is.
template <ScatterOp kOp, class T>
void scatter_in_order(const std::int64_t* indices, const T* updates, const ScatterShape& shape,
                      T* out, const char* untouched) {
  const std::int64_t width = shape.width;
  const std::int64_t block = std::max<std::int64_t>(64, grain_of(sizeof(T) * shape.count));
  parallel_ranges(width, block, [&](std::int64_t begin, std::int64_t end) {
    Scratch memory(untouched ? static_cast<std::size_t>(shape.rows) : 0);
    char* fresh = untouched ? memory.as<char>() : nullptr;
    if (fresh) std::memcpy(fresh, untouched, static_cast<std::size_t>(shape.rows));
    for (std::int64_t k = 0; k < shape.count; ++k) {
      const std::int64_t row = indices[k];
      if (row < 0) continue;
      const T* from = updates + k * width;
      T* to = out + row * width;
      if (fresh && fresh[row]) {
        fresh[row] = 0;
        std::copy(from + begin, from + end, to + begin);
      } else {
        for (std::int64_t i = begin; i < end; ++i) to[i] = combine<kOp>(to[i], from[i]);
      }
    }
  });
}

// A sum in twice the digits of T.
struct WideFloat {
  double value = 0;
  void add(float x) { value += x; }
  float result(float start) const { return static_cast<float>(start + value); }
};
struct WideDouble {
  double high = 0, low = 0;
  void add(double x) {
    const double sum = high + x, shifted = sum - high;
    low += (high - (sum - shifted)) + (x - shifted);
    high = sum;
  }
  double result(double start) const {
    WideDouble total = *this;
    total.add(start);
    return std::isfinite(total.low) ? total.high + total.low : total.high;
  }
};

// Short rows, many of them: one wide accumulator per element beats sorting.
template <class T>
void add_by_accumulators(const std::int64_t* indices, const T* updates, const ScatterShape& shape,
                         T* out, bool subtract) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, WideDouble, WideFloat>;
  const std::int64_t width = shape.width, n = shape.rows * width;
  Scratch memory(static_cast<std::size_t>(n) * sizeof(Wide));
  Wide* sums = memory.as<Wide>();
  std::fill_n(sums, n, Wide());
  for (std::int64_t k = 0; k < shape.count; ++k) {
    constexpr std::int64_t kAhead = 16;  // sums asked for early: they are anywhere in memory
    if (k + kAhead < shape.count && indices[k + kAhead] >= 0)
      __builtin_prefetch(sums + indices[k + kAhead] * width, 1);
    const std::int64_t row = indices[k];
    if (row < 0) continue;
    for (std::int64_t i = 0; i < width; ++i) {
      const auto x = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(
          updates[k * width + i]);
      sums[row * width + i].add(subtract ? -x : x);
    }
  }
  parallel_ranges(n, grain_of(sizeof(Wide)), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = T(sums[i].result(out[i]));
  });
}

template <class T>
void add(const std::int64_t* indices, const T* updates, const ScatterShape& shape, T* out,
         bool subtract) {
  if constexpr (is_complex(dtype_v<T>)) {
    using Real = typename T::value_type;
    if (shape.width * sizeof(T) < 64 && shape.rows <= 4 * shape.count)
      return add_by_accumulators(indices, reinterpret_cast<const Real*>(updates),
                                 {shape.count, 2 * shape.width, shape.rows},
                                 reinterpret_cast<Real*>(out), subtract);
  } else if constexpr (is_floating(dtype_v<T>)) {
    if (shape.width * sizeof(T) < 64 && shape.rows <= 4 * shape.count)
      return add_by_accumulators(indices, updates, shape, out, subtract);
  } else {
    if (shape.width * sizeof(T) < 64) {
      for (std::int64_t k = 0; k < shape.count; ++k) {
        if (indices[k] < 0) continue;
        for (std::int64_t i = 0; i < shape.width; ++i) {
          T& to = out[indices[k] * shape.width + i];
          const std::uint64_t by = modular(updates[k * shape.width + i]);
          to = static_cast<T>(modular(to) + (subtract ? 0 - by : by));
        }
      }
      return;
    }
  }
  const RowGroups groups(int64, indices, shape.count, shape.rows);
  add_groups(dtype_v<T>, groups, updates, shape.width, out, subtract);
}

// The last update of a row stays, so each thread writes its own columns of all rows.
void update(std::size_t item_size, const std::int64_t* indices, const void* updates,
            const ScatterShape& shape, void* out) {
  const std::int64_t row_bytes = shape.width * static_cast<std::int64_t>(item_size);
  const std::int64_t block = std::max<std::int64_t>(256, grain_of(shape.count));
  parallel_ranges(row_bytes, block, [&](std::int64_t begin, std::int64_t end) {
    const auto* from = static_cast<const char*>(updates) + begin;
    auto* to = static_cast<char*>(out) + begin;
    for (std::int64_t k = 0; k < shape.count; ++k)
      if (indices[k] >= 0)
        std::memcpy(to + indices[k] * row_bytes, from + k * row_bytes,
                    static_cast<std::size_t>(end - begin));
  });
}

void scatter_any(ScatterOp op, DType t, DType index_type, const void* given_indices,
                 const void* updates, const ScatterShape& shape, void* out, const char* untouched) {
  if (shape.count == 0 || shape.width == 0) return;
  const auto* indices = static_cast<const std::int64_t*>(given_indices);
  Scratch widened(index_type == int32 ? static_cast<std::size_t>(shape.count) * 8 : 0);
  if (index_type == int32) {
    std::copy_n(static_cast<const std::int32_t*>(given_indices), shape.count,
                widened.as<std::int64_t>());
    indices = widened.as<std::int64_t>();
  }
  if (op == ScatterOp::update) return update(size_of(t), indices, updates, shape, out);
  visit_dtype(t, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      const T* from = static_cast<const T*>(updates);
      T* to = static_cast<T*>(out);
      if (op == ScatterOp::add || op == ScatterOp::subtract)
        return add(indices, from, shape, to, op == ScatterOp::subtract);
      if (op == ScatterOp::multiply)
        return scatter_in_order<ScatterOp::multiply>(indices, from, shape, to, untouched);
      if constexpr (!is_complex(dtype_v<T>)) {
        if (op == ScatterOp::maximum)
          return scatter_in_order<ScatterOp::maximum>(indices, from, shape, to, untouched);
        return scatter_in_order<ScatterOp::minimum>(indices, from, shape, to, untouched);
      }
    }
  });
}

}  // namespace

bool scatters(ScatterOp op, DType t) {
  if (op == ScatterOp::update) return true;
  if (op == ScatterOp::maximum || op == ScatterOp::minimum) return !is_bool(t) && !is_complex(t);
  return !is_bool(t);
}

void scatter(ScatterOp op, DType t, DType index_type, const void* indices, const void* updates,
             const ScatterShape& shape, void* out) {
  scatter_any(op, t, index_type, indices, updates, shape, out, nullptr);
}

void scatter_into_empty(ScatterOp op, DType t, DType index_type, const void* indices,
                        const void* updates, const ScatterShape& shape, const void* empty,
                        void* out) {
  fill(size_of(t), empty, shape.rows * shape.width, out);
  if (op == ScatterOp::add || op == ScatterOp::subtract || op == ScatterOp::update)
    return scatter(op, t, index_type, indices, updates, shape, out);
  Scratch untouched(static_cast<std::size_t>(shape.rows));
  std::memset(untouched.data(), 1, static_cast<std::size_t>(shape.rows));
  scatter_any(op, t, index_type, indices, updates, shape, out, untouched.as<char>());
}

}  // namespace gradus::kernels
