// Mixing of 64-bit hashes, for tables that live in memory only.
#pragma once
#include <cstdint>

namespace gradus {

inline std::uint64_t hash_mix(std::uint64_t seed, std::uint64_t x) {
  x ^= seed + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace gradus
