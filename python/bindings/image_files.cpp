// Files of images for gradus/image/_files.py: bytes to tensors and back.
#include "gradus/image_files.h"

#include "function.h"

namespace gradus::python {
namespace {

std::string_view bytes_of(PyObject* o) {
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  check(PyBytes_AsStringAndSize(o, &bytes, &size));
  return {bytes, static_cast<std::size_t>(size)};
}

PyObject* to_bytes(const std::string& s) {
  return PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}

const FunctionEntry entries[] = {
    {"_image_format", "contents", "'jpeg', 'png', 'bmp', 'gif' or ''.",
     [](const Arguments& a) -> PyObject* {
       constexpr const char* names[] = {"", "jpeg", "png", "bmp", "gif"};
       return PyUnicode_FromString(names[static_cast<int>(image_format(bytes_of(a[0])))]);
     }},
    {"_decode_jpeg",
     "contents, channels, ratio, fancy_upscaling, accurate, recover_truncated, "
     "acceptable_fraction, "
     "crop",
     "The image of a JPEG file.",
     [](const Arguments& a) {
       JpegDecoding how{.channels = a.small(1),
                        .ratio = a.small(2),
                        .fancy_upscaling = a.boolean(3),
                        .accurate = a.boolean(4),
                        .recover_truncated = a.boolean(5),
                        .acceptable_fraction = static_cast<float>(a.real(6))};
       if (!a.is_none(7)) {
         const std::vector<std::int64_t> window = a.integers(7);
         if (window.size() != 4)
           raise(PyExc_ValueError, "crop_window must have 4 elements, got %R", a[7]);
         how.crop = {window[0], window[1], window[2], window[3]};
       }
       const std::string_view contents = bytes_of(a[0]);
       return wrap(long_work([&] { return decode_jpeg(contents, how); }));
     }},
    {"_jpeg_shape", "contents", "Height, width and channels of a JPEG file.",
     [](const Arguments& a) {
       const Shape shape = jpeg_shape(bytes_of(a[0]));
       return Py_BuildValue("(LLL)", static_cast<long long>(shape[0]),
                            static_cast<long long>(shape[1]), static_cast<long long>(shape[2]));
     }},
    {"_decode_png", "contents, channels, dtype", "The image of a PNG file.",
     [](const Arguments& a) {
       const std::string_view contents = bytes_of(a[0]);
       const int channels = a.small(1);
       const DType dtype = a.dtype(2, DType::uint8);
       return wrap(long_work([&] { return decode_png(contents, channels, dtype); }));
     }},
    {"_decode_bmp", "contents, channels", "The image of a BMP file.",
     [](const Arguments& a) {
       const std::string_view contents = bytes_of(a[0]);
       const int channels = a.small(1);
       return wrap(long_work([&] { return decode_bmp(contents, channels); }));
     }},
    {"_decode_gif", "contents", "The frames of a GIF file.",
     [](const Arguments& a) {
       const std::string_view contents = bytes_of(a[0]);
       return wrap(long_work([&] { return decode_gif(contents); }));
     }},
    {"_encode_jpeg",
     "image, quality, progressive, optimize_size, chroma_downsampling, dots_per_cm, x_density, "
     "y_density",
     "The bytes of a JPEG file.",
     [](const Arguments& a) {
       const Tensor image = a.tensor(0);
       const JpegEncoding how{.quality = a.small(1),
                              .progressive = a.boolean(2),
                              .optimize_size = a.boolean(3),
                              .chroma_downsampling = a.boolean(4),
                              .dots_per_cm = a.boolean(5),
                              .x_density = a.small(6),
                              .y_density = a.small(7)};
       return to_bytes(long_work([&] { return encode_jpeg(image, how); }));
     }},
    {"_encode_png", "image, compression", "The bytes of a PNG file.",
     [](const Arguments& a) {
       const Tensor image = a.tensor(0);
       const int compression = a.small(1);
       return to_bytes(long_work([&] { return encode_png(image, compression); }));
     }},
};

}  // namespace

void add_image_file_functions() { add_functions(entries); }

}  // namespace gradus::python
