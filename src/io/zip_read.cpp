#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "gradus/error.h"
#include "io/zip.h"
#include "io/zip_format.h"

namespace gradus::io {
namespace {

constexpr std::uint64_t kBestDeflate = 1032;  // no deflated byte unpacks to more bytes than this
constexpr std::uint16_t kEncrypted = 1;

[[noreturn]] void damaged(const std::string& name, const std::string& what) {
  throw DataLossError(name + " is a damaged archive: " + what);
}

using Bytes = std::vector<unsigned char>;

Bytes read_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset)
    damaged("'" + file.path() + "'", "a record points outside of the file");
  Bytes bytes(size);
  file.read_at(offset, bytes.data(), bytes.size());
  return bytes;
}

struct Directory {
  std::uint64_t offset, size, entries;
};

// The directory is found from the end of the file: the end record is the last thing in it, except
// for a comment of unknown length.
Directory find_directory(const InputFile& file) {
  const std::string name = "'" + file.path() + "'";
  if (file.size() < kEndSize) throw DataLossError(name + " is too short for a .npz file");
  const std::uint64_t start =
      file.size() - std::min<std::uint64_t>(file.size(), kEndSize + kLongestComment);
  const Bytes tail = read_bytes(file, start, file.size() - start);
  std::size_t at = tail.size() - kEndSize;
  const auto is_end = [&] {
    return field(&tail[at], 0, 4) == kEndSignature &&
           field(&tail[at], 20, 2) == tail.size() - at - kEndSize;
  };
  while (!is_end()) {
    if (at == 0)
      throw DataLossError(name + " is not a .npz file, or its end is missing: no zip directory");
    --at;
  }
  const unsigned char* end = &tail[at];
  Directory d{field(end, 16, 4), field(end, 12, 4), field(end, 10, 2)};
  if (start + at >= kLocator64Size) {
    const Bytes locator = read_bytes(file, start + at - kLocator64Size, kLocator64Size);
    if (field(locator.data(), 0, 4) == kLocator64Signature) {
      const Bytes end64 = read_bytes(file, field(locator.data(), 8, 8), kEnd64Size);
      if (field(end64.data(), 0, 4) != kEnd64Signature) damaged(name, "no ZIP64 end record");
      d = {field(end64.data(), 48, 8), field(end64.data(), 40, 8), field(end64.data(), 32, 8)};
    }
  }
  return d;
}

// Replaces sizes that are all ones by those in the ZIP64 extra field.
void read_extra(const unsigned char* extra, std::size_t size, ZipEntry& entry,
                const std::string& name) {
  for (std::size_t at = 0; at + 4 <= size;) {
    const std::uint64_t id = field(extra, at, 2), length = field(extra, at + 2, 2);
    at += 4;
    if (length > size - at) damaged(name, "an extra field is cut off");
    std::size_t inner = at;
    for (std::uint64_t* value : {&entry.size, &entry.packed_size, &entry.header_offset}) {
      if (id != kExtra64 || *value != kIn64) continue;
      if (inner + 8 > at + length) damaged(name, "a ZIP64 field is missing");
      *value = field(extra, inner, 8);
      inner += 8;
    }
    at += length;
  }
}

// Where the packed bytes of an entry begin.
std::uint64_t data_offset(const InputFile& file, const ZipEntry& entry) {
  const Bytes local = read_bytes(file, entry.header_offset, kLocalSize);
  if (field(local.data(), 0, 4) != kLocalSignature)
    damaged("'" + file.path() + "'", "entry '" + entry.name + "' has no header");
  return entry.header_offset + kLocalSize + field(local.data(), 26, 2) + field(local.data(), 28, 2);
}

void check_entries(const InputFile& file, const std::vector<ZipEntry>& entries,
                   std::uint64_t directory_offset) {
  const std::string name = "'" + file.path() + "'";
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // begin, end
  std::uint64_t unpacked = 0;
  for (const ZipEntry& e : entries) {
    const std::uint64_t data = data_offset(file, e);
    if (data > directory_offset || e.packed_size > directory_offset - data)
      damaged(name, "entry '" + e.name + "' is cut off");
    const bool too_good =
        e.method == kStored ? e.size != e.packed_size : e.size / kBestDeflate > e.packed_size;
    if (too_good) damaged(name, "entry '" + e.name + "' claims an impossible size");
    ranges.emplace_back(e.header_offset, data + e.packed_size);
    unpacked += e.size;
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) damaged(name, "entries overlap");
  if (unpacked > most_unpacked(file.size()))
    throw DataLossError(name + " claims to unpack from " + std::to_string(file.size()) + " to " +
                        std::to_string(unpacked) + " bytes; more than " +
                        std::to_string(kMostRatio) +
                        " times as many are refused, pack it with less compression");
}

class EntrySource : public ByteSource {
 public:
  EntrySource(const InputFile& file, const ZipEntry& entry)
      : ByteSource("'" + file.path() + "' entry '" + entry.name + "'", entry.size),
        file_(file),
        wanted_crc_(entry.crc),
        at_(data_offset(file, entry)),
        packed_left_(entry.packed_size) {}

  void finish() override {
    if (remaining() != 0)
      throw DataLossError(name() + " has " + std::to_string(remaining()) + " bytes too many");
    if (crc_ != wanted_crc_) throw DataLossError(name() + " is damaged: its checksum differs");
  }

 protected:
  void count(const void* data, std::size_t bytes) {
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, static_cast<const Bytef*>(data), bytes));
  }
  void read_packed(void* to, std::size_t bytes) {
    file_.read_at(at_, to, bytes);
    at_ += bytes;
    packed_left_ -= bytes;
  }
  std::uint64_t packed_left() const { return packed_left_; }

 private:
  const InputFile& file_;
  std::uint32_t wanted_crc_, crc_ = 0;
  std::uint64_t at_, packed_left_;
};

class StoredSource : public EntrySource {
 public:
  using EntrySource::EntrySource;

 private:
  void read_next(void* to, std::size_t bytes) override {
    read_packed(to, bytes);
    count(to, bytes);
  }
};

class DeflatedSource : public EntrySource {
 public:
  DeflatedSource(const InputFile& file, const ZipEntry& entry) : EntrySource(file, entry) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      throw ResourceExhaustedError("no memory to unpack " + name());
  }
  ~DeflatedSource() override { inflateEnd(&stream_); }

 private:
  void read_next(void* to, std::size_t bytes) override {
    auto* out = static_cast<Bytef*>(to);
    for (std::size_t left = bytes; left > 0;) {
      const auto piece = static_cast<uInt>(std::min<std::size_t>(left, 1u << 20));
      stream_.next_out = out;
      stream_.avail_out = piece;
      if (stream_.avail_in == 0 && packed_left() > 0) {
        const std::size_t n = std::min<std::uint64_t>(packed_left(), sizeof input_);
        read_packed(input_, n);
        stream_.next_in = input_;
        stream_.avail_in = static_cast<uInt>(n);
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = piece - stream_.avail_out;
      if ((status != Z_OK && status != Z_STREAM_END) || (status == Z_STREAM_END && made < left) ||
          (made == 0 && stream_.avail_in == 0 && packed_left() == 0))
        throw DataLossError(name() + " cannot be unpacked: it is damaged");
      count(out, made);
      out += made;
      left -= made;
    }
  }
  z_stream stream_{};
  unsigned char input_[1 << 16];
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  const std::string name = "'" + file.path() + "'";
  const Directory directory = find_directory(file);
  const Bytes bytes = read_bytes(file, directory.offset, directory.size);
  if (directory.entries > bytes.size() / kEntrySize) damaged(name, "the directory is cut off");
  std::vector<ZipEntry> entries;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (bytes.size() - at < kEntrySize || field(&bytes[at], 0, 4) != kEntrySignature)
      damaged(name, "the directory is cut off");
    const unsigned char* record = &bytes[at];
    const std::size_t name_size = field(record, 28, 2), extra_size = field(record, 30, 2),
                      comment_size = field(record, 32, 2);
    const std::size_t whole = kEntrySize + name_size + extra_size + comment_size;
    if (bytes.size() - at < whole) damaged(name, "the directory is cut off");
    ZipEntry e;
    e.flags = static_cast<std::uint16_t>(field(record, 8, 2));
    e.method = static_cast<std::uint16_t>(field(record, 10, 2));
    e.crc = static_cast<std::uint32_t>(field(record, 16, 4));
    e.packed_size = field(record, 20, 4);
    e.size = field(record, 24, 4);
    e.header_offset = field(record, 42, 4);
    e.name.assign(reinterpret_cast<const char*>(record) + kEntrySize, name_size);
    read_extra(record + kEntrySize + name_size, extra_size, e, name);
    entries.push_back(std::move(e));
    at += whole;
  }
  check_entries(file, entries, directory.offset);
  return entries;
}

std::unique_ptr<ByteSource> open_zip_entry(const InputFile& file, const ZipEntry& entry) {
  const std::string name = "'" + file.path() + "' entry '" + entry.name + "'";
  if (entry.flags & kEncrypted) throw InvalidArgumentError(name + " is encrypted");
  if (entry.method == kStored) return std::make_unique<StoredSource>(file, entry);
  if (entry.method == kDeflated) return std::make_unique<DeflatedSource>(file, entry);
  throw InvalidArgumentError(name + " is packed by method " + std::to_string(entry.method) +
                             "; known are 0 (stored) and 8 (deflated)");
}

}  // namespace gradus::io
