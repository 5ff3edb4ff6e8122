#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gradus/error.h"
#include "gradus/image_files.h"
// libjpeg's header needs the two above.
#include <jerror.h>
#include <jpeglib.h>

namespace gradus {
namespace {

// libjpeg reports an error by a function that must not return. It jumps back to attempt(); what
// runs there is calls of libjpeg only, so that no destructor is jumped over.
struct JumpingErrors : jpeg_error_mgr {
  std::jmp_buf back;
  bool ended_early = false;  // libjpeg then goes on with gray

  JumpingErrors() {
    jpeg_std_error(this);
    error_exit = [](j_common_ptr image) {
      std::longjmp(static_cast<JumpingErrors*>(image->err)->back, 1);
    };
    emit_message = [](j_common_ptr image, int) {
      auto* errors = static_cast<JumpingErrors*>(image->err);
      errors->ended_early |= errors->msg_code == JWRN_JPEG_EOF;
    };
  }

  template <class Calls>
  bool attempt(const Calls& calls) {
    if (setjmp(back)) return false;
    calls();
    return true;
  }
  std::string message(jpeg_common_struct* image) const {
    char text[JMSG_LENGTH_MAX];
    format_message(image, text);
    return text;
  }
};

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgumentError("[decode_jpeg] " + what);
}

// What libjpeg allocates; freed also if the header of the file is refused.
struct Decompression : jpeg_decompress_struct {
  Decompression() : jpeg_decompress_struct{} {}
  ~Decompression() { jpeg_destroy_decompress(this); }
  Decompression(const Decompression&) = delete;
  Decompression& operator=(const Decompression&) = delete;
};

class Reader {
 public:
  explicit Reader(std::string_view contents) : size_(contents.size()) {
    if (contents.empty()) refuse("Input is empty.");
    image_.err = &errors_;
    must([&] {
      jpeg_create_decompress(&image_);
      jpeg_mem_src(&image_, reinterpret_cast<const unsigned char*>(contents.data()),
                   static_cast<unsigned long>(contents.size()));
      jpeg_read_header(&image_, TRUE);
    });
  }

  Shape shape() const {
    return {static_cast<std::int64_t>(image_.image_height),
            static_cast<std::int64_t>(image_.image_width), std::min(image_.num_components, 3)};
  }

  Tensor read(const JpegDecoding& how) {
    // A block of 64 pixels takes one bit at least.
    constexpr std::uint64_t kPixelsPerByte = 512;
    const std::uint64_t pixels = std::uint64_t{image_.image_height} * image_.image_width;
    if (pixels > kPixelsPerByte * size_)
      refuse("The file says that it has " + std::to_string(image_.image_height) + " x " +
             std::to_string(image_.image_width) + " pixels, but it has " + std::to_string(size_) +
             " bytes only: it is damaged");
    const int channels = how.channels ? how.channels : std::min(image_.num_components, 3);
    choose_output(how, channels);
    must([&] { jpeg_start_decompress(&image_); });

    const std::int64_t whole_height = image_.output_height, whole_width = image_.output_width;
    const auto [top, left, height, width] =
        how.crop.value_or(std::array<std::int64_t, 4>{0, 0, whole_height, whole_width});
    const auto lies_inside = [](std::int64_t first, std::int64_t count, std::int64_t whole) {
      return first >= 0 && count > 0 && count <= whole && first <= whole - count;
    };
    if (!lies_inside(top, height, whole_height) || !lies_inside(left, width, whole_width))
      refuse("The crop window [" + std::to_string(top) + ", " + std::to_string(left) + ", " +
             std::to_string(height) + ", " + std::to_string(width) +
             "] (top, left, height, width) is not inside of the image of " +
             std::to_string(whole_height) + " x " + std::to_string(whole_width) + " pixels");

    JDIMENSION first_column = static_cast<JDIMENSION>(left);
    if (how.crop) {
      auto columns = static_cast<JDIMENSION>(width);
      must([&] {
        jpeg_crop_scanline(&image_, &first_column, &columns);
        jpeg_skip_scanlines(&image_, static_cast<JDIMENSION>(top));
      });
    } else {
      first_column = 0;
    }
    const auto skipped = static_cast<std::size_t>(left) - first_column;
    std::vector<unsigned char> row(std::size_t{image_.output_width} *
                                   static_cast<std::size_t>(image_.output_components));
    return Tensor::filled_by(DType::uint8, {height, width, channels}, [&](void* elements) {
      auto* to = static_cast<unsigned char*>(elements);
      const auto bytes = static_cast<std::size_t>(width * channels);
      for (std::int64_t y = 0; y < height; ++y, to += bytes) {
        unsigned char* scanline = row.data();
        const bool is_read = errors_.attempt([&] { jpeg_read_scanlines(&image_, &scanline, 1); });
        const bool is_whole = is_read && !errors_.ended_early;
        // A progressive file that ends early is coarse everywhere.
        const bool is_enough =
            jpeg_has_multiple_scans(&image_) ||
            static_cast<float>(y) >= how.acceptable_fraction * static_cast<float>(height);
        if (!is_whole && !(how.recover_truncated && is_enough))
          refuse("The data are damaged or end early, in row " + std::to_string(y) + ": " +
                 errors_.message(reinterpret_cast<j_common_ptr>(&image_)));
        if (!is_read) {
          std::memset(to, 128, static_cast<std::size_t>(height - y) * bytes);
          return;
        }
        copy_row(row.data() + skipped * static_cast<std::size_t>(image_.output_components), to,
                 static_cast<std::size_t>(width), channels);
      }
    });
  }

 private:
  template <class Calls>
  void must(const Calls& calls) {
    if (!errors_.attempt(calls))
      refuse("Invalid JPEG data: " + errors_.message(reinterpret_cast<j_common_ptr>(&image_)));
  }

  void choose_output(const JpegDecoding& how, int channels) {
    const bool has_four_inks =
        image_.jpeg_color_space == JCS_CMYK || image_.jpeg_color_space == JCS_YCCK;
    image_.out_color_space = has_four_inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    image_.scale_num = 1;
    image_.scale_denom = static_cast<unsigned>(how.ratio);
    image_.do_fancy_upsampling = how.fancy_upscaling;
    image_.dct_method = how.accurate ? JDCT_ISLOW : JDCT_IFAST;
  }

  void copy_row(const unsigned char* from, unsigned char* to, std::size_t width,
                int channels) const {
    if (image_.out_color_space != JCS_CMYK) {
      std::memcpy(to, from, width * static_cast<std::size_t>(channels));
      return;
    }
    // Photoshop's files store how much ink is not there.
    const bool is_inverted = image_.saw_Adobe_marker;
    for (std::size_t x = 0; x < width; ++x, from += 4) {
      int light[3];
      for (int i = 0; i < 3; ++i)
        light[i] = (is_inverted ? from[i] * from[3] : (255 - from[i]) * (255 - from[3])) / 255;
      if (channels == 1) {
        *to++ = static_cast<unsigned char>(
            (299 * light[0] + 587 * light[1] + 114 * light[2] + 500) / 1000);
      } else {
        for (int component : light) *to++ = static_cast<unsigned char>(component);
      }
    }
  }

  std::size_t size_;
  JumpingErrors errors_;
  Decompression image_;
};

}  // namespace

Tensor decode_jpeg(std::string_view contents, const JpegDecoding& how) {
  if (how.channels != 0 && how.channels != 1 && how.channels != 3)
    refuse("JPEG does not support " + std::to_string(how.channels) + " channels");
  if (how.ratio != 1 && how.ratio != 2 && how.ratio != 4 && how.ratio != 8)
    refuse("ratio must be 1, 2, 4, or 8, got " + std::to_string(how.ratio));
  return Reader(contents).read(how);
}

Shape jpeg_shape(std::string_view contents) { return Reader(contents).shape(); }

std::string encode_jpeg(const Tensor& image, const JpegEncoding& how) {
  const Shape& shape = image.shape();
  const auto wrong = [](const std::string& what) -> InvalidArgumentError {
    return InvalidArgumentError("[encode_jpeg] " + what);
  };
  if (image.dtype() != DType::uint8)
    throw wrong("image must be uint8, got " + std::string(name_of(image.dtype())) +
                ": convert it, e.g. cast(image * 255, uint8)");
  if (shape.rank() != 3) throw wrong("image must be 3-dimensional, got " + to_string(shape));
  if (shape[2] != 1 && shape[2] != 3)
    throw wrong("image must have 1 or 3 channels, got " + to_string(shape));
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > JPEG_MAX_DIMENSION ||
      shape[1] > JPEG_MAX_DIMENSION)
    throw wrong("sides must be from 1 to 65500 pixels, got " + to_string(shape));
  if (how.quality < 0 || how.quality > 100)
    throw wrong("quality must be in [0,100], got " + std::to_string(how.quality));

  JumpingErrors errors;
  jpeg_compress_struct file{};
  file.err = &errors;
  unsigned char* bytes = nullptr;  // libjpeg's
  unsigned long size = 0;
  const unsigned char* elements = image.data<std::uint8_t>();
  const auto row_bytes = static_cast<std::size_t>(shape[1] * shape[2]);
  const bool done = errors.attempt([&] {
    jpeg_create_compress(&file);
    jpeg_mem_dest(&file, &bytes, &size);
    file.image_height = static_cast<JDIMENSION>(shape[0]);
    file.image_width = static_cast<JDIMENSION>(shape[1]);
    file.input_components = static_cast<int>(shape[2]);
    file.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&file);
    file.density_unit = how.dots_per_cm ? 2 : 1;
    file.X_density = static_cast<UINT16>(how.x_density);
    file.Y_density = static_cast<UINT16>(how.y_density);
    file.optimize_coding = how.optimize_size;
    jpeg_set_quality(&file, how.quality, TRUE);
    if (how.progressive) jpeg_simple_progression(&file);
    if (!how.chroma_downsampling)
      for (int i = 0; i < file.num_components; ++i)
        file.comp_info[i].h_samp_factor = file.comp_info[i].v_samp_factor = 1;
    jpeg_start_compress(&file, TRUE);
    while (file.next_scanline < file.image_height) {
      auto* row = const_cast<unsigned char*>(elements + file.next_scanline * row_bytes);
      jpeg_write_scanlines(&file, &row, 1);
    }
    jpeg_finish_compress(&file);
  });
  const std::string message = done ? "" : errors.message(reinterpret_cast<j_common_ptr>(&file));
  jpeg_destroy_compress(&file);
  const std::string encoded(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  if (!done) throw InternalError("[encode_jpeg] JPEG encoding failed: " + message);
  return encoded;
}

}  // namespace gradus
