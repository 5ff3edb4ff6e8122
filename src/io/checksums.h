// Checksums of file formats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gradus::io {

// Bob Jenkins' lookup3 with a start of zero: HDF5's metadata.
std::uint32_t lookup3(std::span<const unsigned char> bytes);

// Fletcher's sums of 16-bit big-endian words, as HDF5's filter of that name takes them.
std::uint32_t fletcher32(std::span<const unsigned char> bytes);

}  // namespace gradus::io
