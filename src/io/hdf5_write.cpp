// Writing HDF5 files. Children are written before their parents, so that every address is known
// when it is needed; the superblock at the beginning is filled in at the end.
//
// Object headers (version 2) carry checksums. Small data stands in them; larger data is one chunk
// with a Fletcher checksum. Text lies in global heap collections, as h5py expects it.
#include <algorithm>
#include <cstring>
#include <functional>

#include "io/checksums.h"
#include "io/files.h"
#include "io/hdf5_format.h"

namespace gradus {
namespace io {
namespace {

constexpr std::uint64_t kSuperblockSize = 48;
constexpr std::uint64_t kMostInside = 4096;                // bytes of data in an object header
constexpr std::uint64_t kMostInChunk = 0xffffffff - 1024;  // its size is a 32-bit number
constexpr std::uint64_t kCollectionSize = 4096;            // the least that libhdf5 takes
constexpr std::size_t kMostMessage = 65535;

// Fields one after the other.
class Fields {
 public:
  Fields& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return *this;
  }
  Fields& text(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  Fields& pad(std::size_t to) {
    bytes_.resize((bytes_.size() + to - 1) / to * to);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Hdf5View view(const std::string& bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

// Where bytes go, at the end of a file or of memory.
struct Output {
  std::function<void(const void*, std::size_t)> append;
  std::uint64_t size = 0;

  std::uint64_t add(const std::string& bytes) { return add(bytes.data(), bytes.size()); }
  std::uint64_t add(const void* bytes, std::size_t count) {
    const std::uint64_t address = size;
    append(bytes, count);
    size += count;
    return address;
  }
};

std::string number_type(DType dtype) {
  const std::uint64_t size = size_of(dtype), bits = 8 * size;
  Fields f;
  if (dtype == DType::bool_) {  // an enumeration of FALSE and TRUE, as h5py has it
    f.number(0x38, 1).number(2, 3).number(1, 4).text(number_type(DType::int8));
    f.text("FALSE").number(0, 1).text("TRUE").number(0, 1).number(0, 1).number(1, 1);
  } else if (dtype == DType::bfloat16) {
    f.number(0x15, 1).number(0, 3).number(size, 4);
  } else if (is_integer(dtype)) {
    const bool has_sign = dtype == DType::int8 || dtype == DType::int16 || dtype == DType::int32 ||
                          dtype == DType::int64;
    f.number(0x10, 1).number(has_sign ? 8 : 0, 3).number(size, 4).number(0, 2).number(bits, 2);
  } else if (is_floating(dtype)) {
    const std::uint64_t mantissa = size == 2 ? 10 : size == 4 ? 23 : 52;
    const std::uint64_t exponent = bits - 1 - mantissa;
    f.number(0x11, 1).number(0x20 | (bits - 1) << 8, 3).number(size, 4).number(0, 2);
    f.number(bits, 2).number(mantissa, 1).number(exponent, 1).number(0, 1).number(mantissa, 1);
    f.number((1u << (exponent - 1)) - 1, 4);
  } else {
    throw UnimplementedError("tensors of " + std::string(name_of(dtype)) +
                             " cannot be written to HDF5 files");
  }
  return f.bytes();
}

std::string text_type() {  // of varying length, UTF-8
  return Fields()
      .number(0x19, 1)
      .number(0x101, 3)
      .number(16, 4)
      .number(0x10, 1)
      .number(0, 3)
      .number(1, 4)
      .number(0, 2)
      .number(8, 2)
      .bytes();
}

std::string space_of(bool scalar, const std::vector<std::int64_t>& shape) {
  Fields f;
  f.number(2, 1).number(shape.size(), 1).number(0, 1).number(scalar ? 0 : 1, 1);
  for (const std::int64_t size : shape) f.number(static_cast<std::uint64_t>(size), 8);
  return f.bytes();
}

class TreeWriter {
 public:
  TreeWriter(Output& output, const Hdf5Node& root) : output_(output) {
    note_texts(root);
    write_texts();
  }

  std::uint64_t write(const Hdf5Node& node) {
    Fields messages;
    if (std::holds_alternative<std::monostate>(node.value))
      add_links(node, messages);
    else
      add_dataset(node, messages);
    for (const auto& [name, value] : node.attributes) add_attribute(name, value, messages);
    return add_header(messages.bytes());
  }

 private:
  static void add_message(Fields& messages, int type, const std::string& data) {
    if (data.size() > kMostMessage)
      throw InvalidArgumentError("a name or attribute of " + std::to_string(data.size()) +
                                 " bytes does not fit into an HDF5 file; the most is 65535");
    messages.number(static_cast<std::uint64_t>(type), 1).number(data.size(), 2).number(0, 1);
    messages.text(data);
  }

  std::uint64_t add_header(const std::string& messages) {
    Fields header;
    header.text("OHDR").number(2, 1).number(2, 1).number(messages.size(), 4).text(messages);
    header.number(lookup3(view(header.bytes())), 4).pad(8);
    return output_.add(header.bytes());
  }

  void add_links(const Hdf5Node& node, Fields& messages) {
    add_message(messages, kLinkInfoMessage,
                Fields().number(0, 2).number(kNowhere, 8).number(kNowhere, 8).bytes());
    add_message(messages, kGroupInfoMessage, Fields().number(0, 2).bytes());
    for (const auto& [name, child] : node.children) {
      if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != name.npos)
        throw InvalidArgumentError("'" + name + "' cannot be a name in an HDF5 file");
      const std::uint64_t address = write(child);
      Fields link;
      link.number(1, 1).number(0x11, 1).number(1, 1).number(name.size(), 2).text(name);
      add_message(messages, kLinkMessage, link.number(address, 8).bytes());
    }
  }

  void add_dataset(const Hdf5Node& node, Fields& messages) {
    if (const auto* tensor = std::get_if<Tensor>(&node.value)) {
      const std::vector<std::int64_t> shape(tensor->shape().begin(), tensor->shape().end());
      add_data(space_of(shape.empty(), shape), number_type(tensor->dtype()), tensor->raw_data(),
               tensor->num_bytes(), size_of(tensor->dtype()), shape, messages);
    } else {
      const auto [scalar, texts] = texts_of(node.value);
      const std::string references = references_to(texts);
      const std::vector<std::int64_t> shape =
          scalar ? std::vector<std::int64_t>{}
                 : std::vector<std::int64_t>{static_cast<std::int64_t>(texts.size())};
      add_data(space_of(scalar, shape), text_type(), references.data(), references.size(), 16,
               shape, messages);
    }
  }

  void add_data(const std::string& space, const std::string& type, const void* data,
                std::uint64_t bytes, std::uint64_t unit, const std::vector<std::int64_t>& shape,
                Fields& messages) {
    const bool inside = bytes <= kMostInside && bytes > 0;
    const bool chunked = !inside && bytes > 0 && bytes <= kMostInChunk && !shape.empty();
    add_message(messages, kDataspaceMessage, space);
    add_message(messages, kDatatypeMessage, type);
    // When space is taken: early for data in the header, late, or chunk by chunk.
    const std::uint64_t allocation = inside ? 1 : chunked ? 3 : 2;
    add_message(messages, kFillMessage, Fields().number(3, 1).number(8 | allocation, 1).bytes());
    Fields layout;
    if (inside) {
      layout.number(3, 1).number(0, 1).number(bytes, 2);
      layout.text({static_cast<const char*>(data), bytes});
    } else if (chunked) {
      const Hdf5View elements(static_cast<const unsigned char*>(data), bytes);
      const std::string sum = Fields().number(fletcher32(elements), 4).bytes();
      const std::uint64_t address = output_.add(data, bytes);
      output_.add(Fields().text(sum).bytes());
      pad_output();
      layout.number(4, 1).number(2, 1).number(2, 1).number(shape.size() + 1, 1).number(8, 1);
      for (const std::int64_t size : shape) layout.number(static_cast<std::uint64_t>(size), 8);
      layout.number(unit, 8).number(1, 1).number(bytes + 4, 8).number(0, 4).number(address, 8);
      Fields filters;
      filters.number(2, 1).number(1, 1).number(kFletcherFilter, 2).number(0, 2).number(0, 2);
      add_message(messages, kFilterMessage, filters.bytes());
    } else {
      const std::uint64_t address = bytes == 0 ? kNowhere : output_.add(data, bytes);
      pad_output();
      layout.number(3, 1).number(1, 1).number(address, 8).number(bytes, 8);
    }
    add_message(messages, kLayoutMessage, layout.bytes());
  }

  void pad_output() { output_.add(std::string((8 - output_.size % 8) % 8, '\0')); }

  static std::pair<bool, std::vector<std::string>> texts_of(const Hdf5Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return {true, {*text}};
    return {false, std::get<std::vector<std::string>>(value)};
  }

  void add_attribute(const std::string& name, const Hdf5Value& value, Fields& messages) {
    std::string type, space, data;
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      const std::vector<std::int64_t> shape(tensor->shape().begin(), tensor->shape().end());
      type = number_type(tensor->dtype());
      space = space_of(shape.empty(), shape);
      data.assign(static_cast<const char*>(tensor->raw_data()), tensor->num_bytes());
    } else {
      const auto [scalar, texts] = texts_of(value);
      type = text_type();
      space = space_of(scalar,
                       scalar ? std::vector<std::int64_t>{}
                              : std::vector<std::int64_t>{static_cast<std::int64_t>(texts.size())});
      data = references_to(texts);
    }
    Fields f;
    f.number(3, 1).number(0, 1).number(name.size() + 1, 2).number(type.size(), 2);
    f.number(space.size(), 2)
        .number(1, 1)
        .text(name)
        .number(0, 1)
        .text(type)
        .text(space)
        .text(data);
    add_message(messages, kAttributeMessage, f.bytes());
  }

  // Every text once, in collections at the beginning of the file: one takes 4096 bytes at least.
  void note_texts(const Hdf5Node& node) {
    note_texts(node.value);
    for (const auto& [name, value] : node.attributes) note_texts(value);
    for (const auto& [name, child] : node.children) note_texts(child);
  }
  void note_texts(const Hdf5Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) places_[*text];
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
      for (const std::string& text : *texts) places_[text];
  }

  void write_texts() {
    constexpr std::uint64_t kMostObjects = 60000;
    for (auto next = places_.begin(); next != places_.end();) {
      const auto first = next;
      Fields objects;
      for (std::uint64_t number = 1; next != places_.end() && number <= kMostObjects; ++next) {
        const std::string& text = next->first;
        if (text.size() > 0xfffffff0)
          throw InvalidArgumentError("a text of more than 4 GB does not fit into an HDF5 file");
        objects.number(number, 2).number(0, 6).number(text.size(), 8).text(text).pad(8);
        next->second.number = number++;
      }
      const std::uint64_t used = 16 + objects.bytes().size();
      const std::uint64_t whole = std::max(kCollectionSize, used + 16);
      Fields collection;
      collection.text("GCOL").number(1, 4).number(whole, 8).text(objects.bytes());
      collection.number(0, 8).number(whole - used, 8).text(std::string(whole - used - 16, '\0'));
      const std::uint64_t address = output_.add(collection.bytes());
      for (auto each = first; each != next; ++each) each->second.address = address;
    }
  }

  std::string references_to(const std::vector<std::string>& texts) const {
    Fields references;
    for (const std::string& text : texts) {
      const Place place = places_.at(text);
      references.number(text.size(), 4).number(place.address, 8).number(place.number, 4);
    }
    return references.bytes();
  }

  struct Place {
    std::uint64_t address = 0, number = 0;
  };
  Output& output_;
  std::map<std::string, Place> places_;  // of texts
};

std::string superblock(std::uint64_t root, std::uint64_t end) {
  Fields f;
  f.text("\x89HDF\r\n\x1a\n").number(2, 1).number(8, 1).number(8, 1).number(0, 1);
  f.number(0, 8).number(kNowhere, 8).number(end, 8).number(root, 8);
  return f.number(lookup3(view(f.bytes())), 4).bytes();
}

// Writes all but the superblock, for which there is room at the beginning, and gives that one.
std::string write_tree(Output& output, const Hdf5Node& root) {
  output.add(std::string(kSuperblockSize, '\0'));
  const std::uint64_t address = TreeWriter(output, root).write(root);
  return superblock(address, output.size);
}

}  // namespace
}  // namespace io

void save_hdf5(const std::string& path, const Hdf5Node& root) {
  io::AtomicFile file(path);
  io::Output output{[&](const void* bytes, std::size_t count) { file.write(bytes, count); }};
  const std::string beginning = io::write_tree(output, root);
  file.write_at(0, beginning.data(), beginning.size());
  file.commit();
}

std::string hdf5_bytes(const Hdf5Node& root) {
  std::string bytes;
  io::Output output{[&](const void* piece, std::size_t count) {
    bytes.append(static_cast<const char*>(piece), count);
  }};
  const std::string beginning = io::write_tree(output, root);
  bytes.replace(0, beginning.size(), beginning);
  return bytes;
}

}  // namespace gradus
