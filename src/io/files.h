// Files that are read at any place, and files that appear only when they are complete.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace gradus::io {

// "'x.npy': No space left on device" and the like, as the exception that fits errno.
[[noreturn]] void throw_system_error(const char* doing, const std::string& path);

// How many bytes a file that is packed may stand for: numbers hardly shrink when they are packed,
// and a small file that asks for gigabytes is not to be trusted.
inline constexpr std::uint64_t kSmallFile = 64 << 20, kMostRatio = 100;
constexpr std::uint64_t most_unpacked(std::uint64_t file_size) {
  return kSmallFile + kMostRatio * file_size;
}

class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // DataLossError if the file ends before.
  void read_at(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

// Writes beside the file that is meant, in the same folder; commit() brings the bytes to the disk
// and then renames. Whoever reads sees the old file or the new one, whole, and a crash or an
// exception before commit() leaves the old one.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* from, std::size_t bytes);  // at the end
  void write_at(std::uint64_t offset, const void* from, std::size_t bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  std::string path_;   // what the user meant, symbolic links resolved
  std::string aside_;  // empty once committed
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gradus::io
