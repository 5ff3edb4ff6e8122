// The records of the zip format: little-endian fields without padding, after a signature. Sizes and
// offsets that do not fit into 32 bits are all ones there and follow in an extra field (ZIP64).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gradus::io {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                               kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                               kLocator64Signature = 0x07064b50;
inline constexpr std::size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56,
                             kLocator64Size = 20, kLongestComment = 65535;
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;
inline constexpr std::uint16_t kExtra64 = 1;
inline constexpr std::uint32_t kIn64 = 0xffffffff;

// A field of `bytes` bytes at `offset`.
inline std::uint64_t field(const unsigned char* record, std::size_t offset, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i)
    value = value << 8 | record[offset + static_cast<std::size_t>(i)];
  return value;
}

// Builds a record field by field.
class RecordBuilder {
 public:
  RecordBuilder& add(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return *this;
  }
  RecordBuilder& add(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace gradus::io
