#include <zlib.h>

#include <algorithm>
#include <limits>

#include "gradus/error.h"
#include "gradus/interrupt.h"
#include "io/zip.h"
#include "io/zip_format.h"

namespace gradus::io {
namespace {

constexpr std::uint64_t kVersion = 45;           // ZIP64
constexpr std::uint64_t kUnix = 3 << 8;          // made on
constexpr std::uint64_t kMode = 0100644u << 16;  // a regular file
constexpr std::uint64_t kDate = 0x21;            // 1980-01-01: equal data gives equal files
constexpr std::uint16_t kUtf8 = 1 << 11;         // the name is
using Pieces = std::span<const std::span<const std::byte>>;

std::uint32_t checksum(Pieces pieces) {
  uLong crc = 0;
  for (const auto piece : pieces)
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  return static_cast<std::uint32_t>(crc);
}

// Sizes are always in the extra field, so that the header has one length and can be rewritten.
std::string local_header(const ZipEntry& e) {
  return RecordBuilder()
      .add(kLocalSignature, 4)
      .add(kVersion, 2)
      .add(e.flags, 2)
      .add(e.method, 2)
      .add(0, 2)
      .add(kDate, 2)
      .add(e.crc, 4)
      .add(kIn64, 4)
      .add(kIn64, 4)
      .add(e.name.size(), 2)
      .add(20, 2)
      .add(e.name)
      .add(kExtra64, 2)
      .add(16, 2)
      .add(e.size, 8)
      .add(e.packed_size, 8)
      .bytes();
}

std::string directory_entry(const ZipEntry& e) {
  return RecordBuilder()
      .add(kEntrySignature, 4)
      .add(kUnix | kVersion, 2)
      .add(kVersion, 2)
      .add(e.flags, 2)
      .add(e.method, 2)
      .add(0, 2)
      .add(kDate, 2)
      .add(e.crc, 4)
      .add(kIn64, 4)
      .add(kIn64, 4)
      .add(e.name.size(), 2)
      .add(28, 2)
      .add(0, 2)  // comment
      .add(0, 2)  // disk
      .add(0, 2)  // internal attributes
      .add(kMode, 4)
      .add(kIn64, 4)
      .add(e.name)
      .add(kExtra64, 2)
      .add(24, 2)
      .add(e.size, 8)
      .add(e.packed_size, 8)
      .add(e.header_offset, 8)
      .bytes();
}

// Zeros could be packed a thousand times smaller, and no reader would believe that (most_unpacked).
// So while there is nearly too little output, what is repeated is written out again.
class Deflater {
 public:
  explicit Deflater(AtomicFile& file) : file_(file) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw ResourceExhaustedError("no memory to compress");
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void write(std::span<const std::byte> data) {
    while (!data.empty()) {
      check_interrupt();
      const bool too_little = stream_.total_in > kMostRatio / 2 * (stream_.total_out + 1024);
      choose(too_little ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY);
      const std::size_t n = std::min<std::size_t>(data.size(), 1u << 16);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
      stream_.avail_in = static_cast<uInt>(n);
      pump(Z_NO_FLUSH);
      data = data.subspan(n);
    }
  }
  void finish() { pump(Z_FINISH); }

 private:
  template <class F>
  int written(F&& step) {
    stream_.next_out = output_;
    stream_.avail_out = sizeof output_;
    const int status = step();
    file_.write(output_, sizeof output_ - stream_.avail_out);
    return status;
  }
  void pump(int mode) {
    do {
      written([&] { return deflate(&stream_, mode); });
    } while (stream_.avail_out == 0);
  }
  void choose(int strategy) {
    if (strategy == strategy_) return;
    strategy_ = strategy;
    const auto change = [&] { return deflateParams(&stream_, Z_DEFAULT_COMPRESSION, strategy); };
    while (written(change) == Z_BUF_ERROR) continue;
  }
  AtomicFile& file_;
  int strategy_ = Z_DEFAULT_STRATEGY;
  z_stream stream_{};
  unsigned char output_[1 << 16];
};

}  // namespace

void ZipWriter::add(const std::string& name, Pieces pieces, bool compressed) {
  if (name.size() > 65535)
    throw InvalidArgumentError("an archive cannot hold a name of " + std::to_string(name.size()) +
                               " bytes; at most 65535 are possible");
  ZipEntry e;
  e.name = name;
  e.method = compressed ? kDeflated : kStored;
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
  e.flags = ascii ? 0 : kUtf8;
  e.crc = checksum(pieces);
  for (const auto piece : pieces) e.size += piece.size();
  e.packed_size = e.size;
  e.header_offset = file_.size();
  const std::string header = local_header(e);
  file_.write(header.data(), header.size());
  if (compressed) {
    const std::uint64_t start = file_.size();
    Deflater deflater(file_);
    for (const auto piece : pieces) deflater.write(piece);
    deflater.finish();
    e.packed_size = file_.size() - start;
    file_.write_at(e.header_offset, local_header(e).data(), header.size());
  } else {
    for (const auto piece : pieces) file_.write(piece.data(), piece.size());
  }
  entries_.push_back(std::move(e));
}

void ZipWriter::finish() {
  const std::uint64_t offset = file_.size();
  for (const ZipEntry& e : entries_) {
    const std::string record = directory_entry(e);
    file_.write(record.data(), record.size());
  }
  const std::uint64_t end64 = file_.size(), size = end64 - offset, n = entries_.size();
  RecordBuilder end;
  end.add(kEnd64Signature, 4)
      .add(kEnd64Size - 12, 8)
      .add(kUnix | kVersion, 2)
      .add(kVersion, 2)
      .add(0, 4)
      .add(0, 4)
      .add(n, 8)
      .add(n, 8)
      .add(size, 8)
      .add(offset, 8);
  end.add(kLocator64Signature, 4).add(0, 4).add(end64, 8).add(1, 4);
  const auto clipped = [](std::uint64_t value, std::uint64_t most) {
    return std::min(value, most);
  };
  end.add(kEndSignature, 4)
      .add(0, 2)
      .add(0, 2)
      .add(clipped(n, 0xffff), 2)
      .add(clipped(n, 0xffff), 2)
      .add(clipped(size, kIn64), 4)
      .add(clipped(offset, kIn64), 4)
      .add(0, 2);
  file_.write(end.bytes().data(), end.bytes().size());
}

}  // namespace gradus::io
