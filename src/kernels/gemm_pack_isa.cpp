#include "kernels/gemm_pack.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {

extern const PackTable pack_functions;

namespace {

using std::int64_t;

template <class T>
constexpr bool kIsHalf = !std::is_same_v<T, Compute<T>>;

#ifndef GRADUS_ISA_baseline
inline __m128i load_words(const void* p, int64_t count) {  // 4 or 8
  const auto* words = static_cast<const __m128i*>(p);
  return count == 4 ? _mm_loadl_epi64(words) : _mm_loadu_si128(words);
}
inline __m256 load8(const half* p) { return _mm256_cvtph_ps(load_words(p, 8)); }
inline __m256 load8(const bfloat* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_words(p, 8)), 16));
}
inline __m128 load4(const float* p) { return _mm_loadu_ps(p); }
inline __m128 load4(const half* p) { return _mm_cvtph_ps(load_words(p, 4)); }
inline __m128 load4(const bfloat* p) {
  return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(load_words(p, 4)), 16));
}
inline void widen8(float* to, const auto* from) { _mm256_storeu_ps(to, load8(from)); }
#else
inline void widen8(float* to, const auto* from) {
  for (int i = 0; i < 8; ++i) to[i] = load_one(from + i);
}
#endif

template <class T>
inline void copy(Compute<T>* to, const T* from, int64_t count) {
  if constexpr (kIsHalf<T>) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) widen8(to + i, from + i);
    for (; i < count; ++i) to[i] = load_one(from + i);
  } else {
    std::memcpy(to, from, count * sizeof(T));
  }
}

template <int64_t kCount, class T>
inline void copy(Compute<T>* to, const T* from) {
  if constexpr (kIsHalf<T>)
    for (int64_t i = 0; i < kCount; i += 8) widen8(to + i, from + i);
  else
    std::memcpy(to, from, kCount * sizeof(T));
}

// Copies kCount elements for each k, which is more than a row of the tile; what is too much is
// overwritten by the next row of the tile. The last row is copied exactly: nothing comes after it.
// A few k at a time: their lines stay in the first cache for all tiles, and each tile gets whole
// lines at once.
template <int64_t kCount, class T>
void tiles_by(Compute<T>* to, int64_t step, const T* from, int64_t stride, int64_t k,
              int64_t height, int64_t tiles) {
  constexpr int64_t kTogether = 4;
  int64_t i = 0;
  for (; i + kTogether < k; i += kTogether)
    for (int64_t t = 0; t < tiles; ++t)
      for (int64_t u = i; u < i + kTogether; ++u)
        copy<kCount>(to + t * step + u * height, from + u * stride + t * height);
  for (; i + 1 < k; ++i)
    for (int64_t t = 0; t < tiles; ++t)
      copy<kCount>(to + t * step + i * height, from + i * stride + t * height);
  for (int64_t t = 0; t < tiles; ++t)
    copy(to + t * step + (k - 1) * height, from + (k - 1) * stride + t * height, height);
}

template <class T>
void tiles(void* to_, int64_t step_bytes, const void* from_, int64_t stride_bytes, int64_t k,
           int64_t height, int64_t count) {
  constexpr int64_t kElement = sizeof(Compute<T>), kVector = 32 / kElement;
  auto* to = static_cast<Compute<T>*>(to_);
  const T* from = static_cast<const T*>(from_);
  const int64_t step = step_bytes / kElement, stride = stride_bytes / int64_t{sizeof(T)};
  const int64_t safe = stride + height;  // elements readable from a row of any tile but the last k
  const int64_t copied = height <= kVector       ? kVector
                         : height <= 2 * kVector ? 2 * kVector
                                                 : 4 * kVector;
  if (k > 1 && height <= copied && copied <= safe && copied <= 2 * height) {
    if (copied == kVector) return tiles_by<kVector>(to, step, from, stride, k, height, count);
    if (copied == 2 * kVector)
      return tiles_by<2 * kVector>(to, step, from, stride, k, height, count);
    return tiles_by<4 * kVector>(to, step, from, stride, k, height, count);
  }
  for (int64_t t = 0; t < count; ++t)
    for (int64_t i = 0; i < k; ++i)
      copy(to + t * step + i * height, from + i * stride + t * height, height);
}

template <class T>
void widened(void* to_, int64_t to_stride, const void* from_, int64_t stride, int64_t rows,
             int64_t cols) {
  char* to = static_cast<char*>(to_);
  const char* from = static_cast<const char*>(from_);
  const auto by_row = [&](auto copy_row, int64_t ahead) {
    for (int64_t r = 0; r < rows; ++r, to += to_stride, from += stride) {
      for (int64_t line = 0; line < cols; line += 32)
        __builtin_prefetch(from + ahead * stride + line * sizeof(T));
      copy_row(reinterpret_cast<float*>(to), reinterpret_cast<const T*>(from));
    }
  };
  if (cols == 16)  // a panel for AVX2
    by_row([](float* row, const T* halves) { copy<16>(row, halves); }, 8);
  else
    by_row([&](float* row, const T* halves) { copy(row, halves, cols); }, 1);
}

#ifndef GRADUS_ISA_baseline
// A square block of one vector a side, transposed in registers.
template <class T>
constexpr int kBlock = 32 / sizeof(Compute<T>);

template <class T>
inline void transpose_block(float* to, int64_t width, const T* from, int64_t stride) {
  __m256 x[8], y[8];
  for (int i = 0; i < 4; ++i) {  // rows i and i + 4 side by side, for columns 0-3 and 4-7
    const T *low = from + i * stride, *high = from + (i + 4) * stride;
    x[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(load4(low)), load4(high), 1);
    x[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(load4(low + 4)), load4(high + 4), 1);
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
  auto* to = static_cast<Compute<T>*>(to_);
  const T* from = static_cast<const T*>(from_);
  const int64_t stride = stride_bytes / static_cast<int64_t>(sizeof(T));
  int64_t j = 0;
#ifndef GRADUS_ISA_baseline
  for (; j + kBlock<T> <= cols; j += kBlock<T>) {
    const T* rows = from + j * stride;
    int64_t i = 0;
    for (; i + kBlock<T> <= k; i += kBlock<T>)
      transpose_block(to + i * width + j, width, rows + i, stride);
    for (; i < k; ++i)
      for (int r = 0; r < kBlock<T>; ++r) to[i * width + j + r] = load_one(rows + r * stride + i);
  }
#endif
  for (; j < cols; ++j)
    for (int64_t i = 0; i < k; ++i) to[i * width + j] = load_one(from + j * stride + i);
}

}  // namespace

const PackTable pack_functions{
    {tiles<float>, tiles<double>, tiles<half>, tiles<bfloat>},
    {transposed<float>, transposed<double>, transposed<half>, transposed<bfloat>},
    {widened<half>, widened<bfloat>}};

}  // namespace gradus::kernels::GRADUS_ISA
