// The seeds that TensorFlow gives to random ops in eager mode after tf.random.set_seed(seed): op
// seeds are drawn with Python's random.Random(seed).randint(0, 2^31 - 1), one per op without a seed
// of its own.
#pragma once
#include <cstdint>
#include <random>

namespace gradus::kernels {

class OpSeeds {
 public:
  explicit OpSeeds(std::int64_t global_seed);

  // The pair for Philox::from_op_seeds of the next op that names no seed, or of one that does.
  struct Pair {
    std::int64_t seed, seed2;
  };
  Pair next();
  Pair with_op_seed(std::int64_t op_seed) const;

  // With an op seed but no global seed.
  static Pair without_global_seed(std::int64_t op_seed);
  // What TensorFlow uses of a seed: the remainder by 2^31 - 1.
  static std::int64_t truncated(std::int64_t seed);

 private:
  std::int64_t global_seed_;
  std::mt19937 twister_;
};

}  // namespace gradus::kernels
