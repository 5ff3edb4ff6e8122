#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "gradus/error.h"
#include "gradus/image_files.h"

namespace gradus {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgumentError("[decode_bmp] " + what);
}

// Little-endian, as this machine is.
template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

Tensor decode_bmp(std::string_view contents, int channels) {
  constexpr std::size_t kHeader = 32;
  if (contents.size() < kHeader)
    refuse(
        "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
        "height, "
        "and bpp, got " +
        std::to_string(contents.size()) + " bytes");
  if (image_format(contents) != ImageFormat::bmp)
    refuse("The bytes are not a BMP file: use decode_image, which looks at the bytes");
  if (channels != 0 && channels != 3 && channels != 4)
    refuse("`channels` must be 0, 3 or 4 for BMP, but got " + std::to_string(channels));
  const std::uint64_t first = number_at<std::uint32_t>(contents, 10);
  const std::int64_t width = number_at<std::int32_t>(contents, 18);
  const std::int64_t signed_height = number_at<std::int32_t>(contents, 22);  // negative: top first
  const int bits = number_at<std::uint16_t>(contents, 28);
  const std::int64_t height = std::abs(signed_height);
  if (bits != 8 && bits != 24 && bits != 32)
    refuse("pixels must have 8, 24 or 32 bits, got " + std::to_string(bits));
  const int stored = bits / 8;
  const int made = channels ? channels : stored;
  if (width <= 0 || height == 0)
    refuse("sides must be positive, got " + std::to_string(height) + " x " + std::to_string(width));
  const std::uint64_t row_bytes =
      (static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(stored) + 3) / 4 * 4;
  const std::uint64_t expected = first + row_bytes * static_cast<std::uint64_t>(height);
  if (contents.size() < expected)
    refuse("the file ends early: " + std::to_string(contents.size()) + " bytes, " +
           std::to_string(expected) + " expected");

  return Tensor::filled_by(DType::uint8, {height, width, made}, [&](void* elements) {
    auto* to = static_cast<char*>(elements);
    for (std::int64_t y = 0; y < height; ++y) {
      const auto row = static_cast<std::uint64_t>(signed_height < 0 ? y : height - 1 - y);
      const char* from = contents.data() + first + row * row_bytes;
      for (std::int64_t x = 0; x < width; ++x, from += stored) {
        // Blue comes first in the file; gray stands for all three.
        const char red = from[stored == 1 ? 0 : 2], green = from[stored == 1 ? 0 : 1];
        *to++ = red;
        if (made >= 3) *to++ = green;
        if (made >= 3) *to++ = from[0];
        if (made == 4) *to++ = stored == 4 ? from[3] : '\xff';
      }
    }
  });
}

}  // namespace gradus
