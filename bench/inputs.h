// The inputs and weights of every case: plain numbers from fixed seeds, the same for every library.
// Matrices are row-major; dense weights are [in, out], convolution weights [height, width, in,
// out], images [batch, height, width, channels], LSTM gates in the order i, f, g, o.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64: a good hash of a counter
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// n numbers, even over [middle - spread, middle + spread).
inline std::vector<float> values(std::uint64_t seed, std::size_t n, float spread,
                                 float middle = 0.0f) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::int32_t>(mix(seed << 40 | i) >> 40);  // 24 bits
    out[i] = middle + spread * (static_cast<float>(bits) * 0x1p-23f - 1.0f);
  }
  return out;
}

// n whole numbers in [0, limit).
inline std::vector<std::int64_t> integers(std::uint64_t seed, std::size_t n, std::int64_t limit) {
  std::vector<std::int64_t> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::int64_t>(mix(seed << 40 | i) % static_cast<std::uint64_t>(limit));
  }
  return out;
}

// Row numbers of an embedding table: a quarter of them fall on few rows, as words of a text do.
inline std::vector<std::int64_t> skewed_ids(std::uint64_t seed, std::size_t n, std::int64_t rows) {
  std::vector<std::int64_t> out = integers(seed, n, rows);
  for (std::size_t i = 0; i < n; i += 4) out[i] %= 50;
  return out;
}

}  // namespace bench
