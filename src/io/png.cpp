#include <png.h>

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gradus/error.h"
#include "gradus/image_files.h"

namespace gradus {
namespace {

// libpng reports an error by a function that must not return. It jumps back to attempt(); what
// runs there is calls of libpng only, so that no destructor is jumped over.
struct Jump {
  std::jmp_buf back;
  char message[160] = "";

  template <class Calls>
  bool attempt(const Calls& calls) {
    if (setjmp(back)) return false;
    calls();
    return true;
  }
  static void on_error(png_structp file, png_const_charp text) {
    auto* jump = static_cast<Jump*>(png_get_error_ptr(file));
    std::strncpy(jump->message, text, sizeof jump->message - 1);
    std::longjmp(jump->back, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
};

// What libpng allocates; freed also if the header of the file is refused.
struct Decoder {
  png_structp file = nullptr;
  png_infop info = nullptr;

  explicit Decoder(Jump* jump)
      : file(png_create_read_struct(PNG_LIBPNG_VER_STRING, jump, Jump::on_error, Jump::on_warning)),
        info(file ? png_create_info_struct(file) : nullptr) {}
  ~Decoder() { png_destroy_read_struct(&file, &info, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

class Reader {
 public:
  explicit Reader(std::string_view contents) : size_(contents.size()), rest_(contents) {
    if (!info_) throw ResourceExhaustedError("[decode_png] no memory for the decoder");
    must([&] {
      png_set_read_fn(file_, &rest_, [](png_structp file, png_bytep to, std::size_t bytes) {
        auto& rest = *static_cast<std::string_view*>(png_get_io_ptr(file));
        if (bytes > rest.size()) png_error(file, "the file ends early");
        std::memcpy(to, rest.data(), bytes);
        rest.remove_prefix(bytes);
      });
      png_read_info(file_, info_);
    });
  }

  Tensor read(int channels, DType dtype) {
    const std::uint64_t height = png_get_image_height(file_, info_);
    const std::uint64_t width = png_get_image_width(file_, info_);
    constexpr std::uint64_t kMostPacked = 1100;  // bytes of a byte, by the format's compression
    if (png_get_rowbytes(file_, info_) * height > kMostPacked * size_)
      refuse("The file says that it has " + std::to_string(height) + " x " + std::to_string(width) +
             " pixels, but it has " + std::to_string(size_) + " bytes only: it is damaged");

    const int kind = png_get_color_type(file_, info_);
    const bool has_colour = kind & PNG_COLOR_MASK_COLOR;
    const bool has_transparent_colour = png_get_valid(file_, info_, PNG_INFO_tRNS);
    const bool has_alpha = (kind & PNG_COLOR_MASK_ALPHA) || has_transparent_colour;
    // As in TensorFlow, a single transparent colour counts only if it is asked for.
    const bool shows_alpha = has_alpha && (kind & (PNG_COLOR_MASK_ALPHA | PNG_COLOR_MASK_PALETTE));
    if (channels == 0) channels = (has_colour ? 3 : 1) + (shows_alpha ? 1 : 0);
    const bool wants_colour = channels >= 3, wants_alpha = channels % 2 == 0;
    const bool is_wide = png_get_bit_depth(file_, info_) == 16, wants_wide = dtype == DType::uint16;
    must([&] {
      png_set_expand(file_);  // palettes, less than 8 bits, a transparent colour
      if (is_wide && !wants_wide) png_set_strip_16(file_);
      if (!wants_alpha && has_alpha) png_set_strip_alpha(file_);
      if (wants_alpha && !has_alpha)
        png_set_add_alpha(file_, is_wide && wants_wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
      if (has_colour && !wants_colour) png_set_rgb_to_gray(file_, 1, 0.299, 0.587);
      if (!has_colour && wants_colour) png_set_gray_to_rgb(file_);
      if (is_wide && wants_wide) png_set_swap(file_);  // files are big-endian
      png_set_interlace_handling(file_);
      png_read_update_info(file_, info_);
    });
    const std::size_t row_bytes = png_get_rowbytes(file_, info_);
    const bool must_widen = wants_wide && !is_wide;
    const Shape shape{static_cast<std::int64_t>(height), static_cast<std::int64_t>(width),
                      channels};
    return Tensor::filled_by(dtype, shape, [&](void* elements) {
      // Narrow rows go into the second half of their place and are widened from the front.
      auto* first = static_cast<unsigned char*>(elements) + (must_widen ? height * row_bytes : 0);
      std::vector<png_bytep> rows(height);
      for (std::size_t y = 0; y < height; ++y) rows[y] = first + y * row_bytes;
      must([&] {
        png_read_image(file_, rows.data());
        png_read_end(file_, nullptr);
      });
      if (must_widen)
        for (std::size_t i = 0; i < height * row_bytes; ++i)
          static_cast<std::uint16_t*>(elements)[i] = static_cast<std::uint16_t>(first[i] * 257);
    });
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw InvalidArgumentError("[decode_png] " + what);
  }
  template <class Calls>
  void must(const Calls& calls) {
    if (!jump_.attempt(calls))
      refuse("Invalid PNG data, size " + std::to_string(size_) + ": " + jump_.message);
  }

  std::size_t size_;
  std::string_view rest_;
  Jump jump_;
  Decoder decoder_{&jump_};
  const png_structp file_ = decoder_.file;
  const png_infop info_ = decoder_.info;
};

int colour_type(std::int64_t channels) {
  constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};
  return types[channels - 1];
}

}  // namespace

Tensor decode_png(std::string_view contents, int channels, DType dtype) {
  if (contents.empty()) throw InvalidArgumentError("[decode_png] Input is empty.");
  if (channels < 0 || channels > 4)
    throw InvalidArgumentError("[decode_png] `channels` must be 0, 1, 2, 3 or 4 but got " +
                               std::to_string(channels));
  if (dtype != DType::uint8 && dtype != DType::uint16)
    throw InvalidArgumentError("[decode_png] dtype must be uint8 or uint16, got " +
                               std::string(name_of(dtype)));
  return Reader(contents).read(channels, dtype);
}

std::string encode_png(const Tensor& image, int compression) {
  const Shape& shape = image.shape();
  const auto wrong = [](const std::string& what) {
    return InvalidArgumentError("[encode_png] " + what);
  };
  if (image.dtype() != DType::uint8 && image.dtype() != DType::uint16)
    throw wrong("image must be uint8 or uint16, got " + std::string(name_of(image.dtype())) +
                ": convert it, e.g. cast(image * 255, uint8)");
  if (shape.rank() != 3) throw wrong("image must be 3-dimensional, got " + to_string(shape));
  if (shape[2] < 1 || shape[2] > 4)
    throw wrong("image must have 1, 2, 3, or 4 channels, got " + std::to_string(shape[2]));
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > PNG_USER_HEIGHT_MAX ||
      shape[1] > PNG_USER_WIDTH_MAX)
    throw wrong("sides must be from 1 to 1000000 pixels, got " + to_string(shape));
  if (compression < -1 || compression > 9)
    throw wrong("compression should be in [-1,9], got " + std::to_string(compression));

  Jump jump;
  png_structp file =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &jump, Jump::on_error, Jump::on_warning);
  png_infop info = file ? png_create_info_struct(file) : nullptr;
  if (!info) throw ResourceExhaustedError("[encode_png] no memory for the encoder");
  std::string bytes;
  const bool is_wide = image.dtype() == DType::uint16;
  const auto* elements = static_cast<const unsigned char*>(image.raw_data());
  const auto row_bytes = static_cast<std::size_t>(shape[1] * shape[2] * (is_wide ? 2 : 1));
  const bool done = jump.attempt([&] {
    png_set_write_fn(
        file, &bytes,
        [](png_structp to, png_bytep from, std::size_t count) {
          static_cast<std::string*>(png_get_io_ptr(to))
              ->append(reinterpret_cast<const char*>(from), count);
        },
        [](png_structp) {});
    png_set_compression_level(file, compression);
    png_set_IHDR(file, info, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]),
                 is_wide ? 16 : 8, colour_type(shape[2]), PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(file, info);
    if (is_wide) png_set_swap(file);
    for (std::int64_t y = 0; y < shape[0]; ++y)
      png_write_row(file, elements + static_cast<std::size_t>(y) * row_bytes);
    png_write_end(file, nullptr);
  });
  png_destroy_write_struct(&file, &info);
  if (!done) throw InternalError("[encode_png] PNG encoding failed: " + std::string(jump.message));
  return bytes;
}

}  // namespace gradus
