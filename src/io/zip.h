// Zip archives, as far as .npz files need them: entries stored or deflated, ZIP64, checksums.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "io/files.h"

namespace gradus::io {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint16_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0, size = 0;
  std::uint64_t header_offset = 0;
};

// The entries of an archive. DataLossError if it is damaged; entries that overlap, point outside
// of the file or claim to unpack to more than deflate can do count as damage; more than
// most_unpacked() in all is refused.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

// The unpacked bytes of an entry; finish() compares the checksum.
std::unique_ptr<ByteSource> open_zip_entry(const InputFile& file, const ZipEntry& entry);

class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  // One entry that consists of all pieces, one after the other.
  void add(const std::string& name, std::span<const std::span<const std::byte>> pieces,
           bool compressed);
  void finish();  // writes the directory

 private:
  AtomicFile& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace gradus::io
