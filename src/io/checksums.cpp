#include "io/checksums.h"

#include <algorithm>
#include <array>
#include <bit>

#include "gradus/io.h"

namespace gradus {
namespace io {
namespace {

std::uint32_t word_at(std::span<const unsigned char> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    word |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
  return word;
}

}  // namespace

std::uint32_t lookup3(std::span<const unsigned char> bytes) {
  constexpr std::uint32_t kStart = 0xdeadbeef;
  std::uint32_t a = kStart + static_cast<std::uint32_t>(bytes.size()), b = a, c = a;
  if (bytes.empty()) return c;
  std::size_t at = 0;
  // All blocks of 12 bytes but the last are mixed; the last, which may be shorter, is finished.
  for (; bytes.size() - at > 12; at += 12) {
    a += word_at(bytes, at);
    b += word_at(bytes, at + 4);
    c += word_at(bytes, at + 8);
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }
  a += word_at(bytes, at);
  b += word_at(bytes, at + 4);
  c += word_at(bytes, at + 8);
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  c = (c ^ b) - std::rotl(b, 24);
  return c;
}

std::uint32_t fletcher32(std::span<const unsigned char> bytes) {
  std::uint32_t low = 0, high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  // As many words at a time as cannot overflow 32 bits.
  for (std::size_t at = 0, words = bytes.size() / 2; words > 0;) {
    const std::size_t block = std::min<std::size_t>(words, 360);
    for (std::size_t i = 0; i < block; ++i, at += 2) {
      low += static_cast<std::uint32_t>(bytes[at] << 8 | bytes[at + 1]);
      high += low;
    }
    words -= block;
    low = fold(low);
    high = fold(high);
  }
  if (bytes.size() % 2) {
    low += static_cast<std::uint32_t>(bytes.back()) << 8;
    high += low;
    low = fold(low);
    high = fold(high);
  }
  return fold(high) << 16 | fold(low);
}

}  // namespace io

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t crc = n;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
      made[n] = crc;
    }
    return made;
  }();
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

}  // namespace gradus
