#include "expr/tile_ops.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "expr/assist.h"

namespace gradus::expr {
namespace {

using Mask = std::uint8_t;  // 0 or 1; lanes past the end of a tile may hold anything
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;

// Integer arithmetic wraps, so it happens in the unsigned type of the same size.
template <class T, class F>
T wrapping(T a, T b, F f) {
  return static_cast<T>(f(static_cast<Bits<T>>(a), static_cast<Bits<T>>(b)));
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kFloat<T>)
      return a + b;
    else
      return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kFloat<T>)
      return a - b;
    else
      return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kFloat<T>)
      return a * b;
    else
      return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kFloat<T>)
      return a / b;
    else if (b == 0)
      return 0;
    else if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Sub()(T{0}, a);
    else
      return a / b;
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kFloat<T>)
      return std::fmod(a, b);
    else if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)))
      return 0;
    else
      return a % b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : a > b ? a : b;
  }
};
template <class F>
struct OnBits {
  template <class T>
  T operator()(T a, T b) const {
    return std::bit_cast<T>(
        static_cast<Bits<T>>(F()(std::bit_cast<Bits<T>>(a), std::bit_cast<Bits<T>>(b))));
  }
};
struct Shl {
  template <class T>
  T operator()(T a, T b) const {
    const auto n = static_cast<Bits<T>>(b);
    return n < sizeof(T) * 8 ? static_cast<T>(static_cast<Bits<T>>(a) << n) : T{0};
  }
};
struct Shr {
  template <class T>
  T operator()(T a, T b) const {
    const auto n = static_cast<Bits<T>>(b);
    return n < sizeof(T) * 8 ? static_cast<T>(static_cast<Bits<T>>(a) >> n) : T{0};
  }
};
struct Sar {
  template <class T>
  T operator()(T a, T b) const {
    const auto n = static_cast<Bits<T>>(b);
    return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >>
                          (n < sizeof(T) * 8 ? n : sizeof(T) * 8 - 1));
  }
};

struct Neg {
  template <class T>
  T operator()(T a) const {
    if constexpr (kFloat<T>)
      return -a;
    else
      return Sub()(T{0}, a);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (kFloat<T>)
      return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < 0 ? Sub()(T{0}, a) : a;
    else
      return a;
  }
};
struct Sqrt {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Round {
  template <class T>
  T operator()(T a) const {
    return std::nearbyint(a);
  }
};
struct Floor {
  template <class T>
  T operator()(T a) const {
    return std::floor(a);
  }
};
struct Ceil {
  template <class T>
  T operator()(T a) const {
    return std::ceil(a);
  }
};
struct Trunc {
  template <class T>
  T operator()(T a) const {
    return std::trunc(a);
  }
};
struct BitNot {
  template <class T>
  T operator()(T a) const {
    return std::bit_cast<T>(static_cast<Bits<T>>(~std::bit_cast<Bits<T>>(a)));
  }
};

struct Lt {
  template <class T>
  Mask operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  Mask operator()(T a, T b) const {
    return a <= b;
  }
};
struct Eq {
  template <class T>
  Mask operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  Mask operator()(T a, T b) const {
    return a != b;
  }
};

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, Mask>) {
    return x != From{0};
  } else if constexpr (std::is_same_v<From, Mask> || !kFloat<From> || kFloat<To>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    if (x > From(-0x1p63) && x < From(0x1p63)) return static_cast<std::int64_t>(x);
    return x >= From(0x1p63) && x < From(0x1p64) ? static_cast<To>(x) : To{1} << 63;
  } else {
    // The largest To plus one is a power of two, so it is exact in both float types.
    constexpr From limit = -static_cast<From>(std::numeric_limits<To>::min());
    return x >= -limit && x < limit ? static_cast<To>(x) : std::numeric_limits<To>::min();
  }
}

// The loops. The inner trip count is a constant so that they vectorise.
template <class R, class T, class Op>
void unary(void* out, const void* a, const void*, const void*, int n) {
  auto* __restrict o = static_cast<R*>(out);
  auto* x = static_cast<const T*>(a);
  for (int i = 0; i < n; i += kTileStep)
    for (int k = i; k < i + kTileStep; ++k) o[k] = Op()(x[k]);
}

template <class R, class T, class Op>
void binary(void* out, const void* a, const void* b, const void*, int n) {
  auto* __restrict o = static_cast<R*>(out);
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  for (int i = 0; i < n; i += kTileStep)
    for (int k = i; k < i + kTileStep; ++k) o[k] = Op()(x[k], y[k]);
}

template <class T>
void fused(void* out, const void* a, const void* b, const void* c, int n) {
  auto* __restrict o = static_cast<T*>(out);
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *z = static_cast<const T*>(c);
  for (int i = 0; i < n; ++i) {
    if constexpr (kFloat<T>)
      o[i] = std::fma(x[i], y[i], z[i]);
    else
      o[i] = Add()(Mul()(x[i], y[i]), z[i]);
  }
}

template <class T>
void select(void* out, const void* a, const void* b, const void* c, int n) {
  auto* __restrict o = static_cast<T*>(out);
  auto* m = static_cast<const Mask*>(a);
  auto *x = static_cast<const T*>(b), *y = static_cast<const T*>(c);
  for (int i = 0; i < n; i += kTileStep)
    for (int k = i; k < i + kTileStep; ++k) o[k] = m[k] ? x[k] : y[k];
}

template <class T, bool kWhenTrue>
void keep(void* out, const void* a, const void* b, const void*, int n) {
  auto* __restrict o = static_cast<T*>(out);
  auto* m = static_cast<const Mask*>(a);
  auto* x = static_cast<const T*>(b);
  for (int i = 0; i < n; i += kTileStep)
    for (int k = i; k < i + kTileStep; ++k) o[k] = m[k] == kWhenTrue ? x[k] : T{0};
}

template <class To, class From>
struct Convert {
  To operator()(From x) const { return converted<To>(x); }
};
template <class To, class From>
struct Cast {
  To operator()(From x) const { return std::bit_cast<To>(x); }
};
// Through storage S and back.
template <class S>
struct Narrow {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<S>(x));
  }
};

template <class F>
TileFn with_type(Type t, F f) {
  switch (t) {
    case Type::mask:
      return f(Mask{});
    case Type::i32:
      return f(std::int32_t{});
    case Type::i64:
      return f(std::int64_t{});
    case Type::u64:
      return f(std::uint64_t{});
    case Type::f32:
      return f(float{});
    case Type::f64:
      return f(double{});
  }
  return nullptr;
}

template <class Op>
TileFn binary_fn(Type t) {
  return with_type(t, [](auto z) -> TileFn {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, Mask>)
      return nullptr;
    else
      return binary<T, T, Op>;
  });
}
template <class Op>
TileFn integer_fn(Type t) {
  return with_type(t, [](auto z) -> TileFn {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, Mask> || kFloat<T>)
      return nullptr;
    else
      return binary<T, T, Op>;
  });
}
template <class Op>
TileFn compare_fn(Type t) {
  return with_type(t, [](auto z) -> TileFn { return binary<Mask, decltype(z), Op>; });
}
template <class Op>
TileFn unary_fn(Type t) {
  return with_type(t, [](auto z) -> TileFn {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, Mask>)
      return nullptr;
    else
      return unary<T, T, Op>;
  });
}
template <class Op>
TileFn float_fn(Type t) {
  if (t == Type::f32) return unary<float, float, Op>;
  return t == Type::f64 ? unary<double, double, Op> : nullptr;
}

TileFn convert_fn(Type to, Type from) {
  return with_type(to, [&](auto t) {
    using To = decltype(t);
    return with_type(from, [](auto f) -> TileFn {
      using From = decltype(f);
      return unary<To, From, Convert<To, From>>;
    });
  });
}

TileFn bitcast_fn(Type to, Type from) {
  return with_type(to, [&](auto t) {
    using To = decltype(t);
    return with_type(from, [](auto f) -> TileFn {
      using From = decltype(f);
      if constexpr (sizeof(To) == sizeof(From))
        return unary<To, From, Cast<To, From>>;
      else
        return nullptr;
    });
  });
}

TileFn narrow_fn(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return unary<std::int32_t, std::int32_t, Narrow<std::int8_t>>;
    case DType::int16:
      return unary<std::int32_t, std::int32_t, Narrow<std::int16_t>>;
    case DType::uint8:
      return unary<std::int32_t, std::int32_t, Narrow<std::uint8_t>>;
    case DType::uint16:
      return unary<std::int32_t, std::int32_t, Narrow<std::uint16_t>>;
    case DType::uint32:
      return unary<std::int64_t, std::int64_t, Narrow<std::uint32_t>>;
    case DType::float16:
      return unary<float, float, Narrow<half>>;
    case DType::bfloat16:
      return unary<float, float, Narrow<bfloat>>;
    default:
      return nullptr;
  }
}

template <Assistant kF, class T>
void assisted(void* out, const void* y, const void* x, const void* second, int n) {
  std::memcpy(out, y, static_cast<std::size_t>(n) * sizeof(T));
  static const AssistFn fn = assist_fn(kF, std::is_same_v<T, double> ? Type::f64 : Type::f32);
  fn(x, second, out, n);
}

template <Assistant kF>
TileFn assisted_fn(Type type) {
  return type == Type::f64 ? assisted<kF, double> : assisted<kF, float>;
}

template <std::size_t... I>
TileFn find_assisted(std::size_t f, Type type, std::index_sequence<I...>) {
  constexpr TileFn (*kAll[])(Type) = {assisted_fn<static_cast<Assistant>(I)>...};
  return kAll[f](type);
}

TileFn assist_tile_fn(Assistant f, Type type) {
  return find_assisted(static_cast<std::size_t>(f), type, std::make_index_sequence<kAssistants>());
}

TileFn find(const Instr& i, Type from) {
  switch (i.code) {
    case Code::add:
      return binary_fn<Add>(i.type);
    case Code::sub:
      return binary_fn<Sub>(i.type);
    case Code::mul:
      return binary_fn<Mul>(i.type);
    case Code::div:
      return binary_fn<Div>(i.type);
    case Code::rem:
      return binary_fn<Rem>(i.type);
    case Code::min:
      return binary_fn<Min>(i.type);
    case Code::max:
      return binary_fn<Max>(i.type);
    case Code::bit_and:
      return binary_fn<OnBits<std::bit_and<>>>(i.type);
    case Code::bit_or:
      return binary_fn<OnBits<std::bit_or<>>>(i.type);
    case Code::bit_xor:
      return binary_fn<OnBits<std::bit_xor<>>>(i.type);
    case Code::shl:
      return integer_fn<Shl>(i.type);
    case Code::shr:
      return integer_fn<Shr>(i.type);
    case Code::sar:
      return integer_fn<Sar>(i.type);
    case Code::neg:
      return unary_fn<Neg>(i.type);
    case Code::abs:
      return unary_fn<Abs>(i.type);
    case Code::bit_not:
      return unary_fn<BitNot>(i.type);
    case Code::sqrt:
      return float_fn<Sqrt>(i.type);
    case Code::round:
      return float_fn<Round>(i.type);
    case Code::floor:
      return float_fn<Floor>(i.type);
    case Code::ceil:
      return float_fn<Ceil>(i.type);
    case Code::trunc:
      return float_fn<Trunc>(i.type);
    case Code::lt:
      return compare_fn<Lt>(from);
    case Code::le:
      return compare_fn<Le>(from);
    case Code::eq:
      return compare_fn<Eq>(from);
    case Code::ne:
      return compare_fn<Ne>(from);
    case Code::logical_and:
      return binary<Mask, Mask, std::logical_and<>>;
    case Code::logical_or:
      return binary<Mask, Mask, std::logical_or<>>;
    case Code::logical_xor:
      return binary<Mask, Mask, std::not_equal_to<>>;
    case Code::logical_not:
      return unary<Mask, Mask, std::logical_not<>>;
    case Code::fma:
      return with_type(i.type, [](auto z) -> TileFn {
        using T = decltype(z);
        if constexpr (std::is_same_v<T, Mask>)
          return nullptr;
        else
          return fused<T>;
      });
    case Code::select:
      return with_type(i.type, [](auto z) -> TileFn { return select<decltype(z)>; });
    case Code::keep:
      return with_type(i.type, [](auto z) -> TileFn { return keep<decltype(z), true>; });
    case Code::drop:
      return with_type(i.type, [](auto z) -> TileFn { return keep<decltype(z), false>; });
    case Code::convert:
      return convert_fn(i.type, from);
    case Code::bitcast:
      return bitcast_fn(i.type, from);
    case Code::narrow:
      return narrow_fn(static_cast<DType>(i.bits));
    case Code::assist:
      return assist_tile_fn(static_cast<Assistant>(i.bits), i.type);
    default:
      return nullptr;
  }
}

template <class S, class T>
void load(void* to, const void* from, int n) {
  if constexpr (std::is_same_v<S, T>) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  auto* o = static_cast<T*>(to);
  auto* p = static_cast<const char*>(from);
  for (int i = 0; i < n; ++i) {
    S x;
    std::memcpy(&x, p + i * sizeof(S), sizeof(S));
    o[i] = static_cast<T>(x);
  }
}
template <class S, class T>
void store(void* to, const void* from, int n) {
  if constexpr (std::is_same_v<S, T>) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  auto* p = static_cast<char*>(to);
  auto* x = static_cast<const T*>(from);
  for (int i = 0; i < n; ++i) {
    const S s = static_cast<S>(x[i]);
    std::memcpy(p + i * sizeof(S), &s, sizeof(S));
  }
}
void load_bool(void* to, const void* from, int n) {
  auto* o = static_cast<Mask*>(to);
  auto* p = static_cast<const unsigned char*>(from);
  for (int i = 0; i < n; ++i) o[i] = p[i] != 0;
}

template <class F>
CopyFn with_storage(DType t, F f) {
  switch (t) {
    case DType::int8:
      return f(std::int8_t{}, std::int32_t{});
    case DType::int16:
      return f(std::int16_t{}, std::int32_t{});
    case DType::int32:
      return f(std::int32_t{}, std::int32_t{});
    case DType::uint8:
      return f(std::uint8_t{}, std::int32_t{});
    case DType::uint16:
      return f(std::uint16_t{}, std::int32_t{});
    case DType::uint32:
      return f(std::uint32_t{}, std::int64_t{});
    case DType::int64:
      return f(std::int64_t{}, std::int64_t{});
    case DType::uint64:
      return f(std::uint64_t{}, std::uint64_t{});
    case DType::float16:
      return f(half{}, float{});
    case DType::bfloat16:
      return f(bfloat{}, float{});
    case DType::float32:
      return f(float{}, float{});
    case DType::float64:
      return f(double{}, double{});
    default:
      return nullptr;
  }
}

}  // namespace

TileFn tile_fn(const Instr& instr, Type from) {
  const TileFn fn = find(instr, from);
  GRADUS_ASSERT(fn != nullptr);
  return fn;
}

CopyFn load_fn(DType t) {
  if (t == DType::bool_) return load_bool;
  return with_storage(t, [](auto s, auto r) -> CopyFn { return load<decltype(s), decltype(r)>; });
}

CopyFn store_fn(DType t) {
  if (t == DType::bool_) return store<bool, Mask>;
  return with_storage(t, [](auto s, auto r) -> CopyFn { return store<decltype(s), decltype(r)>; });
}

void splat(Type type, void* tile, int n) {
  with_type(type, [&](auto z) -> TileFn {
    auto* t = static_cast<decltype(z)*>(tile);
    for (int i = 1; i < n; ++i) t[i] = t[0];
    return nullptr;
  });
}

}  // namespace gradus::expr
