#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gradus/error.h"
#include "gradus/image_files.h"

namespace gradus {
namespace {

using Colour = std::array<std::uint8_t, 3>;
using Palette = std::vector<Colour>;

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgumentError("[decode_gif] " + what);
}

// The file from front to back.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : rest_(all) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) refuse("Invalid GIF data: the file ends early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  bool is_empty() const { return rest_.empty(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::size_t number() {  // 16 bits, the low byte first
    const std::size_t low = byte();
    return low | static_cast<std::size_t>(byte()) << 8;
  }
  Palette palette(int log2_size_less_1) {
    Palette colours(std::size_t{2} << log2_size_less_1);
    std::memcpy(colours.data(), take(3 * colours.size()).data(), 3 * colours.size());
    return colours;
  }
  // Blocks of up to 255 bytes, each after its length; a length of 0 ends them.
  std::string blocks() {
    std::string joined;
    while (const std::size_t length = byte()) joined += take(length);
    return joined;
  }

 private:
  std::string_view rest_;
};

// The indices of `count` pixels, packed by LZW with codes of growing width. A code stands for the
// pixels of an earlier code and one more, so a table of predecessors is enough.
std::vector<std::uint8_t> unpack(const std::string& packed, unsigned root_bits, std::size_t count) {
  constexpr unsigned kMostBits = 12, kTable = 1U << kMostBits;
  if (root_bits < 1 || root_bits > 8) refuse("Invalid GIF data: codes of a wrong size");
  const unsigned clear = 1U << root_bits, end = clear + 1;
  std::array<std::uint16_t, kTable> before{};
  std::array<std::uint8_t, kTable> last{};
  for (unsigned i = 0; i < clear; ++i) last[i] = static_cast<std::uint8_t>(i);

  std::vector<std::uint8_t> pixels, backwards;
  pixels.reserve(count);
  unsigned bits = root_bits + 1, next = end + 1, previous = clear;
  std::uint32_t buffer = 0;
  unsigned buffered = 0;
  for (std::size_t at = 0; pixels.size() < count;) {
    while (buffered < bits) {
      if (at == packed.size()) refuse("Invalid GIF data: the pixels of a frame end early");
      buffer |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(packed[at++])) << buffered;
      buffered += 8;
    }
    const unsigned code = buffer & ((1U << bits) - 1);
    buffer >>= bits;
    buffered -= bits;
    if (code == end) refuse("Invalid GIF data: the pixels of a frame end early");
    if (code == clear) {
      bits = root_bits + 1;
      next = end + 1;
      previous = clear;
      continue;
    }
    const bool is_first = previous == clear;
    if (code > next || (code == next && (is_first || next == kTable)) || (is_first && code > end))
      refuse("Invalid GIF data: a code that is not defined yet");
    const bool is_new = code == next;  // the pixels of the previous code, and its first one again
    backwards.assign(is_new ? 1 : 0, 0);
    for (unsigned c = is_new ? previous : code;; c = before[c]) {
      backwards.push_back(last[c]);
      if (c < clear) break;
    }
    if (is_new) backwards.front() = backwards.back();
    if (!is_first && next < kTable) {
      before[next] = static_cast<std::uint16_t>(previous);
      last[next] = backwards.back();
      if (++next == 1U << bits && bits < kMostBits) ++bits;
    }
    pixels.insert(pixels.end(), backwards.rbegin(), backwards.rend());
    previous = code;
  }
  pixels.resize(count);
  return pixels;
}

// Frames are drawn over the ones before them: where a frame is transparent, or does not reach, what
// was there stays. The canvas is black at first.
class Animation {
 public:
  explicit Animation(std::string_view contents) : bytes_(contents), size_(contents.size()) {
    if (!bytes_.take(6).starts_with("GIF8")) refuse("Invalid GIF data: no header");
    width_ = bytes_.number();
    height_ = bytes_.number();
    const std::uint8_t flags = bytes_.byte();
    bytes_.take(2);  // background and the shape of pixels
    if (flags & 0x80) common_ = bytes_.palette(flags & 7);
    if (width_ == 0 || height_ == 0) refuse("Invalid GIF data: sides must be positive");
  }

  // A file without its last byte, which only says that it ends, is whole.
  Tensor read() {
    for (bool more = true; more && !bytes_.is_empty();) {
      switch (bytes_.byte()) {
        case 0x21:
          extension();
          break;
        case 0x2c:
          frame();
          break;
        case 0x3b:
          more = false;
          break;
        default:
          refuse("Invalid GIF data: an unknown kind of block");
      }
    }
    if (count_ == 0) refuse("Invalid GIF data: no frames");
    return Tensor::from(frames_, {count_, static_cast<std::int64_t>(height_),
                                  static_cast<std::int64_t>(width_), 3});
  }

 private:
  void extension() {
    const std::uint8_t kind = bytes_.byte();
    const std::string data = bytes_.blocks();
    if (kind == 0xf9 && data.size() >= 4)
      transparent_ = data[0] & 1 ? static_cast<std::uint8_t>(data[3]) : -1;
  }

  void frame() {
    const std::size_t left = bytes_.number(), top = bytes_.number();
    const std::size_t width = bytes_.number(), height = bytes_.number();
    const std::uint8_t flags = bytes_.byte();
    const Palette own = flags & 0x80 ? bytes_.palette(flags & 7) : Palette();
    const Palette& palette = own.empty() ? common_ : own;
    if (palette.empty()) refuse("Invalid GIF data: a frame without colours");
    if (left + width > width_ || top + height > height_)
      refuse("Invalid GIF data: a frame that is larger than the image");
    const unsigned root_bits = bytes_.byte();
    const std::string packed = bytes_.blocks();

    constexpr std::uint64_t kMostPacked = 4096;  // pixels of one code
    const std::size_t canvas = 3 * width_ * height_;
    if (width_ * height_ * static_cast<std::uint64_t>(count_ + 1) > kMostPacked * size_)
      refuse("The file says that it has frames of " + std::to_string(height_) + " x " +
             std::to_string(width_) + " pixels, but it has " + std::to_string(size_) +
             " bytes only: it is damaged");
    const std::vector<std::uint8_t> indices = unpack(packed, root_bits, width * height);
    frames_.resize(frames_.size() + canvas);
    std::uint8_t* now = frames_.data() + frames_.size() - canvas;
    if (count_ > 0) std::memcpy(now, now - canvas, canvas);
    for (std::size_t row = 0; row < height; ++row) {
      const std::size_t y = top + (flags & 0x40 ? interlaced(row, height) : row);
      for (std::size_t x = 0; x < width; ++x) {
        const std::uint8_t index = indices[row * width + x];
        if (index == transparent_) continue;
        if (index >= palette.size()) refuse("Invalid GIF data: a colour that is not defined");
        std::memcpy(now + 3 * (y * width_ + left + x), palette[index].data(), 3);
      }
    }
    transparent_ = -1;
    ++count_;
  }

  // Every 8th row, then those half way between, and so on.
  static std::size_t interlaced(std::size_t row, std::size_t height) {
    constexpr std::size_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; ++pass) {
      const std::size_t rows =
          height > starts[pass] ? (height - starts[pass] + steps[pass] - 1) / steps[pass] : 0;
      if (row < rows) return starts[pass] + row * steps[pass];
      row -= rows;
    }
    return 0;
  }

  Bytes bytes_;
  std::size_t size_, width_ = 0, height_ = 0;
  Palette common_;
  int transparent_ = -1;
  std::int64_t count_ = 0;
  std::vector<std::uint8_t> frames_;
};

}  // namespace

Tensor decode_gif(std::string_view contents) { return Animation(contents).read(); }

}  // namespace gradus
