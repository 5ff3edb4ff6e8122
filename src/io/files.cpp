#include "io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "gradus/error.h"
#include "gradus/interrupt.h"

namespace gradus::io {
namespace {

constexpr std::size_t kPiece = std::size_t{16} << 20;  // an interrupt is seen after each

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Through symbolic links to what is to be replaced; a path that does not exist yet stays as it is.
std::string resolved(const std::string& path) {
  std::error_code ignored;
  const auto target = std::filesystem::canonical(path, ignored);
  return ignored ? path : target.string();
}

// A name in the same folder that no other process and no other call uses.
std::string unused_name(const std::string& path) {
  static std::atomic<unsigned> calls{0};
  return path + ".part-" + std::to_string(getpid()) + "-" + std::to_string(calls++);
}

void write_all(int descriptor, std::uint64_t offset, const void* from, std::size_t bytes,
               const std::string& path) {
  const auto* p = static_cast<const char*>(from);
  while (bytes > 0) {
    check_interrupt();
    const ssize_t n = pwrite(descriptor, p, std::min(bytes, kPiece), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system_error("write", path);
    p += n;
    bytes -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
}

}  // namespace

void throw_system_error(const char* doing, const std::string& path) {
  const int error = errno;
  const std::string text =
      std::string("cannot ") + doing + " '" + path + "': " + std::strerror(error);
  if (error == ENOENT) throw NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT || error == ENOMEM) throw ResourceExhaustedError(text);
  throw FailedPreconditionError(text);
}

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw_system_error("open", path);
  struct stat facts;
  if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(descriptor_);
    throw InvalidArgumentError("cannot read '" + path + "': it is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset)
    throw DataLossError("'" + path_ + "' ends too early: " + std::to_string(bytes) +
                        " bytes expected at offset " + std::to_string(offset) + ", the file has " +
                        std::to_string(size_));
  auto* p = static_cast<char*>(to);
  while (bytes > 0) {
    check_interrupt();
    const ssize_t n = pread(descriptor_, p, std::min(bytes, kPiece), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system_error("read", path_);
    if (n == 0) throw DataLossError("'" + path_ + "' became shorter while it was read");
    p += n;
    bytes -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
}

AtomicFile::AtomicFile(const std::string& path)
    : path_(resolved(path)), aside_(unused_name(path_)) {
  // Truncates what a crashed process of the same number left.
  descriptor_ = open(aside_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_system_error("write", path);
  struct stat old;
  if (stat(path_.c_str(), &old) == 0) fchmod(descriptor_, old.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!aside_.empty()) unlink(aside_.c_str());
}

void AtomicFile::write(const void* from, std::size_t bytes) { write_at(size_, from, bytes); }

void AtomicFile::write_at(std::uint64_t offset, const void* from, std::size_t bytes) {
  write_all(descriptor_, offset, from, bytes, path_);
  size_ = std::max(size_, offset + bytes);
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) throw_system_error("write", path_);
  const int closed = close(std::exchange(descriptor_, -1));
  if (closed != 0) throw_system_error("write", path_);
  if (rename(aside_.c_str(), path_.c_str()) != 0) throw_system_error("write", path_);
  aside_.clear();
  // The new name is on the disk when its folder is; a file system that cannot do that is no error.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
}

}  // namespace gradus::io
