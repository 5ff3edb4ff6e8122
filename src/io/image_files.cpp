#include "gradus/image_files.h"

#include "gradus/error.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"

namespace gradus {

ImageFormat image_format(std::string_view contents) {
  if (contents.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  if (contents.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
  if (contents.starts_with("GIF8")) return ImageFormat::gif;
  if (contents.starts_with("BM")) return ImageFormat::bmp;
  return ImageFormat::unknown;
}

Tensor decode_image(std::string_view contents, int channels, bool expand_animations) {
  if (contents.empty()) throw InvalidArgumentError("[decode_image] Input is empty.");
  if (channels < 0 || channels == 2 || channels > 4)
    throw InvalidArgumentError("[decode_image] `channels` must be 0, 1, 3 or 4 but got " +
                               std::to_string(channels));
  switch (image_format(contents)) {
    case ImageFormat::jpeg:
      return decode_jpeg(contents, {.channels = channels});
    case ImageFormat::png:
      return decode_png(contents, channels);
    case ImageFormat::bmp:
      return decode_bmp(contents, channels);
    case ImageFormat::gif:
      break;
    case ImageFormat::unknown:
      throw InvalidArgumentError(
          "[decode_image] Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  }
  if (channels != 0 && channels != 3)
    throw InvalidArgumentError("[decode_image] `channels` must be 0 or 3 for GIF, but got " +
                               std::to_string(channels));
  const Tensor frames = decode_gif(contents);
  return expand_animations ? frames : gather(frames, 0);
}

}  // namespace gradus
