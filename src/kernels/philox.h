// Philox 4x32-10, the counter-based generator of TensorFlow: block i of the stream is a function of
// (key, counter + i), so any part of it can be computed anywhere and in any order.
//
// A generator starts in one of three ways, each giving TensorFlow's numbers:
//   from_op_seeds    tf.random.uniform and the other stateful ops: (graph seed, op seed)
//   from_seed_pair   tf.random.stateless_*: the shape [2] seed, scrambled
//   from_state       tf.random.Generator: its state [counter low, counter high, key]
// However many numbers an op draws, it moves the stream on by reserved(outputs) blocks.
#pragma once
#include <array>
#include <cstdint>

namespace gradus::kernels {

struct Philox {
  std::uint64_t key = 0;
  std::uint64_t low = 0, high = 0;  // the 128-bit counter of the next block

  static Philox from_op_seeds(std::int64_t seed, std::int64_t seed2) {
    return {static_cast<std::uint64_t>(seed), 0, static_cast<std::uint64_t>(seed2)};
  }
  static Philox from_seed_pair(std::int64_t first, std::int64_t second);
  static Philox from_state(const std::int64_t (&state)[3]) {
    return {static_cast<std::uint64_t>(state[2]), static_cast<std::uint64_t>(state[0]),
            static_cast<std::uint64_t>(state[1])};
  }

  static constexpr std::uint64_t reserved(std::uint64_t outputs) { return 256 * outputs; }

  void skip(std::uint64_t blocks) {
    low += blocks;
    high += low < blocks ? 1 : 0;
  }

  std::array<std::uint32_t, 4> block() const;  // of the counter as it is
};

inline std::array<std::uint32_t, 4> Philox::block() const {
  auto c0 = static_cast<std::uint32_t>(low), c1 = static_cast<std::uint32_t>(low >> 32);
  auto c2 = static_cast<std::uint32_t>(high), c3 = static_cast<std::uint32_t>(high >> 32);
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c0, b = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(b);
    c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(a);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

inline Philox Philox::from_seed_pair(std::int64_t first, std::int64_t second) {
  // The seeds are the counter of one block under a fixed key; that block is the key and the upper
  // half of the counter.
  const Philox scrambler = {0x02461e293ec8f720, static_cast<std::uint64_t>(first),
                            static_cast<std::uint64_t>(second)};
  const std::array<std::uint32_t, 4> mixed = scrambler.block();
  return {mixed[0] | std::uint64_t{mixed[1]} << 32, 0, mixed[2] | std::uint64_t{mixed[3]} << 32};
}

}  // namespace gradus::kernels
