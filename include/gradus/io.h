// Tensors in NumPy's files: .npy holds one array, .npz several under names.
//
//   gd::save_npz("weights.npz", {{"w", w}, {"b", b}});
//   auto weights = gd::load_npz("weights.npz");  // weights.at("w")
//
// Written files appear whole or not at all: they are written beside the one that is meant and then
// renamed. Read files may be big-endian, in Fortran order or compressed. A damaged file is a
// DataLossError, a file with strings or objects in it an InvalidArgumentError, a missing one a
// NotFoundError. NumPy has no bfloat16: it is stored as raw 16-bit elements ('<V2'), as the
// ml_dtypes package does it, and such elements are read as bfloat16.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "gradus/tensor.h"

namespace gradus {

Tensor load_npy(const std::string& path);
void save_npy(const std::string& path, const Tensor& tensor);

// Entries that are no arrays are skipped.
std::map<std::string, Tensor> load_npz(const std::string& path);
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors,
              bool compressed = false);

// CRC-32C (Castagnoli), the checksum of TFRecord and TensorBoard files.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace gradus
