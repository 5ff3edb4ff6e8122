// The part of an image that a block of a convolution reads, with zeros where it is outside.
#pragma once
#include <cstdint>
#include <optional>

#include "kernels/scratch.h"

namespace gradus::kernels {

// One image of `height` x `width` pixels of `pixel` bytes each.
struct Image {
  const char* data;
  std::int64_t height, width, pixel;
};

// Rows [top, bottom) and columns [left, right) of an image, which may lie outside.
struct Extent {
  std::int64_t top, bottom, left, right;
};

// Reads the image in place if the extent is inside, otherwise a copy.
class Window {
 public:
  Window(const Image& image, const Extent& extent);

  std::int64_t pitch() const { return pitch_; }  // bytes from row to row
  const char* at(std::int64_t y, std::int64_t x) const {
    return origin_ + (y - top_) * pitch_ + (x - left_) * pixel_;
  }

 private:
  std::optional<Scratch> copy_;
  const char* origin_;
  std::int64_t top_, left_, pitch_, pixel_;
};

}  // namespace gradus::kernels
