#include "gradus/dtype.h"

#include <cstring>

#include "base/check.h"

namespace gradus {
namespace {

constexpr const char* kNames[kDTypeCount] = {
    "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

std::uint32_t bits_of(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}

float float_of(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, 4);
  return x;
}

}  // namespace

const char* name_of(DType t) { return kNames[static_cast<int>(t)]; }

DType dtype_of(const std::string& name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kNames[i]) return static_cast<DType>(i);
  fail<InvalidArgumentError>("unknown dtype '", name,
                             "'; the dtypes are bool, int8..int64, uint8..",
                             "uint64, float16, bfloat16, float32, float64, complex64, complex128");
}

half::half(float x) {
  const std::uint32_t b = bits_of(x), magnitude = b & 0x7fffffffu;
  const auto sign = static_cast<std::uint16_t>((b >> 16) & 0x8000u);
  if (magnitude > 0x7f800000u) {  // NaN stays a quiet NaN
    bits = static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  } else if (magnitude >= 0x477ff000u) {  // rounds past the largest half
    bits = sign | 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // subnormal half: let the float adder do the rounding
    const float shifted = float_of(magnitude) + 0.5f;
    bits = static_cast<std::uint16_t>(sign | (bits_of(shifted) - 0x3f000000u));
  } else {
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
}

half::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
  const float tiny = static_cast<float>(magnitude) * 0x1p-24f;
  return float_of(sign | bits_of(tiny));
}

bfloat::bfloat(float x) {
  const std::uint32_t b = bits_of(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<std::uint16_t>((b >> 16) | 0x40u);
  } else {
    bits = static_cast<std::uint16_t>((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
  }
}

bfloat::operator float() const { return float_of(std::uint32_t{bits} << 16); }

}  // namespace gradus
