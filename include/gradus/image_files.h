// Images in files: JPEG, PNG, BMP and GIF from bytes to tensors, JPEG and PNG back.
//
//   gd::Tensor image = gd::decode_image(bytes);      // [height, width, channels], uint8
//   std::string file = gd::encode_png(image);
//
// Decoders look at the bytes, not at a name, to see which format they are. `channels` of 0 takes
// what the file has; 1 is gray, 3 is RGB, 4 is RGBA. Damaged files are InvalidArgumentErrors, and
// so are files that claim to be larger than their bytes can say: nothing is allocated for those.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gradus/tensor.h"

namespace gradus {

enum class ImageFormat { unknown, jpeg, png, bmp, gif };
ImageFormat image_format(std::string_view contents);

struct JpegDecoding {
  int channels = 0;                // 0, 1 or 3
  int ratio = 1;                   // of sizes: 1, 2, 4 or 8 times smaller
  bool fancy_upscaling = true;     // interpolated colours, not repeated ones
  bool accurate = false;           // the exact cosine transform instead of the fast one
  bool recover_truncated = false;  // what is missing at the end becomes gray
  float acceptable_fraction = 1;   // of the rows, when recovering
  std::optional<std::array<std::int64_t, 4>> crop = {};  // top, left, height, width
};
Tensor decode_jpeg(std::string_view contents, const JpegDecoding& how = {});
Shape jpeg_shape(std::string_view contents);  // read from the header only

// uint8, or uint16 if asked for: files with 8 bits are then stretched to 16.
Tensor decode_png(std::string_view contents, int channels = 0, DType dtype = DType::uint8);
Tensor decode_bmp(std::string_view contents, int channels = 0);
Tensor decode_gif(std::string_view contents);  // [frames, height, width, 3]

// Whichever of the four it is. An animation is [frames, height, width, 3], or its first frame.
Tensor decode_image(std::string_view contents, int channels = 0, bool expand_animations = true);

struct JpegEncoding {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool dots_per_cm = false;  // the unit of the densities; else per inch
  int x_density = 300, y_density = 300;
};
std::string encode_jpeg(const Tensor& image,
                        const JpegEncoding& how = {});  // uint8, 1 or 3 channels
// uint8 or uint16 with 1 to 4 channels; compression 0 (none) to 9, or -1 for zlib's default.
std::string encode_png(const Tensor& image, int compression = -1);

}  // namespace gradus
