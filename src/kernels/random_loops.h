// The loops of random.h, one table per instruction set; all give the same bits.
#pragma once
#include <cstdint>

namespace gradus::kernels {

struct RandomLoops {
  // Blocks at counters low, low + stride, ... (which must not carry into `high`), 4 words each.
  void (*words)(std::uint64_t key, std::uint64_t low, std::uint64_t high, std::uint64_t stride,
                std::int64_t blocks, std::uint32_t* out);
  // One number per word, and one per two words.
  void (*uniform32)(const std::uint32_t* words, std::int64_t n, float low, float range, float* out);
  void (*uniform64)(const std::uint32_t* words, std::int64_t n, double low, double range,
                    double* out);
  // Box-Muller: two normal numbers from two words.
  void (*normal32)(const std::uint32_t* words, std::int64_t pairs, float* out);
  // x * scale + offset, and whether the uniform number of a word is at least `least`.
  void (*affine32)(std::int64_t n, float scale, float offset, float* x);
  void (*keep32)(const std::uint32_t* words, std::int64_t n, float least, bool* keep);
};

namespace baseline {
extern const RandomLoops random_loops;
}
namespace avx2 {
extern const RandomLoops random_loops;
}
namespace avx512 {
extern const RandomLoops random_loops;
}

}  // namespace gradus::kernels
