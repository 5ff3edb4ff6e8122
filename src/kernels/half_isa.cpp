#include "kernels/half_table.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

using std::int64_t;

template <class T>
void widen(float* to, const T* from, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) store(to + i, load(from + i));
  for (; i < count; ++i) {
    short_loop();
    to[i] = load_one(from + i);
  }
}

void narrow_half(half* to, const float* from, int64_t count) {
  int64_t i = 0;
#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) to[i] = half(from[i]);
}

#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
// The upper halves, rounded to nearest even; not for NaN.
inline __m256i rounded_halves(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), odd);
  return _mm256_srli_epi32(_mm256_add_epi32(bits, up), 16);
}
#endif

void narrow_bfloat(bfloat* to, const float* from, int64_t count) {
  int64_t i = 0;
#if GRADUS_ISA_avx2 || GRADUS_ISA_avx512
  for (; i + 16 <= count; i += 16) {
    const __m256 low = _mm256_loadu_ps(from + i), high = _mm256_loadu_ps(from + i + 8);
    if (_mm256_movemask_ps(_mm256_cmp_ps(low, high, _CMP_UNORD_Q)) != 0) [[unlikely]] {
      for (int64_t j = i; j < i + 16; ++j) store_one(to + j, from[j]);
      continue;
    }
    // The instruction packs each half of the registers for itself.
    const __m256i pairs = _mm256_packus_epi32(rounded_halves(low), rounded_halves(high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_permute4x64_epi64(pairs, 0xd8));
  }
#endif
  for (; i < count; ++i) store_one(to + i, from[i]);
}

}  // namespace

extern const HalfTable half_table;
const HalfTable half_table{widen<half>, widen<bfloat>, narrow_half, narrow_bfloat};

}  // namespace gradus::kernels::GRADUS_ISA
