#include "kernels/conv2d_window.h"

#include <algorithm>
#include <cstring>

namespace gradus::kernels {

using std::int64_t;

Window::Window(const Image& image, const Extent& extent)
    : origin_(image.data),
      top_(0),
      left_(0),
      pitch_(image.width * image.pixel),
      pixel_(image.pixel) {
  if (extent.top >= 0 && extent.bottom <= image.height && extent.left >= 0 &&
      extent.right <= image.width)
    return;
  top_ = extent.top;
  left_ = extent.left;
  const int64_t rows = extent.bottom - extent.top, cols = extent.right - extent.left;
  pitch_ = cols * pixel_;
  char* to = copy_.emplace(rows * pitch_).as<char>();
  origin_ = to;

  const int64_t x0 = std::clamp<int64_t>(0, extent.left, extent.right);
  const int64_t x1 = std::clamp<int64_t>(image.width, x0, extent.right);
  const int64_t before = (x0 - extent.left) * pixel_, inside = (x1 - x0) * pixel_,
                after = (extent.right - x1) * pixel_;
  for (int64_t y = extent.top; y < extent.bottom; ++y, to += pitch_) {
    if (y < 0 || y >= image.height) {
      std::memset(to, 0, pitch_);
      continue;
    }
    std::memset(to, 0, before);
    std::memcpy(to + before, image.data + (y * image.width + x0) * pixel_, inside);
    std::memset(to + before + inside, 0, after);
  }
}

}  // namespace gradus::kernels
