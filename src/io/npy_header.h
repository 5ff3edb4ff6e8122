// The header of NumPy's .npy format: magic, version, and a Python dictionary as text, e.g.
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// bfloat16, which NumPy lacks, is written as '<V2', as NumPy writes the bfloat16 of the ml_dtypes
// package; '<V2' and '|V2' are read as bfloat16. In Python: np.load(f).view(ml_dtypes.bfloat16).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/dtype.h"
#include "io/byte_source.h"

namespace gradus::io {

struct NpyHeader {
  DType dtype;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// DataLossError if it is not such a header, or describes more data than `source` has left;
// InvalidArgumentError if it holds strings, objects or other things that no tensor can hold.
NpyHeader read_npy_header(ByteSource& source);

// Little-endian, row-major; padded so that the data after it is aligned to 64 bytes in a file.
std::string npy_header_text(DType dtype, const std::vector<std::int64_t>& shape);

std::uint64_t data_bytes(const NpyHeader& header);

}  // namespace gradus::io
