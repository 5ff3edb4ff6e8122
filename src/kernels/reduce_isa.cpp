// A row is folded into lanes side by side, first 256 bytes of them at a time, then 64, then one
// element; the lanes are combined as a tree. Lane counts are the same for every instruction set, so
// that all of them give the same bits. Columns are folded eight rows at a time.
#include <type_traits>

#include "kernels/reduce_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
struct Complex {
  T re, im;
};

struct Sum {
  template <class V>
  static V apply(V a, V b) {
    return static_cast<V>(a + b);
  }
};

struct Prod {
  template <class V>
  static V apply(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(1u * a * b);
    else
      return a * b;
  }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

struct Max {
  template <class V>
  static V apply(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return a > b || is_nan(a) ? a : b;
    else
      return ((a > b) | is_nan(a)) ? a : b;
  }
};

struct Min {
  template <class V>
  static V apply(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return a < b || is_nan(a) ? a : b;
    else
      return ((a < b) | is_nan(a)) ? a : b;
  }
};

// a[0] op a[1] op ..., upper half onto lower half until one is left.
template <class Op, int kCount, class V>
inline V fold_halves(V* a) {
  if constexpr (kCount > 1) {
#pragma GCC unroll 32
    for (int i = 0; i < kCount / 2; ++i) a[i] = Op::apply(a[i], a[i + kCount / 2]);
    return fold_halves<Op, kCount / 2>(a);
  }
  return a[0];
}

// n is a positive multiple of the number of lanes.
template <class Op, int kLaneBytes, class T>
inline Compute<T> fold_lanes(const T* p, std::int64_t n) {
  using C = Compute<T>;
  constexpr int kVectors = kLaneBytes / kVectorBytes, kAll = kLaneBytes / sizeof(C);
  Vec<C> acc[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) acc[v] = load(p + v * kLanes<C>);
  for (std::int64_t i = kAll; i < n; i += kAll) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) acc[v] = Op::apply(acc[v], load(p + i + v * kLanes<C>));
  }
  C lane[kLanes<C>];
  store(lane, fold_halves<Op, kVectors>(acc));
  return fold_halves<Op, kLanes<C>>(lane);
}

template <class Op, class T>
inline Compute<T> fold_one_by_one(const T* p, std::int64_t n) {
  Compute<T> acc = load_one(p);
  for (std::int64_t i = 1; i < n; ++i) {
    short_loop();
    acc = Op::apply(acc, load_one(p + i));
  }
  return acc;
}

template <class Op, class T>
inline Compute<T> fold_row(const T* p, std::int64_t n) {
  using C = Compute<T>;
  constexpr std::int64_t kWide = 256 / sizeof(C), kNarrow = 64 / sizeof(C);
  const std::int64_t wide = n & -kWide, narrow = (n - wide) & -kNarrow, rest = n - wide - narrow;
  C acc{};
  bool empty = true;
  const auto add = [&](C part) {
    acc = empty ? part : Op::apply(acc, part);
    empty = false;
  };
  if (wide) add(fold_lanes<Op, 256>(p, wide));
  if (narrow) add(fold_lanes<Op, 64>(p + wide, narrow));
  if (rest) add(fold_one_by_one<Op>(p + wide + narrow, rest));
  return acc;
}

template <class Op, class T>
void rows(const void* in, std::int64_t count, std::int64_t n, void* out) {
  const T* p = static_cast<const T*>(in);
  Compute<T>* to = static_cast<Compute<T>*>(out);
  if constexpr (std::is_class_v<Compute<T>>) {
    for (std::int64_t r = 0; r < count; ++r) to[r] = fold_one_by_one<Op>(p + r * n, n);
  } else {
    for (std::int64_t r = 0; r < count; ++r) to[r] = fold_row<Op>(p + r * n, n);
  }
}

// in[0] op in[stride] op ...: kRows elements or vectors of them, as a tree.
template <class Op, int kRows, class T, class Load>
inline auto fold_tree(const T* p, std::int64_t stride, Load at) {
  decltype(at(p)) a[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) a[r] = at(p + r * stride);
  return fold_halves<Op, kRows>(a);
}

// Folds kRows rows onto out, or into it if kFirst.
template <class Op, int kRows, bool kFirst, class T>
inline void fold_rows(const T* p, std::int64_t stride, std::int64_t width, Compute<T>* out) {
  using C = Compute<T>;
  std::int64_t i = 0;
  if constexpr (!std::is_class_v<C>) {
    for (; i + kLanes<C> <= width; i += kLanes<C>) {
      Vec<C> v = fold_tree<Op, kRows>(p + i, stride, [](const T* q) { return load(q); });
      if (!kFirst) v = Op::apply(load(out + i), v);
      store(out + i, v);
    }
  }
  for (; i < width; ++i) {
    short_loop();
    const C c = fold_tree<Op, kRows>(p + i, stride, [](const T* q) { return load_one(q); });
    out[i] = kFirst ? c : Op::apply(out[i], c);
  }
}

template <class Op, class T>
void columns(const void* in, const ReduceLoops::Columns& shape, void* out) {
  const std::int64_t stride = shape.row_stride, width = shape.width, n = shape.rows;
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    const T* p = static_cast<const T*>(in) + o * shape.outer_stride;
    Compute<T>* to = static_cast<Compute<T>*>(out) + o * shape.out_stride;
    fold_rows<Op, 1, true>(p, stride, width, to);
    std::int64_t r = 1;
    for (; r + 8 <= n; r += 8) fold_rows<Op, 8, false>(p + r * stride, stride, width, to);
    for (; r < n; ++r) fold_rows<Op, 1, false>(p + r * stride, stride, width, to);
  }
}

template <class Op, class T>
constexpr void enter(ReduceLoops& loops, ReduceLoops::Op op, DType t) {
  loops.rows[op][static_cast<int>(t)] = rows<Op, T>;
  loops.columns[op][static_cast<int>(t)] = columns<Op, T>;
}

template <class Op>
constexpr void enter_modular(ReduceLoops& loops, ReduceLoops::Op op) {
  enter<Op, std::uint8_t>(loops, op, uint8);
  enter<Op, std::uint16_t>(loops, op, uint16);
  enter<Op, std::uint32_t>(loops, op, uint32);
  enter<Op, std::uint64_t>(loops, op, uint64);
  enter<Op, half>(loops, op, float16);
  enter<Op, bfloat>(loops, op, bfloat16);
  enter<Op, float>(loops, op, float32);
  enter<Op, double>(loops, op, float64);
}

template <class Op>
constexpr void enter_signed(ReduceLoops& loops, ReduceLoops::Op op) {
  enter<Op, std::int8_t>(loops, op, int8);
  enter<Op, std::int16_t>(loops, op, int16);
  enter<Op, std::int32_t>(loops, op, int32);
  enter<Op, std::int64_t>(loops, op, int64);
}

constexpr ReduceLoops all_loops() {
  ReduceLoops loops;
  enter_modular<Sum>(loops, ReduceLoops::kSum);
  enter_modular<Prod>(loops, ReduceLoops::kProd);
  enter<Prod, Complex<float>>(loops, ReduceLoops::kProd, complex64);
  enter<Prod, Complex<double>>(loops, ReduceLoops::kProd, complex128);
  enter_modular<Max>(loops, ReduceLoops::kMax);
  enter_signed<Max>(loops, ReduceLoops::kMax);
  enter_modular<Min>(loops, ReduceLoops::kMin);
  enter_signed<Min>(loops, ReduceLoops::kMin);
  return loops;
}

}  // namespace

constinit const ReduceLoops reduce_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
