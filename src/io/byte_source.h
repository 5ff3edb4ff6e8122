// Bytes that are read once, from front to back: a file, or one entry of an archive. The size is
// known before, so that nothing is allocated for data that is not there.
#pragma once
#include <cstdint>
#include <string>

#include "gradus/error.h"
#include "io/files.h"

namespace gradus::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  const std::string& name() const { return name_; }  // for messages
  std::uint64_t remaining() const { return remaining_; }

  // DataLossError if fewer bytes remain, or if the source finds itself damaged.
  void read(void* to, std::size_t bytes) {
    if (bytes > remaining_)
      throw DataLossError(name_ + " ends too early: " + std::to_string(bytes) +
                          " more bytes expected, " + std::to_string(remaining_) + " left");
    read_next(to, bytes);
    remaining_ -= bytes;
  }
  // After the last read: compares checksums, if the source has any.
  virtual void finish() {}

 protected:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), remaining_(size) {}
  virtual void read_next(void* to, std::size_t bytes) = 0;

 private:
  std::string name_;
  std::uint64_t remaining_;
};

// A whole file.
class FileSource : public ByteSource {
 public:
  explicit FileSource(const InputFile& file)
      : ByteSource("'" + file.path() + "'", file.size()), file_(file) {}

 private:
  void read_next(void* to, std::size_t bytes) override {
    file_.read_at(offset_, to, bytes);
    offset_ += bytes;
  }
  const InputFile& file_;
  std::uint64_t offset_ = 0;
};

}  // namespace gradus::io
