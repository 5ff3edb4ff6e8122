// What this machine can do at best, measured: multiply-adds per second, arithmetic instructions of
// any kind per second, and bytes per second to and from each level of memory. A floor of a workload
// follows from them (bench/compare.py).
#pragma once
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "bench.h"
#include "kernels/isa.h"

namespace bench {

// Independent chains of multiply-adds in registers; twelve are more than any processor overlaps.
inline constexpr int kChains = 12, kRounds = 5000;

__attribute__((target("avx2,fma"))) inline float chains_avx2() {
  __m256 x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = _mm256_set1_ps(1.0f + static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999f);
  for (int round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) x[i] = _mm256_fmadd_ps(x[i], a, a);
  float sum = 0;
  for (const __m256& v : x) sum += v[0];
  return sum;
}

// Half of the chains multiply and half of them add: some processors have units for each.
__attribute__((target("avx2,fma"))) inline float mixed_avx2() {
  __m256 x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = _mm256_set1_ps(1.0f + static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999f);
  for (int round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      x[i] = i % 2 ? _mm256_mul_ps(x[i], a) : _mm256_add_ps(x[i], a);
  float sum = 0;
  for (const __m256& v : x) sum += v[0];
  return sum;
}

__attribute__((target("avx512f"))) inline float mixed_avx512() {
  __m512 x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = _mm512_set1_ps(1.0f + static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999f);
  for (int round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      x[i] = i % 2 ? _mm512_mul_ps(x[i], a) : _mm512_add_ps(x[i], a);
  float sum = 0;
  for (const __m512& v : x) sum += v[0];
  return sum;
}

__attribute__((target("avx512f"))) inline float chains_avx512() {
  __m512 x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = _mm512_set1_ps(1.0f + static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999f);
  for (int round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) x[i] = _mm512_fmadd_ps(x[i], a, a);
  float sum = 0;
  for (const __m512& v : x) sum += v[0];
  return sum;
}

inline double best_seconds(double budget, const Step& step) {
  return 1e-6 * measure({"", 1, [&] { return step; }}, budget).best_us;
}

// Billions of float32 instructions of such chains per second, an element being one, with the
// instruction set that Gradus uses; 0 without AVX2.
inline double instruction_rate(double budget, int threads, float (*avx2)(), float (*avx512)()) {
  using gradus::kernels::Isa;
  if (gradus::kernels::isa() == Isa::baseline) return 0;
  const bool wide = gradus::kernels::isa() == Isa::avx512;
  const double count = 1.0 * kRounds * kChains * (wide ? 16 : 8) * threads;
  return 1e-9 * count / best_seconds(budget, [&](bool) {
           std::vector<float> sums(static_cast<std::size_t>(threads));
           gradus::parallel_for(threads, [&](std::int64_t i) {
             sums[static_cast<std::size_t>(i)] = wide ? avx512() : avx2();
           });
           return double{sums[0]};
         });
}
inline double peak_gflops(double budget, int threads) {
  return 2 * instruction_rate(budget, threads, chains_avx2, chains_avx512);
}
// Of any kind: a processor whose units all do everything gains nothing by mixing.
inline double peak_gops(double budget, int threads) {
  return std::max(instruction_rate(budget, threads, chains_avx2, chains_avx512),
                  instruction_rate(budget, threads, mixed_avx2, mixed_avx512));
}

// Reading, copying and scaling in place; bytes read and bytes written both count.
__attribute__((target("avx2"))) inline float read_floats(const float* x, std::int64_t n) {
  __m256 sum[4] = {};
  for (std::int64_t i = 0; i + 32 <= n; i += 32)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sum[k] = _mm256_add_ps(sum[k], _mm256_loadu_ps(x + i + 8 * k));
  return sum[0][0] + sum[1][0] + sum[2][0] + sum[3][0];
}
__attribute__((target("avx2"))) inline void scale_floats(const float* x, std::int64_t n, float* y) {
  const __m256 factor = _mm256_set1_ps(0.999f);
  for (std::int64_t i = 0; i + 32 <= n; i += 32)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
      _mm256_storeu_ps(y + i + 8 * k, _mm256_mul_ps(_mm256_loadu_ps(x + i + 8 * k), factor));
}

// GB/s of the best of the three over `bytes` per thread; 0 without AVX2.
inline double memory_rate(double budget, int threads, std::int64_t bytes) {
  if (gradus::kernels::isa() == gradus::kernels::Isa::baseline) return 0;
  const std::int64_t n = bytes / 4, half = n / 2;
  const std::int64_t repeats = std::max<std::int64_t>(1, (std::int64_t{4} << 20) / bytes);
  std::vector<std::vector<float>> arrays(static_cast<std::size_t>(threads));
  for (auto& a : arrays) a.assign(static_cast<std::size_t>(n), 1.0f);
  const auto rate = [&](double moved, auto work) {
    return 1e-9 * moved * static_cast<double>(repeats * threads) / best_seconds(budget, [&](bool) {
             std::vector<float> results(static_cast<std::size_t>(threads));
             gradus::parallel_for(threads, [&](std::int64_t i) {
               const auto k = static_cast<std::size_t>(i);
               float sum = 0;
               for (std::int64_t r = 0; r < repeats; ++r) {
                 sum += work(arrays[k].data());
                 asm volatile("" ::: "memory");  // each round moves the bytes again
               }
               results[k] = sum;
             });
             return double{results[0]};
           });
  };
  const auto all = static_cast<double>(4 * n), both = static_cast<double>(8 * half);
  return std::max({rate(all, [&](float* x) { return read_floats(x, n); }),
                   rate(both, [&](float* x) { return scale_floats(x, half, x + half), x[0]; }),
                   rate(2 * all, [&](float* x) { return scale_floats(x, n, x), x[0]; })});
}

}  // namespace bench
