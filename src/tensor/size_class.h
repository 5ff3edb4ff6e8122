// The sizes that the allocator's free lists hold. Tensors keep a header of 128 bytes in front of
// their elements; class 0 is a header alone, the others are a header and 64, 128, 192, 256 bytes,
// then four steps per power of two. So elements that fill a power of two, as they often do, leave
// nothing unused, and others at most a fifth.
#pragma once
#include <bit>
#include <cstddef>

namespace gradus {

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
inline constexpr std::size_t kHeader = 128;
inline constexpr std::size_t kLargestCached = kHeader + MiB;
inline constexpr int kClasses = 53;

// The smallest class that holds so many bytes, 1 to kLargestCached.
constexpr int class_of(std::size_t bytes) {
  if (bytes <= kHeader) return 0;
  const std::size_t n = bytes - kHeader - 1;
  if (n < 256) return 1 + static_cast<int>(n / 64);
  const int power = std::bit_width(n) - 1;
  return 1 + 4 * (power - 7) + static_cast<int>((n >> (power - 2)) & 3);
}

constexpr std::size_t class_size(int c) {
  if (c == 0) return kHeader;
  const int i = c - 1;
  if (i < 4) return kHeader + 64 * static_cast<std::size_t>(i + 1);
  const int power = 7 + i / 4;
  return kHeader + (std::size_t{1} << power) + (static_cast<std::size_t>(i % 4 + 1) << (power - 2));
}
static_assert(class_size(kClasses - 1) == kLargestCached);

}  // namespace gradus
