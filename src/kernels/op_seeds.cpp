#include "kernels/op_seeds.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kMaxInt32 = 0x7fffffff;
constexpr std::int64_t kDefaultGraphSeed = 87654321;

// The state of the Mersenne twister as Python seeds it: from the 32-bit digits of |seed|, by the
// initialisation from an array of its authors.
struct PythonSeed {
  using result_type = std::uint32_t;
  std::uint64_t magnitude;

  // std::mt19937 asks a seed sequence for its whole state.
  template <class Iterator>
  void generate(Iterator begin, Iterator end) const {
    constexpr int kSize = 624;
    const std::uint32_t digits[2] = {static_cast<std::uint32_t>(magnitude),
                                     static_cast<std::uint32_t>(magnitude >> 32)};
    const int count = digits[1] ? 2 : 1;
    std::uint32_t state[kSize];
    state[0] = 19650218;
    for (std::uint32_t i = 1; i < kSize; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    int i = 1;
    const auto advance = [&] {
      if (++i == kSize) {
        state[0] = state[kSize - 1];
        i = 1;
      }
    };
    const auto previous = [&] { return state[i - 1] ^ state[i - 1] >> 30; };
    for (int k = 0, digit = 0; k < kSize; ++k, digit = (digit + 1) % count) {
      state[i] =
          (state[i] ^ previous() * 1664525u) + digits[digit] + static_cast<std::uint32_t>(digit);
      advance();
    }
    for (int k = 1; k < kSize; ++k) {
      state[i] = (state[i] ^ previous() * 1566083941u) - static_cast<std::uint32_t>(i);
      advance();
    }
    state[0] = 0x80000000u;
    const std::uint32_t* from = state;
    for (Iterator to = begin; to != end; ++to) *to = *from++;
  }
};

std::mt19937 python_random(std::int64_t seed) {
  PythonSeed sequence{seed < 0 ? 0 - static_cast<std::uint64_t>(seed)
                               : static_cast<std::uint64_t>(seed)};
  return std::mt19937(sequence);
}

OpSeeds::Pair never_zero(std::int64_t seed, std::int64_t seed2) {
  return {seed, seed == 0 && seed2 == 0 ? kMaxInt32 : seed2};
}

}  // namespace

// Python's modulo: never negative.
std::int64_t OpSeeds::truncated(std::int64_t seed) {
  return (seed % kMaxInt32 + kMaxInt32) % kMaxInt32;
}

OpSeeds::OpSeeds(std::int64_t global_seed)
    : global_seed_(global_seed), twister_(python_random(global_seed)) {}

OpSeeds::Pair OpSeeds::next() {
  std::uint32_t drawn = 0;
  do {
    drawn = static_cast<std::uint32_t>(twister_());  // 32 bits, because 2^31 has 32 bits
  } while (drawn >= 0x80000000u);
  return with_op_seed(drawn);
}

OpSeeds::Pair OpSeeds::with_op_seed(std::int64_t op_seed) const {
  return never_zero(truncated(global_seed_), truncated(op_seed));
}

OpSeeds::Pair OpSeeds::without_global_seed(std::int64_t op_seed) {
  return never_zero(kDefaultGraphSeed, truncated(op_seed));
}

}  // namespace gradus::kernels
