// Vectors of the instruction set this file is compiled for; only for NAME_isa.cpp files.
//
// Vec<T> is a native register of T with the usual operators; load and store take any address.
// float16 and bfloat16 load as float32. Everything here is local to the file that includes it
// (isa.h says why).
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gradus/dtype.h"

#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
#include <immintrin.h>
#endif

namespace gradus::kernels::GRADUS_ISA {
namespace {

#if GRADUS_ISA_avx512
constexpr int kVectorBytes = 64;
#elif GRADUS_ISA_avx2
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T, int kBytes = kVectorBytes>
struct VecOf {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <class T>
using Vec = typename VecOf<T>::type;
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

// What a stored element is computed in.
template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<half> {
  using type = float;
};
template <>
struct ComputeOf<bfloat> {
  using type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::type;

// In the body of a loop over a short remainder: keeps the compiler from vectorising and unrolling
// it, which would be most of the code of a small kernel.
inline void short_loop() { asm volatile(""); }

inline float float_of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// Of a number, or of every lane of a vector.
template <class V>
inline auto is_nan(V x) {
  return x != x;  // NOLINT(misc-redundant-expression)
}

template <class T>
inline T load_one(const T* p) {
  return *p;
}
inline float load_one(const bfloat* p) { return float_of_bits(std::uint32_t{p->bits} << 16); }
#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
inline float load_one(const half* p) { return _cvtsh_ss(p->bits); }
#else
inline float load_one(const half* p) { return *p; }
#endif

template <class T>
requires std::is_arithmetic_v<T>
inline Vec<Compute<T>> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline Vec<float> load(const bfloat* p) {
  typename VecOf<std::uint16_t, kVectorBytes / 2>::type narrow;
  std::memcpy(&narrow, p, sizeof narrow);
  const Vec<std::uint32_t> bits = __builtin_convertvector(narrow, Vec<std::uint32_t>) << 16;
  return reinterpret_cast<Vec<float>>(bits);
}
inline Vec<float> load(const half* p) {
#if GRADUS_ISA_avx512
  return reinterpret_cast<Vec<float>>(
      _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif GRADUS_ISA_avx2
  return reinterpret_cast<Vec<float>>(
      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  Vec<float> v;
  for (int i = 0; i < kLanes<float>; ++i) v[i] = p[i];
  return v;
#endif
}

// As many elements as a vector of float64 holds, as float64.
inline Vec<double> load_wide(const double* p) { return load(p); }
inline Vec<double> load_wide(const float* p) {
  typename VecOf<float, kVectorBytes / 2>::type narrow;
  std::memcpy(&narrow, p, sizeof narrow);
  return __builtin_convertvector(narrow, Vec<double>);
}

template <class T>
inline void store_one(T* p, T x) {
  *p = x;
}
inline void store_one(bfloat* p, float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  p->bits = static_cast<std::uint16_t>(is_nan(x) ? bits >> 16 | 0x40u : rounded);
}
#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
inline void store_one(half* p, float x) { p->bits = _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }
#else
inline void store_one(half* p, float x) { *p = half(x); }
#endif

template <class T>
inline void store(T* p, Vec<T> v) {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
