#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "gradus/error.h"
#include "gradus/io.h"
#include "io/npy_header.h"
#include "io/zip.h"

namespace gradus {
namespace io {
namespace {

constexpr char kSuffix[] = ".npy";

std::span<const std::byte> elements_of(const Tensor& t) {
  return {static_cast<const std::byte*>(t.raw_data()), t.num_bytes()};
}

void swap_bytes(void* data, std::uint64_t bytes, std::size_t unit) {
  auto* p = static_cast<unsigned char*>(data);
  for (std::uint64_t at = 0; at < bytes; at += unit) std::reverse(p + at, p + at + unit);
}

// A bool that is neither 0 nor 1 would be undefined behaviour in C++.
void normalise_bools(void* data, std::uint64_t bytes) {
  auto* p = static_cast<unsigned char*>(data);
  for (std::uint64_t i = 0; i < bytes; ++i) p[i] = p[i] != 0;
}

// Copies an array whose first axis is the fastest into one whose last axis is.
void from_fortran_order(const std::byte* from, std::byte* to, const NpyHeader& header) {
  const std::size_t rank = header.shape.size(), unit = size_of(header.dtype);
  std::vector<std::size_t> stride(rank);  // in `from`, bytes
  std::size_t step = unit;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    stride[axis] = step;
    step *= static_cast<std::size_t>(header.shape[axis]);
  }
  const auto row = static_cast<std::size_t>(header.shape[rank - 1]);
  const std::size_t rows = step / unit / row;
  std::vector<std::int64_t> index(rank, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::byte* source = from;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis)
      source += static_cast<std::size_t>(index[axis]) * stride[axis];
    for (std::size_t i = 0; i < row; ++i, to += unit)
      std::memcpy(to, source + i * stride[rank - 1], unit);
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      if (++index[axis] < header.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

Tensor read_array(ByteSource& source) {
  const NpyHeader header = read_npy_header(source);
  const std::uint64_t bytes = data_bytes(header);
  const bool transposed = header.fortran_order && header.shape.size() > 1 && bytes > 0;
  return Tensor::filled_by(header.dtype, Shape(std::span(header.shape)), [&](void* elements) {
    if (transposed) {
      const Tensor raw = Tensor::filled_by(DType::uint8, {static_cast<std::int64_t>(bytes)},
                                           [&](void* p) { source.read(p, bytes); });
      from_fortran_order(elements_of(raw).data(), static_cast<std::byte*>(elements), header);
    } else {
      source.read(elements, bytes);
    }
    const std::size_t size = size_of(header.dtype);
    if (header.big_endian) swap_bytes(elements, bytes, is_complex(header.dtype) ? size / 2 : size);
    if (header.dtype == DType::bool_) normalise_bools(elements, bytes);
  });
}

std::string header_of(const Tensor& t) {
  return npy_header_text(t.dtype(), {t.shape().begin(), t.shape().end()});
}

}  // namespace
}  // namespace io

Tensor load_npy(const std::string& path) {
  const io::InputFile file(path);
  io::FileSource source(file);
  return io::read_array(source);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const auto elements = io::elements_of(tensor);
  const std::string header = io::header_of(tensor);
  io::AtomicFile file(path);
  file.write(header.data(), header.size());
  file.write(elements.data(), elements.size());
  file.commit();
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  const io::InputFile file(path);
  std::map<std::string, Tensor> tensors;
  for (const io::ZipEntry& entry : io::read_zip_directory(file)) {
    if (!entry.name.ends_with(io::kSuffix)) continue;
    const auto source = io::open_zip_entry(file, entry);
    Tensor tensor = io::read_array(*source);
    source->finish();
    const std::string name = entry.name.substr(0, entry.name.size() - std::strlen(io::kSuffix));
    if (!tensors.emplace(name, std::move(tensor)).second)
      throw DataLossError("'" + path + "' holds two entries '" + entry.name + "'");
  }
  return tensors;
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors,
              bool compressed) {
  io::AtomicFile file(path);
  io::ZipWriter archive(file);
  for (const auto& [name, tensor] : tensors) {
    const auto elements = io::elements_of(tensor);
    const std::string header = io::header_of(tensor);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(header)), elements};
    archive.add(name + io::kSuffix, pieces, compressed);
  }
  archive.finish();
  file.commit();
}

}  // namespace gradus
