#include <cstring>

#include "kernels/gemm_pack.h"

#ifndef GRADUS_ISA_baseline
#include <immintrin.h>
#endif

namespace gradus::kernels::GRADUS_ISA {

extern const PackTable pack_functions;

namespace {

using std::int64_t;

// Copies kBytes for each k, which is more than a row of the tile; what is too much is overwritten
// by the next row of the tile. The last row is copied exactly: nothing comes after it. A few k at a
// time: their lines stay in the first cache for all tiles, and each tile gets whole lines at once.
template <int64_t kBytes>
void tiles_by(char* to, const char* from, int64_t stride, int64_t k, int64_t row_bytes,
              int64_t tiles) {
  constexpr int64_t kTogether = 4;
  const int64_t tile_bytes = row_bytes * k;
  int64_t i = 0;
  for (; i + kTogether < k; i += kTogether)
    for (int64_t t = 0; t < tiles; ++t)
      for (int64_t u = i; u < i + kTogether; ++u)
        std::memcpy(to + t * tile_bytes + u * row_bytes, from + u * stride + t * row_bytes, kBytes);
  for (; i + 1 < k; ++i)
    for (int64_t t = 0; t < tiles; ++t)
      std::memcpy(to + t * tile_bytes + i * row_bytes, from + i * stride + t * row_bytes, kBytes);
  for (int64_t t = 0; t < tiles; ++t)
    std::memcpy(to + (t + 1) * tile_bytes - row_bytes, from + (k - 1) * stride + t * row_bytes,
                row_bytes);
}

template <class T>
void tiles(void* to_, const void* from_, int64_t stride, int64_t k, int64_t height, int64_t count) {
  const int64_t row_bytes = height * sizeof(T);
  char* to = static_cast<char*>(to_);
  const char* from = static_cast<const char*>(from_);
  const int64_t safe = stride + row_bytes;  // bytes readable from a row of any tile but the last k
  const int64_t bytes = row_bytes <= 32 ? 32 : row_bytes <= 64 ? 64 : 128;
  if (k > 1 && row_bytes <= bytes && bytes <= safe && bytes <= 2 * row_bytes) {
    if (bytes == 32) return tiles_by<32>(to, from, stride, k, row_bytes, count);
    if (bytes == 64) return tiles_by<64>(to, from, stride, k, row_bytes, count);
    return tiles_by<128>(to, from, stride, k, row_bytes, count);
  }
  for (int64_t t = 0; t < count; ++t)
    for (int64_t i = 0; i < k; ++i, to += row_bytes)
      std::memcpy(to, from + i * stride + t * row_bytes, row_bytes);
}

#ifndef GRADUS_ISA_baseline
// A square block of one vector a side, transposed in registers.
constexpr int block_of(float) { return 8; }
constexpr int block_of(double) { return 4; }

inline void transpose_block(float* to, int64_t width, const float* from, int64_t stride) {
  __m256 x[8], y[8];
  for (int i = 0; i < 4; ++i) {  // rows i and i + 4 side by side, for columns 0-3 and 4-7
    const float *low = from + i * stride, *high = from + (i + 4) * stride;
    x[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
    x[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low + 4)),
                                    _mm_loadu_ps(high + 4), 1);
  }
  for (int i = 0; i < 8; i += 4) {
    y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    y[i + 2] = _mm256_unpacklo_ps(x[i + 2], x[i + 3]);
    y[i + 3] = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);
  }
  for (int i = 0; i < 8; i += 4) {
    _mm256_storeu_ps(to + (i + 0) * width, _mm256_shuffle_ps(y[i], y[i + 2], 0x44));
    _mm256_storeu_ps(to + (i + 1) * width, _mm256_shuffle_ps(y[i], y[i + 2], 0xee));
    _mm256_storeu_ps(to + (i + 2) * width, _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44));
    _mm256_storeu_ps(to + (i + 3) * width, _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee));
  }
}

inline void transpose_block(double* to, int64_t width, const double* from, int64_t stride) {
  const __m256d a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + stride),
                c = _mm256_loadu_pd(from + 2 * stride), d = _mm256_loadu_pd(from + 3 * stride);
  const __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b),
                cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
  _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
  _mm256_storeu_pd(to + width, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
  _mm256_storeu_pd(to + 2 * width, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
  _mm256_storeu_pd(to + 3 * width, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
}
#endif

template <class T>
void transposed(void* to_, const void* from_, int64_t stride_bytes, int64_t k, int64_t cols,
                int64_t width) {
  T* to = static_cast<T*>(to_);
  const T* from = static_cast<const T*>(from_);
  const int64_t stride = stride_bytes / static_cast<int64_t>(sizeof(T));
  int64_t j = 0;
#ifndef GRADUS_ISA_baseline
  constexpr int kBlock = block_of(T{});
  for (; j + kBlock <= cols; j += kBlock) {
    const T* rows = from + j * stride;
    int64_t i = 0;
    for (; i + kBlock <= k; i += kBlock)
      transpose_block(to + i * width + j, width, rows + i, stride);
    for (; i < k; ++i)
      for (int r = 0; r < kBlock; ++r) to[i * width + j + r] = rows[r * stride + i];
  }
#endif
  for (; j < cols; ++j)
    for (int64_t i = 0; i < k; ++i) to[i * width + j] = from[j * stride + i];
}

}  // namespace

const PackTable pack_functions{{tiles<float>, tiles<double>},
                               {transposed<float>, transposed<double>}};

}  // namespace gradus::kernels::GRADUS_ISA
