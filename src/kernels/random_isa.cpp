#include "kernels/random_loops.h"

#include <emmintrin.h>

#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

using Words = Vec<std::uint64_t>;  // 32-bit words or pairs of them, one per lane
using Doubles = Vec<double>;
constexpr int kWide = kLanes<std::uint64_t>;

// Products of the lower halves of all lanes.
inline Words multiply(Words a, Words b) {
#if GRADUS_ISA_avx512
  return reinterpret_cast<Words>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif GRADUS_ISA_avx2
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<Words>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

inline Doubles square_root(Doubles x) {
#if GRADUS_ISA_avx512
  return reinterpret_cast<Doubles>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#elif GRADUS_ISA_avx2
  return reinterpret_cast<Doubles>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#else
  return reinterpret_cast<Doubles>(_mm_sqrt_pd(reinterpret_cast<__m128d>(x)));
#endif
}

// a0 b0 a1 b1 ...
inline void store_interleaved(std::uint32_t* out, Words a, Words b) {
  auto* to = reinterpret_cast<std::uint64_t*>(out);
#if GRADUS_ISA_avx512
  store(to, __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
  store(to + kWide, __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
#elif GRADUS_ISA_avx2
  store(to, __builtin_shufflevector(a, b, 0, 4, 1, 5));
  store(to + kWide, __builtin_shufflevector(a, b, 2, 6, 3, 7));
#else
  store(to, __builtin_shufflevector(a, b, 0, 2));
  store(to + kWide, __builtin_shufflevector(a, b, 1, 3));
#endif
}

void words(std::uint64_t key, std::uint64_t low, std::uint64_t high, std::uint64_t stride,
           std::int64_t blocks, std::uint32_t* out) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const Words zero{};
  Words counter;
  for (int i = 0; i < kWide; ++i) counter[i] = low + static_cast<std::uint64_t>(i) * stride;
  alignas(64) std::uint32_t rest[4 * kWide];
  for (std::int64_t done = 0; done < blocks; done += kWide) {
    Words c0 = counter & kLow, c1 = counter >> 32, c2 = (high & kLow) + zero,
          c3 = (high >> 32) + zero;
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const Words a = multiply(c0, std::uint64_t{0xD2511F53} + zero);
      const Words b = multiply(c2, std::uint64_t{0xCD9E8D57} + zero);
      c0 = (b >> 32) ^ c1 ^ std::uint64_t{k0};
      c1 = b & kLow;
      c2 = (a >> 32) ^ c3 ^ std::uint64_t{k1};
      c3 = a & kLow;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    const Words first = c0 | c1 << 32, second = c2 | c3 << 32;
    if (done + kWide <= blocks) {
      store_interleaved(out + 4 * done, first, second);
    } else {
      store_interleaved(rest, first, second);
      std::memcpy(out + 4 * done, rest, static_cast<std::size_t>(blocks - done) * 16);
    }
    counter += kWide * stride;
  }
}

// The mantissa of a number in [1, 2), less 1.
void uniform32(const std::uint32_t* words, std::int64_t n, float low, float range, float* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float u = float_of_bits((words[i] & 0x7fffff) | 0x3f800000) - 1.0f;
    out[i] = u * range + low;
  }
}

void uniform64(const std::uint32_t* words, std::int64_t n, double low, double range, double* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t mantissa = std::uint64_t{words[2 * i] & 0xfffff} << 32 | words[2 * i + 1];
    const std::uint64_t bits = mantissa | std::uint64_t{0x3ff} << 52;
    double u;
    std::memcpy(&u, &bits, 8);
    out[i] = (u - 1.0) * range + low;
  }
}

inline Doubles as_doubles(Words bits) { return reinterpret_cast<Doubles>(bits); }
inline Words as_bits(Doubles x) { return reinterpret_cast<Words>(x); }

// Numbers below 2^52, exactly.
inline Doubles to_double(Words x) { return as_doubles(x | 0x4330000000000000) - 0x1p52; }

using Floats = typename VecOf<float, kVectorBytes / 2>::type;
inline Floats to_float(Doubles x) { return __builtin_convertvector(x, Floats); }
inline Doubles through_float(Doubles x) { return __builtin_convertvector(to_float(x), Doubles); }

// log(x) for 0 < x < 1, to about 2^-46: x = 2^e m with m near 1, log m = 2 atanh((m - 1) / (m +
// 1)).
inline Doubles logarithm(Doubles x) {
  const Words bits = as_bits(x);
  const Words upper =
      (bits >> 52) - 1022;  // m in [1/2, 1), then twice that if it is below sqrt(1/2)
  Doubles m = as_doubles((bits & 0xfffffffffffff) | 0x3fe0000000000000);
  const auto small = m < 0x1.6a09e667f3bcdp-1;
  m = small ? m + m : m;
  const Doubles e = to_double(upper + 2048) - 2048.0 + (small ? Doubles{} - 1.0 : Doubles{});
  const Doubles s = (m - 1.0) / (m + 1.0), t = s * s;
  // Pairs of terms first: short chains, because several of these run at once.
  const Doubles t2 = t * t, t4 = t2 * t2;
  const Doubles p = ((1.0 / 3 + t * (1.0 / 5)) + t2 * (1.0 / 7 + t * (1.0 / 9))) +
                    t4 * ((1.0 / 11 + t * (1.0 / 13)) + t2 * (1.0 / 15 + t * (1.0 / 17)));
  return e * 0x1.62e42fefa39efp-1 + (2.0 * s + 2.0 * s * t * p);
}

// sin and cos of 0 <= x < 7, to about 2^-45, from the quarter turn x is nearest to.
inline void sine_cosine(Doubles x, Doubles& sine, Doubles& cosine) {
  constexpr double kRound = 0x1.8p52;
  const Doubles shifted = x * 0x1.45f306dc9c883p-1 + kRound, k = shifted - kRound;
  const Words quarter = as_bits(shifted) & 3;
  // pi / 2 in two parts, the first short enough for k times it to be exact.
  const Doubles r = (x - k * 0x1.921fb544p0) - k * 0x1.0b4611a626331p-34, t = r * r;
  const Doubles t2 = t * t, t4 = t2 * t2;
  const Doubles p = ((-1.0 / 6 + t * (1.0 / 120)) + t2 * (-1.0 / 5040 + t * (1.0 / 362880))) +
                    t4 * (-1.0 / 39916800 + t * (1.0 / 6227020800));
  const Doubles s = r + r * t * p;
  const Doubles q = ((-0.5 + t * (1.0 / 24)) + t2 * (-1.0 / 720 + t * (1.0 / 40320))) +
                    t4 * ((-1.0 / 3628800 + t * (1.0 / 479001600)) - t2 * (1.0 / 87178291200));
  const Doubles c = 1.0 + t * q;
  const auto odd = (quarter & 1) != 0;
  sine = as_doubles(as_bits(odd ? c : s) ^ (quarter & 2) << 62);
  cosine = as_doubles(as_bits(odd ? s : c) ^ ((quarter + 1) & 2) << 62);
}

// As TensorFlow computes in float32, every step is rounded to float32.
inline Words normal_pair(Words pair) {
  constexpr double kScale = 0x1p-23, kTwoPi = 0x1.921fb54442d18p2;
  constexpr double kSmallest = 1.0e-7f;
  const Doubles u = to_double(pair & 0x7fffff) * kScale;
  const Doubles angle = through_float(to_double(pair >> 32 & 0x7fffff) * kScale * kTwoPi);
  const Doubles log_u = through_float(logarithm(u < kSmallest ? kSmallest - Doubles{} : u));
  const Doubles radius = through_float(square_root(-2.0 * log_u));
  Doubles sine, cosine;
  sine_cosine(angle, sine, cosine);
  using Bits = typename VecOf<std::uint32_t, kVectorBytes / 2>::type;
  const auto first = reinterpret_cast<Bits>(to_float(through_float(sine) * radius));
  const auto second = reinterpret_cast<Bits>(to_float(through_float(cosine) * radius));
  return __builtin_convertvector(first, Words) | __builtin_convertvector(second, Words) << 32;
}

void normal32(const std::uint32_t* words, std::int64_t pairs, float* out) {
  std::int64_t i = 0;
  for (; i + kWide <= pairs; i += kWide) {
    Words pair;
    std::memcpy(&pair, words + 2 * i, sizeof pair);
    pair = normal_pair(pair);
    std::memcpy(out + 2 * i, &pair, sizeof pair);
  }
  if (i < pairs) {
    Words pair{};
    const auto bytes = static_cast<std::size_t>(pairs - i) * 8;
    std::memcpy(&pair, words + 2 * i, bytes);
    pair = normal_pair(pair);
    std::memcpy(out + 2 * i, &pair, bytes);
  }
}

void affine32(std::int64_t n, float scale, float offset, float* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] * scale + offset;
}

void keep32(const std::uint32_t* words, std::int64_t n, float least, bool* keep) {
  for (std::int64_t i = 0; i < n; ++i)
    keep[i] =
        static_cast<float>(static_cast<std::int32_t>(words[i] & 0x7fffff)) * 0x1p-23f >= least;
}

}  // namespace

constinit const RandomLoops random_loops = {words,    uniform32, uniform64,
                                            normal32, affine32,  keep32};

}  // namespace gradus::kernels::GRADUS_ISA
