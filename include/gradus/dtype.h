// Element types. Names are TensorFlow's: gradus::float32, gradus::int64, gradus::bool_, ...
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gradus {

enum class DType : std::uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};
inline constexpr int kDTypeCount = 15;

inline constexpr DType bool_ = DType::bool_, int8 = DType::int8, int16 = DType::int16,
                       int32 = DType::int32, int64 = DType::int64, uint8 = DType::uint8,
                       uint16 = DType::uint16, uint32 = DType::uint32, uint64 = DType::uint64,
                       float16 = DType::float16, bfloat16 = DType::bfloat16,
                       float32 = DType::float32, float64 = DType::float64,
                       complex64 = DType::complex64, complex128 = DType::complex128;

// Bytes of one element.
constexpr std::size_t size_of(DType t) {
  constexpr std::uint8_t sizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}

constexpr bool is_bool(DType t) { return t == DType::bool_; }
constexpr bool is_integer(DType t) { return t >= DType::int8 && t <= DType::uint64; }
constexpr bool is_unsigned(DType t) { return t >= DType::uint8 && t <= DType::uint64; }
constexpr bool is_floating(DType t) { return t >= DType::float16 && t <= DType::float64; }
constexpr bool is_complex(DType t) { return t >= DType::complex64; }
constexpr bool is_differentiable(DType t) { return t >= DType::float16; }

const char* name_of(DType t);             // "float32"; bool_ is "bool"
DType dtype_of(const std::string& name);  // throws InvalidArgumentError for an unknown name

// 16-bit floats as storage; arithmetic happens in float32. Conversions round to nearest even.
struct half {
  std::uint16_t bits;
  half() = default;
  explicit half(float);
  operator float() const;
};
struct bfloat {
  std::uint16_t bits;
  bfloat() = default;
  explicit bfloat(float);
  operator float() const;
};

// dtype_v<float> == float32, and so on.
template <class T>
inline constexpr DType dtype_v = DType::float32;
template <>
inline constexpr DType dtype_v<bool> = DType::bool_;
template <>
inline constexpr DType dtype_v<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_v<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_v<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_v<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_v<long long> = DType::int64;
template <>
inline constexpr DType dtype_v<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_v<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_v<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_v<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_v<half> = DType::float16;
template <>
inline constexpr DType dtype_v<bfloat> = DType::bfloat16;
template <>
inline constexpr DType dtype_v<double> = DType::float64;
template <>
inline constexpr DType dtype_v<std::complex<float>> = DType::complex64;
template <>
inline constexpr DType dtype_v<std::complex<double>> = DType::complex128;

// Calls f(T{}) with the C++ type of t: visit_dtype(t, [&](auto zero) { using T = decltype(zero);
// ... }).
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::bool_:
      return f(bool{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::uint32:
      return f(std::uint32_t{});
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float16:
      return f(half{});
    case DType::bfloat16:
      return f(bfloat{});
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::complex64:
      return f(std::complex<float>{});
    case DType::complex128:
      break;
  }
  return f(std::complex<double>{});
}

}  // namespace gradus
