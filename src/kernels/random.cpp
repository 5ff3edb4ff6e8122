#include "kernels/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "kernels/isa.h"
#include "kernels/random_loops.h"
#include "kernels/ranges.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kBlocks = 512;  // worked on at a time, in a buffer on the stack
constexpr std::int64_t kPiece = 16 * kBlocks;

const RandomLoops& loops() {
  static const RandomLoops& picked =
      pick(baseline::random_loops, avx2::random_loops, avx512::random_loops);
  return picked;
}

// The words of `blocks` blocks that are `stride` apart.
void draw(Philox generator, std::uint64_t stride, std::int64_t blocks, std::uint32_t* words) {
  const std::uint64_t last = generator.low + stride * static_cast<std::uint64_t>(blocks);
  if (last >= generator.low) {
    loops().words(generator.key, generator.low, generator.high, stride, blocks, words);
    return;
  }
  for (std::int64_t i = 0; i < blocks; ++i) {  // the lower half of the counter runs over
    const auto block = generator.block();
    std::copy(block.begin(), block.end(), words + 4 * i);
    generator.skip(stride);
  }
}

// Calls use(words, first output, outputs) until all n outputs are made, kPerBlock of them from
// every block of 4 words.
template <int kPerBlock, class Use>
void for_each_output(const Philox& generator, std::int64_t n, Use use) {
  parallel_ranges(
      (n + kPerBlock - 1) / kPerBlock, kPiece, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) std::uint32_t words[4 * kBlocks];
        for (std::int64_t block = begin; block < end; block += kBlocks) {
          const std::int64_t blocks = std::min(kBlocks, end - block), first = block * kPerBlock;
          Philox here = generator;
          here.skip(static_cast<std::uint64_t>(block));
          draw(here, 1, blocks, words);
          use(words, first, std::min(n - first, blocks * kPerBlock));
        }
      });
}

template <class T>
using Arithmetic = std::conditional_t<sizeof(T) == 2, float, T>;

// x * scale + offset, each step rounded to T.
template <class T>
T scaled(Arithmetic<T> x, T scale, T offset) {
  if constexpr (sizeof(T) == 2) {
    const T product(x * static_cast<float>(scale));
    return T(static_cast<float>(product) + static_cast<float>(offset));
  } else {
    return x * scale + offset;
  }
}

// The mantissa bits of T, as a fraction.
inline float half_fraction(half, std::uint32_t word) {
  return static_cast<float>(word & 0x3ff) * 0x1p-10f;
}
inline float half_fraction(bfloat, std::uint32_t word) {
  return static_cast<float>(word & 0x7f) * 0x1p-7f;
}

double double_fraction(const std::uint32_t* words) {
  return static_cast<double>(std::uint64_t{words[0] & 0xfffff} << 32 | words[1]) * 0x1p-52;
}

// Two normal numbers from 4 words.
void normal64(const std::uint32_t* words, double* out) {
  const double u = std::max(double_fraction(words), 1.0e-7);
  const double angle = 2 * 3.14159265358979323846 * double_fraction(words + 2);
  const double radius = std::sqrt(-2.0 * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

// Calls f(T{}) for floating types.
template <class F>
void visit_floating(DType t, F&& f) {
  visit_dtype(t, [&]<class T>(T zero) {
    if constexpr (is_floating(dtype_v<T>)) f(zero);
  });
}

// Truncated normal numbers come in groups with a stream of their own, 256 blocks apart for 4
// numbers (64 for each number): group after group draws until it has enough.
template <class T>
void truncated_groups(const Philox& generator, std::int64_t n, T mean, T stddev, T* out) {
  using Real = Arithmetic<T>;
  constexpr bool kDouble = std::is_same_v<T, double>;
  constexpr std::int64_t kGroup = kDouble ? 2 : 4;
  constexpr std::uint64_t kStride = 64 * kGroup;
  const auto normals = [](const std::uint32_t* words, std::int64_t blocks, Real* to) {
    if constexpr (kDouble)
      for (std::int64_t b = 0; b < blocks; ++b) normal64(words + 4 * b, to + 2 * b);
    else
      loops().normal32(words, 2 * blocks, to);
  };
  parallel_ranges((n + kGroup - 1) / kGroup, kPiece, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) std::uint32_t words[4 * kBlocks];
    alignas(64) Real drawn[kGroup * kBlocks];
    for (std::int64_t first = begin; first < end; first += kBlocks) {
      const std::int64_t groups = std::min(kBlocks, end - first);
      Philox here = generator;
      here.skip(kStride * static_cast<std::uint64_t>(first));
      draw(here, kStride, groups, words);
      normals(words, groups, drawn);
      for (std::int64_t g = 0; g < groups; ++g) {
        Real accepted[kGroup], more[kGroup];
        const auto accept = [&](const Real* z, std::int64_t count) {
          for (std::int64_t i = 0; i < kGroup && count < kGroup; ++i)
            if (std::abs(z[i]) < Real(2)) accepted[count++] = z[i];
          return count;
        };
        std::int64_t count = accept(drawn + kGroup * g, 0);
        Philox next = here;
        next.skip(kStride * static_cast<std::uint64_t>(g));
        while (count < kGroup) {
          next.skip(1);
          normals(next.block().data(), 1, more);
          count = accept(more, count);
        }
        const std::int64_t at = (first + g) * kGroup;
        for (std::int64_t i = 0; i < std::min(kGroup, n - at); ++i)
          out[at + i] = scaled<T>(static_cast<Real>(T(accepted[i])), stddev, mean);
      }
    }
  });
}

template <class T>
void integers(const Philox& generator, std::int64_t n, T low, T range, T* out) {
  constexpr int kPerBlock = 16 / sizeof(T);
  for_each_output<kPerBlock>(
      generator, n, [&](const std::uint32_t* words, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          T x = 0;
          if constexpr (sizeof(T) == 8)
            x = words[2 * i] | T{words[2 * i + 1]} << 32;
          else
            x = words[i];
          out[first + i] = low + (range ? x % range : x);
        }
      });
}

}  // namespace

void random_uniform(DType t, const Philox& generator, std::int64_t n, double low, double high,
                    void* out) {
  visit_floating(t, [&]<class T>(T zero) {
    using Real = Arithmetic<T>;
    T* to = static_cast<T*>(out);
    const T offset(static_cast<Real>(low)), top(static_cast<Real>(high));
    const T range(static_cast<Real>(top) - static_cast<Real>(offset));
    for_each_output<std::is_same_v<T, double> ? 2 : 4>(
        generator, n, [&](const std::uint32_t* words, std::int64_t first, std::int64_t count) {
          if constexpr (std::is_same_v<T, float>)
            loops().uniform32(words, count, offset, range, to + first);
          else if constexpr (std::is_same_v<T, double>)
            loops().uniform64(words, count, offset, range, to + first);
          else
            for (std::int64_t i = 0; i < count; ++i)
              to[first + i] = scaled<T>(half_fraction(zero, words[i]), range, offset);
        });
  });
}

void random_normal(DType t, const Philox& generator, std::int64_t n, double mean, double stddev,
                   void* out) {
  visit_floating(t, [&]<class T>(T) {
    using Real = Arithmetic<T>;
    T* to = static_cast<T*>(out);
    const T offset(static_cast<Real>(mean)), scale(static_cast<Real>(stddev));
    for_each_output<std::is_same_v<T, double> ? 2 : 4>(
        generator, n, [&](const std::uint32_t* words, std::int64_t first, std::int64_t count) {
          alignas(64) Real z[4 * kBlocks];
          if constexpr (std::is_same_v<T, double>) {
            for (std::int64_t i = 0; i < count; i += 2) normal64(words + 2 * i, z + i);
          } else {
            loops().normal32(words, (count + 1) / 2, z);
          }
          if constexpr (std::is_same_v<T, float>) {
            loops().affine32(count, scale, offset, z);
            std::copy_n(z, count, to + first);
          } else {
            for (std::int64_t i = 0; i < count; ++i)
              to[first + i] = scaled<T>(static_cast<Real>(T(z[i])), scale, offset);
          }
        });
  });
}

void random_truncated_normal(DType t, const Philox& generator, std::int64_t n, double mean,
                             double stddev, void* out) {
  visit_floating(t, [&]<class T>(T) {
    using Real = Arithmetic<T>;
    truncated_groups(generator, n, T(static_cast<Real>(mean)), T(static_cast<Real>(stddev)),
                     static_cast<T*>(out));
  });
}

void random_integers(DType t, const Philox& generator, std::int64_t n, std::uint64_t low,
                     std::uint64_t range, void* out) {
  if (size_of(t) == 8)
    integers(generator, n, low, range, static_cast<std::uint64_t*>(out));
  else
    integers(generator, n, static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(range),
             static_cast<std::uint32_t*>(out));
}

void random_keep_mask(DType t, const Philox& generator, std::int64_t n, double rate, bool* keep) {
  visit_floating(t, [&]<class T>(T zero) {
    const auto least = static_cast<Arithmetic<T>>(T(static_cast<Arithmetic<T>>(rate)));
    for_each_output<std::is_same_v<T, double> ? 2 : 4>(
        generator, n, [&](const std::uint32_t* words, std::int64_t first, std::int64_t count) {
          if constexpr (std::is_same_v<T, float>)
            loops().keep32(words, count, least, keep + first);
          else if constexpr (std::is_same_v<T, double>)
            for (std::int64_t i = 0; i < count; ++i)
              keep[first + i] = double_fraction(words + 2 * i) >= least;
          else
            for (std::int64_t i = 0; i < count; ++i)
              keep[first + i] = half_fraction(zero, words[i]) >= least;
        });
  });
}

void random_order(const Philox& generator, std::int64_t n, std::int64_t* order) {
  std::iota(order, order + n, std::int64_t{0});
  Philox here = generator;
  std::uint32_t words[4 * kBlocks];
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const std::int64_t word = i % (4 * kBlocks);
    if (word == 0) {
      draw(here, 1, kBlocks, words);
      here.skip(kBlocks);
    }
    std::swap(
        order[i],
        order[i + static_cast<std::int64_t>(words[word] % static_cast<std::uint64_t>(n - i))]);
  }
}

}  // namespace gradus::kernels
