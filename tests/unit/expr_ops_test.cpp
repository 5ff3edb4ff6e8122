// Every instruction on every type it takes, on every instruction set, against plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

constexpr std::size_t kCount = 331;

// What the emitter leaves to the interpreter; everything else must be machine code.
bool interpreted(const Program& lowered) {
  for (const Instr& i : lowered.code) {
    if (i.code == Code::rem || (i.code == Code::div && is_int(i.type))) return true;
    if (i.code != Code::convert) continue;
    const Type from = lowered.code[i.a].type;
    if ((from == Type::u64 && is_float(i.type)) || (i.type == Type::u64 && is_float(from)))
      return true;
  }
  return false;
}

void check_program(const std::string& name, const Program& p, const std::vector<Array>& inputs,
                   const Array& want) {
  for (const Isa isa : isas()) {
    const Kernel kernel = compile(p, isa);
    ASSERT_EQ(kernel.isa(), interpreted(lower(p)) ? Isa::interpreter : isa) << name;
    const auto got = run(kernel, p, 1, kCount, inputs);
    ASSERT_EQ(first_difference(got[0], want), -1)
        << name << " on " << expr::name_of(kernel.isa()) << "\n"
        << to_string(lower(p));
    EXPECT_TRUE(got[0].guards_intact()) << name;
  }
}

// T: storage of the three inputs; R: storage of the output.
template <class T, class R = T, class Reference>
void check(const std::string& name, const std::function<Expr(Expr, Expr, Expr)>& build,
           const Reference& reference) {
  Builder b;
  const Expr x = b.input(dtype_v<T>), y = b.input(dtype_v<T>), z = b.input(dtype_v<T>);
  b.output(build(x, y, z), dtype_v<R>);
  const auto vx = nasty<T>(kCount, 1), vy = nasty<T>(kCount, 2), vz = nasty<T>(kCount, 3);
  std::vector<R> want;
  for (std::size_t i = 0; i < kCount; ++i) want.push_back(R(reference(vx[i], vy[i], vz[i])));
  check_program(name + " of " + gradus::name_of(dtype_v<T>), b.finish(),
                {Array::of(vx), Array::of(vy), Array::of(vz)}, Array::of(want));
}

template <class T>
void check_arithmetic() {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  const auto wrap = [](auto f) {
    return [f](T x, T y, T) {
      if constexpr (kFloat)
        return f(x, y);
      else
        return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
    };
  };
  check<T>(
      "add", [](Expr x, Expr y, Expr) { return x + y; },
      wrap([](auto x, auto y) { return x + y; }));
  check<T>(
      "sub", [](Expr x, Expr y, Expr) { return x - y; },
      wrap([](auto x, auto y) { return x - y; }));
  check<T>(
      "mul", [](Expr x, Expr y, Expr) { return x * y; },
      wrap([](auto x, auto y) { return x * y; }));
  check<T>(
      "neg", [](Expr x, Expr, Expr) { return -x; }, wrap([](auto x, auto) { return -x; }));
  check<T>(
      "div", [](Expr x, Expr y, Expr) { return x / y; },
      [](T x, T y, T) -> T {
        if constexpr (kFloat)
          return x / y;
        else if (y == 0)
          return 0;
        else if (std::is_signed_v<T> && y == T(-1))
          return static_cast<T>(U{0} - static_cast<U>(x));
        else
          return x / y;
      });
  check<T>(
      "rem", [](Expr x, Expr y, Expr) { return rem(x, y); },
      [](T x, T y, T) -> T {
        if constexpr (kFloat)
          return std::fmod(x, y);
        else
          return y == 0 || (std::is_signed_v<T> && y == T(-1)) ? T(0) : T(x % y);
      });
  const auto is_nan = [](T x) { return x != x; };
  check<T>(
      "min", [](Expr x, Expr y, Expr) { return min(x, y); },
      [&](T x, T y, T) {
        return is_nan(x) ? x : is_nan(y) ? y : x < y ? x : y;
      });
  check<T>(
      "max", [](Expr x, Expr y, Expr) { return max(x, y); },
      [&](T x, T y, T) {
        return is_nan(x) ? x : is_nan(y) ? y : x > y ? x : y;
      });
  check<T>(
      "max(x, 0)", [](Expr x, Expr, Expr) { return max(x, 0); },
      [&](T x, T, T) { return is_nan(x) || x == 0 || x > 0 ? x : T(0); });
  check<T>(
      "abs", [](Expr x, Expr, Expr) { return abs(x); },
      [](T x, T, T) -> T {
        if constexpr (kFloat)
          return std::fabs(x);
        else if constexpr (std::is_signed_v<T>)
          return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x;
        else
          return x;
      });
  check<T, bool>(
      "lt", [](Expr x, Expr y, Expr) { return x < y; }, [](T x, T y, T) { return x < y; });
  check<T, bool>(
      "le", [](Expr x, Expr y, Expr) { return x <= y; }, [](T x, T y, T) { return x <= y; });
  check<T, bool>(
      "gt", [](Expr x, Expr y, Expr) { return x > y; }, [](T x, T y, T) { return x > y; });
  check<T, bool>(
      "ge", [](Expr x, Expr y, Expr) { return x >= y; }, [](T x, T y, T) { return x >= y; });
  check<T, bool>(
      "eq", [](Expr x, Expr y, Expr) { return x == y; }, [](T x, T y, T) { return x == y; });
  check<T, bool>(
      "ne", [](Expr x, Expr y, Expr) { return x != y; }, [](T x, T y, T) { return x != y; });
  check<T>(
      "select", [](Expr x, Expr y, Expr z) { return select(x < y, y, z); },
      [](T x, T y, T z) { return x < y ? y : z; });
  check<T>(
      "keep", [](Expr x, Expr y, Expr) { return select(x < y, y, 0); },
      [](T x, T y, T) { return x < y ? y : T(0); });
  check<T>(
      "drop", [](Expr x, Expr y, Expr) { return select(x < y, 0, y); },
      [](T x, T y, T) { return x < y ? T(0) : y; });
  check<T, bool>(
      "masks",
      [](Expr x, Expr y, Expr z) {
        return ((x < y && y < z) || !(x == 1)) ^ (z < 2 && select(x < z, y < x, z < y));
      },
      [](T x, T y, T z) {
        return ((x < y && y < z) || !(x == 1)) != (z < 2 && (x < z ? y < x : z < y));
      });
  check<T, bool>(
      "mask equality", [](Expr x, Expr y, Expr z) { return (x < y) == (y < z); },
      [](T x, T y, T z) { return (x < y) == (y < z); });
}

template <class T>
void check_bits() {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const auto bits = [](auto f) {
    return
        [f](T x, T y, T) { return std::bit_cast<T>(f(std::bit_cast<U>(x), std::bit_cast<U>(y))); };
  };
  check<T>(
      "bit_and", [](Expr x, Expr y, Expr) { return bit_and(x, y); },
      bits([](U x, U y) { return x & y; }));
  check<T>(
      "bit_or", [](Expr x, Expr y, Expr) { return bit_or(x, y); },
      bits([](U x, U y) { return x | y; }));
  check<T>(
      "bit_xor", [](Expr x, Expr y, Expr) { return bit_xor(x, y); },
      bits([](U x, U y) { return x ^ y; }));
  check<T>(
      "bit_not", [](Expr x, Expr, Expr) { return bit_not(x); }, bits([](U x, U) { return ~x; }));
}

template <class T>
void check_shifts() {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  constexpr U kWidth = sizeof(T) * 8;
  check<T>(
      "shl", [](Expr x, Expr y, Expr) { return shl(x, y); },
      [](T x, T y, T) { return static_cast<T>(U(y) < kWidth ? U(x) << U(y) : U(0)); });
  check<T>(
      "shr", [](Expr x, Expr y, Expr) { return shr(x, y); },
      [](T x, T y, T) { return static_cast<T>(U(y) < kWidth ? U(x) >> U(y) : U(0)); });
  check<T>(
      "sar", [](Expr x, Expr y, Expr) { return sar(x, y); },
      [](T x, T y, T) { return static_cast<T>(S(x) >> (U(y) < kWidth ? U(y) : kWidth - 1)); });
  for (const int n : {0, 1, 7, 31}) {
    check<T>(
        "shl n", [n](Expr x, Expr, Expr) { return shl(x, n); },
        [n](T x, T, T) { return static_cast<T>(U(x) << n); });
    check<T>(
        "shr n", [n](Expr x, Expr, Expr) { return shr(x, n); },
        [n](T x, T, T) { return static_cast<T>(U(x) >> n); });
    check<T>(
        "sar n", [n](Expr x, Expr, Expr) { return sar(x, n); },
        [n](T x, T, T) { return static_cast<T>(S(x) >> n); });
  }
}

template <class T>
void check_floating() {
  check<T>(
      "fma", [](Expr x, Expr y, Expr z) { return fma(x, y, z); },
      [](T x, T y, T z) { return std::fma(x, y, z); });
  check<T>(
      "fma constant", [](Expr x, Expr, Expr) { return fma(x, 3, 0.1); },
      [](T x, T, T) { return std::fma(x, T(3), T(0.1)); });
  check<T>(
      "fma square", [](Expr x, Expr y, Expr) { return fma(x, x, y) + x; },
      [](T x, T y, T) { return std::fma(x, x, y) + x; });
  check<T>(
      "fma of itself", [](Expr x, Expr, Expr) { return fma(x, x, x); },
      [](T x, T, T) { return std::fma(x, x, x); });
  check<T>(
      "sqrt", [](Expr x, Expr, Expr) { return sqrt(x); }, [](T x, T, T) { return std::sqrt(x); });
  check<T>(
      "round", [](Expr x, Expr, Expr) { return round(x); },
      [](T x, T, T) { return std::nearbyint(x); });
  check<T>(
      "floor", [](Expr x, Expr, Expr) { return floor(x); },
      [](T x, T, T) { return std::floor(x); });
  check<T>(
      "ceil", [](Expr x, Expr, Expr) { return ceil(x); }, [](T x, T, T) { return std::ceil(x); });
  check<T>(
      "trunc", [](Expr x, Expr, Expr) { return trunc(x); },
      [](T x, T, T) { return std::trunc(x); });
  check<T, bool>(
      "is_nan", [](Expr x, Expr, Expr) { return is_nan(x); },
      [](T x, T, T) { return std::isnan(x); });
  check<T, bool>(
      "is_inf", [](Expr x, Expr, Expr) { return is_inf(x); },
      [](T x, T, T) { return std::isinf(x); });
  check<T, bool>(
      "is_finite", [](Expr x, Expr, Expr) { return is_finite(x); },
      [](T x, T, T) { return std::isfinite(x); });
  check<T, bool>(
      "sign_bit", [](Expr x, Expr, Expr) { return sign_bit(x); },
      [](T x, T, T) { return std::signbit(x); });
  check<T>(
      "copy_sign", [](Expr x, Expr y, Expr) { return copy_sign(x, y); },
      [](T x, T y, T) { return std::copysign(x, y); });
  check<T>(
      "scaled", [](Expr x, Expr y, Expr) { return scaled(x, y); },
      [](T x, T y, T) { return x == 0 ? T(0) : x * y; });
  check<T>(
      "division by a power of two", [](Expr x, Expr, Expr) { return x / 8 + x / 1e-3; },
      [](T x, T, T) { return x / T(8) + x / T(1e-3); });
}

TEST(ExprOps, Float32) { check_arithmetic<float>(), check_bits<float>(), check_floating<float>(); }
TEST(ExprOps, Float64) {
  check_arithmetic<double>(), check_bits<double>(), check_floating<double>();
}
TEST(ExprOps, Int32) {
  check_arithmetic<std::int32_t>(), check_bits<std::int32_t>(), check_shifts<std::int32_t>();
}
TEST(ExprOps, Int64) {
  check_arithmetic<std::int64_t>(), check_bits<std::int64_t>(), check_shifts<std::int64_t>();
}
TEST(ExprOps, UInt64) {
  check_arithmetic<std::uint64_t>(), check_bits<std::uint64_t>(), check_shifts<std::uint64_t>();
}

// What is loaded, converted to another type and stored is the plain conversion.
template <class To, class From>
To plain(From x) {
  using R = std::conditional_t<std::is_same_v<To, half> || std::is_same_v<To, bfloat>, float, To>;
  using F =
      std::conditional_t<std::is_same_v<From, half> || std::is_same_v<From, bfloat>, float, From>;
  const F f = x;
  if constexpr (std::is_same_v<R, bool>) {
    return f != F(0);
  } else if constexpr (std::is_floating_point_v<F> && std::is_integral_v<R>) {
    using Wide = std::conditional_t<
        (sizeof(R) < 4) || std::is_same_v<R, std::int32_t>, std::int32_t,
        std::conditional_t<std::is_same_v<R, std::uint64_t>, std::uint64_t, std::int64_t>>;
    const double d = f;
    if constexpr (std::is_same_v<Wide, std::uint64_t>) {
      if (d > -0x1p63 && d < 0x1p63)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(d));
      return d >= 0x1p63 && d < 0x1p64 ? static_cast<std::uint64_t>(d) : 1ull << 63;
    } else {
      const double low = static_cast<double>(std::numeric_limits<Wide>::min());
      return static_cast<R>(d >= low && d < -low ? static_cast<Wide>(d)
                                                 : std::numeric_limits<Wide>::min());
    }
  } else if constexpr (std::is_same_v<To, half> || std::is_same_v<To, bfloat>) {
    return To(static_cast<float>(f));
  } else {
    return static_cast<To>(f);
  }
}

template <class To, class From>
void check_convert() {
  check<From, To>(
      "convert", [](Expr x, Expr, Expr) { return convert(x, type_of(dtype_v<To>)); },
      [](From x, From, From) { return plain<To>(x); });
}

template <class From>
void check_converts() {
  check_convert<bool, From>();
  check_convert<std::int8_t, From>();
  check_convert<std::int16_t, From>();
  check_convert<std::int32_t, From>();
  check_convert<std::int64_t, From>();
  check_convert<std::uint8_t, From>();
  check_convert<std::uint16_t, From>();
  check_convert<std::uint32_t, From>();
  check_convert<std::uint64_t, From>();
  check_convert<half, From>();
  check_convert<bfloat, From>();
  check_convert<float, From>();
  check_convert<double, From>();
}

TEST(ExprOps, ConvertsFromBoolAndFloats) {
  check_converts<bool>();
  check_converts<float>();
  check_converts<double>();
  check_converts<half>();
  check_converts<bfloat>();
}
TEST(ExprOps, ConvertsFromIntegers) {
  check_converts<std::int8_t>();
  check_converts<std::int16_t>();
  check_converts<std::int32_t>();
  check_converts<std::int64_t>();
  check_converts<std::uint8_t>();
  check_converts<std::uint16_t>();
  check_converts<std::uint32_t>();
  check_converts<std::uint64_t>();
}

TEST(ExprOps, Bitcasts) {
  check<float, std::int32_t>(
      "bitcast", [](Expr x, Expr, Expr) { return bitcast(x, Type::i32); },
      [](float x, float, float) { return std::bit_cast<std::int32_t>(x); });
  check<double, std::uint64_t>(
      "bitcast", [](Expr x, Expr, Expr) { return bitcast(x, Type::u64); },
      [](double x, double, double) { return std::bit_cast<std::uint64_t>(x); });
  check<std::int64_t, double>(
      "bitcast", [](Expr x, Expr, Expr) { return bitcast(x, Type::f64); },
      [](std::int64_t x, std::int64_t, std::int64_t) { return std::bit_cast<double>(x); });
}

template <class S, class R>
void check_narrow() {
  check<R>(
      "narrow", [](Expr x, Expr y, Expr) { return narrow(x + y, dtype_v<S>) + x; },
      [](R x, R y, R) -> R {
        if constexpr (std::is_integral_v<R>) {
          using U = std::make_unsigned_t<R>;
          const R sum = static_cast<R>(static_cast<U>(x) + static_cast<U>(y));
          return static_cast<R>(static_cast<U>(static_cast<R>(static_cast<S>(sum))) +
                                static_cast<U>(x));
        } else {
          return static_cast<R>(S(x + y)) + x;
        }
      });
}

TEST(ExprOps, NarrowIsAStoreAndALoad) {
  check_narrow<std::int8_t, std::int32_t>();
  check_narrow<std::int16_t, std::int32_t>();
  check_narrow<std::uint8_t, std::int32_t>();
  check_narrow<std::uint16_t, std::int32_t>();
  check_narrow<std::uint32_t, std::int64_t>();
  check_narrow<half, float>();
  check_narrow<bfloat, float>();
  check_narrow<double, double>();
}

}  // namespace
}  // namespace gradus::expr
