// Object headers and groups of HDF5 files: what exists, under which names, at which addresses.
#include <algorithm>
#include <cstring>
#include <set>

#include "io/checksums.h"
#include "io/hdf5_format.h"

namespace gradus::io {
namespace {

constexpr std::size_t kMostMessages = 1 << 20;
constexpr std::uint64_t kSymbolEntry = 40;   // of a symbol table node
constexpr std::uint64_t kMostInHeader = 64;  // bytes of the prefix of a header of version 2

struct Block {
  std::uint64_t address, size;
};

void note_continuation(const Hdf5Input& input, const Hdf5Message& message,
                       std::vector<Block>& blocks) {
  if (message.type != kContinuationMessage) return;
  Hdf5Cursor fields(input, message.data);
  const std::uint64_t address = fields.address();
  blocks.push_back({address, fields.number(8)});
}

void read_messages_v1(Hdf5Cursor cursor, std::vector<Hdf5Message>& messages,
                      std::vector<Block>& blocks) {
  while (cursor.left() >= 8) {
    Hdf5Message message;
    message.type = static_cast<int>(cursor.number(2));
    const std::uint64_t size = cursor.number(2);
    message.flags = static_cast<int>(cursor.number(1));
    cursor.skip(3);
    const Hdf5View data = cursor.take(size);
    message.data.assign(data.begin(), data.end());
    note_continuation(cursor.input(), message, blocks);
    messages.push_back(std::move(message));
  }
}

void read_messages_v2(Hdf5Cursor cursor, bool ordered, std::vector<Hdf5Message>& messages,
                      std::vector<Block>& blocks) {
  const std::size_t head = ordered ? 6 : 4;
  while (cursor.left() >= head) {
    Hdf5Message message;
    message.type = static_cast<int>(cursor.number(1));
    const std::uint64_t size = cursor.number(2);
    message.flags = static_cast<int>(cursor.number(1));
    if (ordered) cursor.skip(2);
    const Hdf5View data = cursor.take(size);
    message.data.assign(data.begin(), data.end());
    note_continuation(cursor.input(), message, blocks);
    messages.push_back(std::move(message));
  }
}

// The bytes before the checksum, which is compared.
Hdf5View without_checksum(const Hdf5Input& input, Hdf5View bytes) {
  if (bytes.size() < 4) input.damaged("a block of an object header is too short");
  const Hdf5View body = bytes.first(bytes.size() - 4);
  if (Hdf5Cursor(input, bytes.last(4)).number(4) != lookup3(body))
    input.damaged("the checksum of an object header differs");
  return body;
}

std::vector<Hdf5Message> read_header_v1(const Hdf5Input& input, std::uint64_t address) {
  const Hdf5Bytes prefix = input.read(address, 16);
  Hdf5Cursor cursor(input, prefix);
  cursor.skip(8);
  std::vector<Block> blocks = {{address + 16, cursor.number(4)}};
  std::vector<Hdf5Message> messages;
  for (std::size_t i = 0; i < blocks.size(); ++i) {  // grows
    const Hdf5Bytes bytes = input.read(blocks[i].address, blocks[i].size);
    read_messages_v1({input, bytes}, messages, blocks);
    if (messages.size() > kMostMessages || blocks.size() > kMostMessages / 16)
      input.damaged("an object header does not end");
  }
  return messages;
}

std::vector<Hdf5Message> read_header_v2(const Hdf5Input& input, std::uint64_t address) {
  const std::uint64_t room =
      std::min(kMostInHeader, input.size() - std::min(address, input.size()));
  const Hdf5Bytes prefix = input.read(address, room);
  Hdf5Cursor cursor(input, prefix);
  cursor.expect("OHDR", "an object header");
  if (cursor.number(1) != 2) input.unknown("a version of object headers");
  const auto flags = static_cast<int>(cursor.number(1));
  if (flags & 0x20) cursor.skip(16);
  if (flags & 0x10) cursor.skip(4);
  const std::uint64_t size = cursor.number(1 << (flags & 3));
  const std::size_t head = cursor.at();
  if (size > input.size()) input.damaged("an object header is larger than the file");

  const Hdf5Bytes first = input.read(address, head + size + 4);
  std::vector<Block> blocks;
  std::vector<Hdf5Message> messages;
  const bool ordered = flags & 4;
  read_messages_v2({input, without_checksum(input, first).subspan(head)}, ordered, messages,
                   blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {  // grows
    const Hdf5Bytes bytes = input.read(blocks[i].address, blocks[i].size);
    Hdf5Cursor block(input, without_checksum(input, bytes));
    block.expect("OCHK", "a block of an object header");
    read_messages_v2({input, block.take(block.left())}, ordered, messages, blocks);
    if (messages.size() > kMostMessages || blocks.size() > kMostMessages / 16)
      input.damaged("an object header does not end");
  }
  return messages;
}

// The names of an old group: texts that end with a zero, at offsets into one segment.
class LocalHeap {
 public:
  LocalHeap(const Hdf5Input& input, std::uint64_t address) : input_(input) {
    const Hdf5Bytes head = input.read(address, 32);
    Hdf5Cursor cursor(input, head);
    cursor.expect("HEAP", "the names of a group");
    cursor.skip(4);
    const std::uint64_t size = cursor.number(8);
    cursor.skip(8);
    segment_ = input.read(cursor.address(), size);
  }
  std::string name_at(std::uint64_t offset) const {
    if (offset >= segment_.size()) input_.damaged("the name of a link lies outside of its heap");
    return Hdf5Cursor(input_, Hdf5View(segment_).subspan(offset)).text();
  }

 private:
  const Hdf5Input& input_;
  Hdf5Bytes segment_;
};

class SymbolTable {
 public:
  SymbolTable(const Hdf5Input& input, std::uint64_t tree, std::uint64_t heap)
      : input_(input), heap_(input, heap) {
    read_node(tree, kMostLevels);
  }
  std::vector<Hdf5Link> links;

 private:
  void read_node(std::uint64_t address, int most_levels) {
    if (!seen_.insert(address).second) input_.damaged("the tree of a group has a loop");
    const Hdf5Bytes head = input_.read(address, kNodeHead);
    Hdf5Cursor cursor(input_, head);
    cursor.expect("TREE", "the tree of a group");
    if (cursor.number(1) != 0) input_.damaged("the tree of a group is of another kind");
    const auto level = static_cast<int>(cursor.number(1));
    const std::uint64_t used = cursor.number(2);
    if (level >= most_levels) input_.damaged("the tree of a group is too deep");
    const Hdf5Bytes body = input_.read(address + kNodeHead, used * 16 + 8);
    Hdf5Cursor entries(input_, body);
    for (std::uint64_t i = 0; i < used; ++i) {
      entries.skip(8);  // the key: an offset into the heap
      const std::uint64_t child = entries.address();
      if (level > 0)
        read_node(child, level);
      else
        read_symbols(child);
    }
  }

  void read_symbols(std::uint64_t address) {
    if (!seen_.insert(address).second) input_.damaged("the tree of a group has a loop");
    const Hdf5Bytes head = input_.read(address, 8);
    Hdf5Cursor cursor(input_, head);
    cursor.expect("SNOD", "a part of a group");
    cursor.skip(2);
    const std::uint64_t count = cursor.number(2);
    const Hdf5Bytes body = input_.read(address + 8, count * kSymbolEntry);
    for (std::uint64_t i = 0; i < count; ++i) {
      Hdf5Cursor entry(input_, Hdf5View(body).subspan(i * kSymbolEntry, kSymbolEntry));
      const std::uint64_t name = entry.address(), object = entry.address();
      constexpr std::uint64_t kSoftLink = 2;
      if (entry.number(4) != kSoftLink) links.push_back({heap_.name_at(name), object});
    }
  }

  const Hdf5Input& input_;
  LocalHeap heap_;
  std::set<std::uint64_t> seen_;
};

void read_link(const Hdf5Input& input, const Hdf5Message& message, std::vector<Hdf5Link>& links) {
  Hdf5Cursor cursor(input, message.data);
  if (cursor.number(1) != 1) input.unknown("a version of links");
  const auto flags = static_cast<int>(cursor.number(1));
  const std::uint64_t type = flags & 0x08 ? cursor.number(1) : 0;
  if (flags & 0x04) cursor.skip(8);
  if (flags & 0x10) cursor.skip(1);
  const Hdf5View name = cursor.take(cursor.number(1 << (flags & 3)));
  if (type == 0) links.push_back({std::string(name.begin(), name.end()), cursor.address()});
}

}  // namespace

std::vector<Hdf5Message> read_object_header(const Hdf5Input& input, std::uint64_t address) {
  const Hdf5Bytes first = input.read(address, 4);
  if (std::memcmp(first.data(), "OHDR", 4) == 0) return read_header_v2(input, address);
  if (first[0] != 1) input.damaged("there is no object where a link points to");
  return read_header_v1(input, address);
}

std::vector<Hdf5Link> read_links(const Hdf5Input& input, const std::vector<Hdf5Message>& messages) {
  std::vector<Hdf5Link> links;
  for (const Hdf5Message& message : messages) {
    Hdf5Cursor cursor(input, message.data);
    if (message.type == kSymbolTableMessage) {
      const std::uint64_t tree = cursor.address();
      links = SymbolTable(input, tree, cursor.address()).links;
    } else if (message.type == kLinkMessage) {
      read_link(input, message, links);
    } else if (message.type == kLinkInfoMessage) {
      cursor.skip(1);
      if (cursor.number(1) & 1) cursor.skip(8);
      if (cursor.address() != kNowhere)
        input.unknown("a group with a fractal heap (libver='latest')");
    }
  }
  return links;
}

}  // namespace gradus::io
