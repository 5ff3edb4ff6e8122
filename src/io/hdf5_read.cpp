// Reading HDF5 files: from the superblock down the tree of groups.
#include <algorithm>
#include <cstring>
#include <set>

#include "io/checksums.h"
#include "io/files.h"
#include "io/hdf5_format.h"

namespace gradus {
namespace io {
namespace {

constexpr char kSignature[] = "\x89HDF\r\n\x1a\n";
constexpr int kMostDepth = 64;

class FileInput : public Hdf5Input {
 public:
  explicit FileInput(const InputFile& file)
      : Hdf5Input("'" + file.path() + "'", file.size()), file_(file) {}

 private:
  void read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const override {
    file_.read_at(offset, to, bytes);
  }
  const InputFile& file_;
};

class MemoryInput : public Hdf5Input {
 public:
  MemoryInput(std::span<const std::byte> bytes, const std::string& name)
      : Hdf5Input("'" + name + "'", bytes.size()), bytes_(bytes) {}

 private:
  void read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, bytes_.data() + offset, bytes);
  }
  std::span<const std::byte> bytes_;
};

// The address of the root group.
std::uint64_t read_superblock(Hdf5Input& input) {
  std::uint64_t at = 0;  // a file may begin with something else of 512, 1024, ... bytes
  for (;; at = at == 0 ? 512 : 2 * at) {
    if (at > input.size() || input.size() - at < 9)
      throw DataLossError(input.name() + " is no HDF5 file, or is cut off");
    if (std::memcmp(input.read(at, 8).data(), kSignature, 8) == 0) break;
  }
  const Hdf5Bytes bytes = input.read(at, std::min<std::uint64_t>(128, input.size() - at));
  Hdf5Cursor cursor(input, bytes);
  cursor.skip(8);
  const std::uint64_t version = cursor.number(1);
  if (version > 3) input.unknown("a version of the format");
  cursor.skip(version < 2 ? 4 : 0);
  if (cursor.number(1) != 8 || cursor.number(1) != 8)
    input.unknown("addresses or lengths of other than 8 bytes");
  cursor.skip(version == 0 ? 9 : version == 1 ? 13 : 1);
  const std::uint64_t base = cursor.address();
  cursor.skip(8);
  const std::uint64_t end = cursor.address();
  std::uint64_t root = 0;
  if (version < 2) {
    cursor.skip(16);  // driver, and the root's name
    root = cursor.address();
  } else {
    root = cursor.address();
    if (lookup3(Hdf5View(bytes).first(cursor.at())) != cursor.number(4))
      input.damaged("the checksum of its beginning differs");
  }
  if (base > input.size() || end > input.size() - base) input.damaged("it is cut off");
  input.set_base(base);
  return root;
}

void swap_bytes(unsigned char* data, std::uint64_t bytes, std::uint64_t unit) {
  for (std::uint64_t at = 0; at < bytes; at += unit) std::reverse(data + at, data + at + unit);
}

class TreeReader {
 public:
  explicit TreeReader(const Hdf5Input& input)
      : input_(input), allowance_(most_unpacked(input.size())) {}

  Hdf5Node read(std::uint64_t address, int depth) {
    if (depth > kMostDepth) input_.damaged("its groups are nested too deeply");
    if (!above_.insert(address).second) input_.damaged("its groups contain one another");
    const std::vector<Hdf5Message> messages = read_object_header(input_, address);
    Hdf5Node node;
    read_attributes(messages, node);
    if (const Hdf5Message* layout = find(messages, kLayoutMessage))
      node.value = read_dataset(messages, layout, text_attribute(node, "dtype") == "bfloat16");
    else
      read_children(messages, node, depth);
    above_.erase(address);
    return node;
  }

 private:
  static const Hdf5Message* find(const std::vector<Hdf5Message>& messages, int type) {
    const auto found = std::find_if(messages.begin(), messages.end(),
                                    [&](const Hdf5Message& m) { return m.type == type; });
    return found == messages.end() ? nullptr : &*found;
  }
  static std::string text_attribute(const Hdf5Node& node, const char* name) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return {};
    const auto* text = std::get_if<std::string>(&found->second);
    return text ? *text : std::string();
  }

  void read_children(const std::vector<Hdf5Message>& messages, Hdf5Node& node, int depth) {
    for (const Hdf5Link& link : read_links(input_, messages)) {
      spend(sizeof(Hdf5Node));
      if (!node.children.try_emplace(link.name, read(link.address, depth + 1)).second)
        input_.damaged("two links have the name '" + link.name + "'");
    }
  }

  // Every byte that is allocated counts against what a file of this size may stand for.
  void spend(std::uint64_t bytes) {
    if (bytes > allowance_) input_.damaged("its parts together are larger than it can hold");
    allowance_ -= bytes;
  }

  Hdf5Value read_dataset(const std::vector<Hdf5Message>& messages, const Hdf5Message* layout,
                         bool bfloat16) {
    const Hdf5Message* type = find(messages, kDatatypeMessage);
    const Hdf5Message* space = find(messages, kDataspaceMessage);
    if (!type || !space) input_.damaged("a dataset has no type or no shape");
    if (find(messages, kExternalMessage)) input_.unknown("data in other files");
    if ((type->flags | space->flags) & 2) input_.unknown("types that several datasets share");
    Hdf5Dataset dataset{read_type({input_, type->data}), read_space({input_, space->data}), layout,
                        find(messages, kFilterMessage)};
    const std::uint64_t bytes = bytes_of(input_, dataset.type, dataset.space);
    check_data_size(input_, dataset, bytes);
    return value_of(dataset.type, dataset.space, bytes, bfloat16,
                    [&](unsigned char* to) { read_data(input_, dataset, to, bytes); });
  }

  void read_attributes(const std::vector<Hdf5Message>& messages, Hdf5Node& node) {
    for (const Hdf5Message& message : messages) {
      if (message.type == kAttributeInfoMessage) refuse_dense_attributes(message);
      if (message.type != kAttributeMessage) continue;
      if (message.flags & 2) input_.unknown("attributes that several objects share");
      Hdf5Cursor cursor(input_, message.data);
      const std::uint64_t version = cursor.number(1), flags = cursor.number(1);
      if (version < 1 || version > 3) input_.unknown("a version of attributes");
      if (version > 1 && flags & 3) input_.unknown("types that several attributes share");
      const std::uint64_t name_size = cursor.number(2), type_size = cursor.number(2),
                          space_size = cursor.number(2);
      if (version == 3) cursor.skip(1);
      const auto part = [&](std::uint64_t size) {
        return cursor.take(version == 1 ? (size + 7) / 8 * 8 : size);
      };
      const std::string name = Hdf5Cursor(input_, part(name_size)).text();
      const Hdf5Type type = read_type({input_, part(type_size)});
      const Hdf5Space space = read_space({input_, part(space_size)});
      const std::uint64_t bytes = bytes_of(input_, type, space);
      const Hdf5View data = cursor.take(bytes);
      if (type.kind == Hdf5Type::Kind::other || type.kind == Hdf5Type::Kind::opaque) continue;
      node.attributes[name] = value_of(type, space, bytes, false, [&](unsigned char* to) {
        if (bytes > 0) std::memcpy(to, data.data(), bytes);
      });
    }
  }

  void refuse_dense_attributes(const Hdf5Message& message) {
    Hdf5Cursor cursor(input_, message.data);
    cursor.skip(1);
    if (cursor.number(1) & 1) cursor.skip(2);
    if (cursor.address() != kNowhere) input_.unknown("attributes in a fractal heap");
  }

  template <class Fill>
  Hdf5Value value_of(const Hdf5Type& type, const Hdf5Space& space, std::uint64_t bytes,
                     bool bfloat16, const Fill& fill) {
    spend(bytes);
    DType dtype = type.dtype;
    if (type.kind == Hdf5Type::Kind::opaque && bfloat16 && type.size == 2)
      dtype = DType::bfloat16;
    else if (type.kind == Hdf5Type::Kind::fixed_text || type.kind == Hdf5Type::Kind::variable_text)
      return text_of(type, space, bytes, fill);
    else if (type.kind != Hdf5Type::Kind::number)
      input_.unknown(type.what);
    const std::vector<std::int64_t> shape =
        space.empty ? std::vector<std::int64_t>{0} : space.shape;
    return Tensor::filled_by(dtype, Shape(std::span(shape)), [&](void* to) {
      auto* elements = static_cast<unsigned char*>(to);
      fill(elements);
      if (type.big_endian) swap_bytes(elements, bytes, type.size);
      if (dtype == DType::bool_)  // one that is neither 0 nor 1 would be undefined behaviour
        for (std::uint64_t i = 0; i < bytes; ++i) elements[i] = elements[i] != 0;
    });
  }

  template <class Fill>
  Hdf5Value text_of(const Hdf5Type& type, const Hdf5Space& space, std::uint64_t bytes,
                    const Fill& fill) {
    Hdf5Bytes raw(bytes);
    fill(raw.data());
    std::vector<std::string> texts;
    for (std::uint64_t at = 0; at < bytes; at += type.size) {
      const Hdf5View element = Hdf5View(raw).subspan(at, type.size);
      if (type.kind == Hdf5Type::Kind::variable_text) {
        texts.push_back(heap_text({input_, element}));
      } else {
        const auto end = std::find(element.begin(), element.end(), 0);
        texts.emplace_back(element.begin(), end);
      }
    }
    if (space.scalar && texts.size() == 1) return texts.front();
    return texts;
  }

  // Text of varying length lies in a collection of objects, found by number.
  std::string heap_text(Hdf5Cursor reference) {
    const std::uint64_t length = reference.number(4), address = reference.address(),
                        wanted = reference.number(4);
    if (length == 0) return {};
    const Hdf5Bytes& bytes = collection(address);
    Hdf5Cursor cursor(input_, bytes);
    cursor.skip(16);
    while (cursor.left() >= 16) {
      const std::uint64_t number = cursor.number(2);
      cursor.skip(6);
      const std::uint64_t size = cursor.number(8);
      if (number == 0) break;
      const Hdf5View object = cursor.take(size);
      if (number == wanted) {
        if (length > size) input_.damaged("text is longer than its place");
        spend(length);
        return {object.begin(), object.begin() + static_cast<std::ptrdiff_t>(length)};
      }
      cursor.skip(std::min<std::uint64_t>((8 - size % 8) % 8, cursor.left()));
    }
    input_.damaged("text is missing");
  }
  const Hdf5Bytes& collection(std::uint64_t address) {
    if (address != collection_address_ || collection_.empty()) {
      const Hdf5Bytes head = input_.read(address, 16);
      Hdf5Cursor cursor(input_, head);
      cursor.expect("GCOL", "a collection of text");
      cursor.skip(4);
      collection_ = input_.read(address, cursor.number(8));
      collection_address_ = address;
    }
    return collection_;
  }

  const Hdf5Input& input_;
  std::uint64_t allowance_;
  std::set<std::uint64_t> above_;  // the objects that are being read
  std::uint64_t collection_address_ = kNowhere;
  Hdf5Bytes collection_;
};

Hdf5Node read_tree(Hdf5Input& input) {
  const std::uint64_t root = read_superblock(input);
  return TreeReader(input).read(root, 0);
}

}  // namespace
}  // namespace io

Hdf5Node load_hdf5(const std::string& path) {
  const io::InputFile file(path);
  io::FileInput input(file);
  return io::read_tree(input);
}

Hdf5Node parse_hdf5(std::span<const std::byte> bytes, const std::string& name) {
  io::MemoryInput input(bytes, name);
  return io::read_tree(input);
}

}  // namespace gradus
