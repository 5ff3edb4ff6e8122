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

// Branch-free, so that the compiler makes vectors of it; the same bits as bfloat(float).
void narrow_bfloat(bfloat* to, const float* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, from + i, 4);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40u;
    to[i].bits = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
}

}  // namespace

extern const HalfTable half_table;
const HalfTable half_table{widen<half>, widen<bfloat>, narrow_half, narrow_bfloat};

}  // namespace gradus::kernels::GRADUS_ISA
