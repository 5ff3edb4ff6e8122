// The pieces that HDF5 files are made of, and how they are read from bytes. Numbers are
// little-endian; addresses and lengths have 8 bytes (other widths are allowed by the format, and
// refused here).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gradus/error.h"
#include "gradus/hdf5.h"

namespace gradus::io {

using Hdf5Bytes = std::vector<unsigned char>;
using Hdf5View = std::span<const unsigned char>;

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // the address of what is not stored
inline constexpr std::uint64_t kNodeHead = 24;  // of a B-tree: signature to right sibling
inline constexpr int kMostLevels = 32;          // of one

// Messages of object headers.
inline constexpr int kDataspaceMessage = 1, kLinkInfoMessage = 2, kDatatypeMessage = 3,
                     kFillMessage = 5, kLinkMessage = 6, kExternalMessage = 7, kLayoutMessage = 8,
                     kGroupInfoMessage = 10, kFilterMessage = 11, kAttributeMessage = 12,
                     kContinuationMessage = 16, kSymbolTableMessage = 17,
                     kAttributeInfoMessage = 21;
inline constexpr int kDeflateFilter = 1, kShuffleFilter = 2, kFletcherFilter = 3;
inline constexpr std::uint64_t kBestDeflateRatio = 1032;

// Where the bytes are: a file or memory.
class Hdf5Input {
 public:
  virtual ~Hdf5Input() = default;
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  void read(std::uint64_t address, void* to, std::uint64_t bytes) const;
  Hdf5Bytes read(std::uint64_t address, std::uint64_t bytes) const;
  void set_base(std::uint64_t base) { base_ = base; }  // what addresses count from

  [[noreturn]] void damaged(const std::string& why) const;
  [[noreturn]] void unknown(const std::string& what) const;

 protected:
  Hdf5Input(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual void read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const = 0;

 private:
  std::string name_;
  std::uint64_t size_, base_ = 0;
};

// Reads fields one after the other, and never past the end.
class Hdf5Cursor {
 public:
  Hdf5Cursor(const Hdf5Input& input, Hdf5View bytes) : input_(input), bytes_(bytes) {}
  std::uint64_t number(int bytes);
  std::uint64_t address() { return number(8); }
  Hdf5View take(std::uint64_t bytes);
  std::string text();  // up to a zero
  void skip(std::uint64_t bytes) { take(bytes); }
  void align(std::size_t to) { skip((to - at_ % to) % to); }
  void expect(const char* signature, const char* what);
  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t at() const { return at_; }
  const Hdf5Input& input() const { return input_; }

 private:
  const Hdf5Input& input_;
  Hdf5View bytes_;
  std::size_t at_ = 0;
};

// One message of an object header.
struct Hdf5Message {
  int type = 0;
  int flags = 0;
  Hdf5Bytes data;
};
std::vector<Hdf5Message> read_object_header(const Hdf5Input& input, std::uint64_t address);

struct Hdf5Link {
  std::string name;
  std::uint64_t address = 0;
};
// The links of a group; soft and external ones are left out.
std::vector<Hdf5Link> read_links(const Hdf5Input& input, const std::vector<Hdf5Message>& messages);

// What elements are.
struct Hdf5Type {
  enum class Kind { number, fixed_text, variable_text, opaque, other } kind = Kind::other;
  std::uint64_t size = 0;
  DType dtype = DType::uint8;  // of numbers
  bool big_endian = false;
  std::string what;  // of others, for messages
};
Hdf5Type read_type(Hdf5Cursor cursor);

struct Hdf5Space {
  bool scalar = false, empty = false;
  std::vector<std::int64_t> shape;
};
Hdf5Space read_space(Hdf5Cursor cursor);
// The number of bytes of such elements; damage if it cannot be a size at all.
std::uint64_t bytes_of(const Hdf5Input& input, const Hdf5Type& type, const Hdf5Space& space);

// The elements of a dataset, written to `to`, which has room for `bytes`. check_data_size is called
// before anything is allocated and refuses what the file cannot hold.
struct Hdf5Dataset {
  Hdf5Type type;
  Hdf5Space space;
  const Hdf5Message* layout = nullptr;
  const Hdf5Message* filters = nullptr;
};
void check_data_size(const Hdf5Input& input, const Hdf5Dataset& dataset, std::uint64_t bytes);
void read_data(const Hdf5Input& input, const Hdf5Dataset& dataset, unsigned char* to,
               std::uint64_t bytes);

}  // namespace gradus::io
