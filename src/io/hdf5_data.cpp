// The elements of HDF5 datasets: compact, contiguous or in chunks, which may be packed.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "io/checksums.h"
#include "io/files.h"
#include "io/hdf5_format.h"

namespace gradus::io {
namespace {

constexpr std::uint64_t kMostUnstored = 1 << 20;  // bytes that are all zero and not in the file

struct Layout {
  enum class Kind { compact, contiguous, chunked, one_chunk } kind = Kind::compact;
  Hdf5View inside;                                 // compact
  std::uint64_t address = kNowhere;                // of the data, or of the tree of chunks
  std::uint64_t packed_size = 0, filter_mask = 0;  // one_chunk
  std::vector<std::uint64_t> chunk;                // its sizes, in elements
};

Layout read_layout(const Hdf5Input& input, const Hdf5Message& message) {
  Hdf5Cursor cursor(input, message.data);
  const std::uint64_t version = cursor.number(1);
  if (version != 3 && version != 4) input.unknown("a version of layouts");
  const std::uint64_t kind = cursor.number(1);
  Layout layout;
  if (kind == 0) {
    layout.inside = cursor.take(cursor.number(2));
  } else if (kind == 1) {
    layout.kind = Layout::Kind::contiguous;
    layout.address = cursor.address();
  } else if (kind == 2 && version == 3) {
    layout.kind = Layout::Kind::chunked;
    const std::uint64_t axes = cursor.number(1);
    layout.address = cursor.address();
    for (std::uint64_t i = 0; i < axes; ++i) layout.chunk.push_back(cursor.number(4));
  } else if (kind == 2) {
    layout.kind = Layout::Kind::one_chunk;
    const std::uint64_t flags = cursor.number(1), axes = cursor.number(1), width = cursor.number(1);
    if (width < 1 || width > 8) input.damaged("sizes of chunks of an odd width");
    for (std::uint64_t i = 0; i < axes; ++i)
      layout.chunk.push_back(cursor.number(static_cast<int>(width)));
    if (cursor.number(1) != 1) input.unknown("a new index of chunks (libver='latest')");
    if (flags & 2) {
      layout.packed_size = cursor.number(8);
      layout.filter_mask = cursor.number(4);
    }
    layout.address = cursor.address();
  } else {
    input.unknown("data in other files or virtual data");
  }
  if (!layout.chunk.empty()) layout.chunk.pop_back();  // the size of an element
  return layout;
}

std::vector<int> read_filters(const Hdf5Input& input, const Hdf5Message* message) {
  std::vector<int> filters;
  if (!message) return filters;
  Hdf5Cursor cursor(input, message->data);
  const std::uint64_t version = cursor.number(1), count = cursor.number(1);
  if (version != 1 && version != 2) input.unknown("a version of filters");
  if (version == 1) cursor.skip(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto id = static_cast<int>(cursor.number(2));
    const std::uint64_t name = version == 1 || id >= 256 ? cursor.number(2) : 0;
    cursor.skip(2);
    const std::uint64_t values = cursor.number(2);
    cursor.skip(version == 1 ? (name + 7) / 8 * 8 : name);
    cursor.skip(4 * (version == 1 ? values + values % 2 : values));
    if (id != kDeflateFilter && id != kShuffleFilter && id != kFletcherFilter)
      input.unknown("the filter " + std::to_string(id));
    filters.push_back(id);
  }
  return filters;
}

Hdf5Bytes inflated(const Hdf5Input& input, const Hdf5Bytes& packed, std::uint64_t most) {
  Hdf5Bytes made(most);
  auto size = static_cast<uLongf>(most);
  if (uncompress(made.data(), &size, packed.data(), static_cast<uLong>(packed.size())) != Z_OK)
    input.damaged("packed data cannot be unpacked");
  made.resize(size);
  return made;
}

// The first bytes of all elements, then the second ones, and so on, become elements again.
Hdf5Bytes unshuffled(const Hdf5Bytes& bytes, std::uint64_t unit) {
  const std::uint64_t count = bytes.size() / unit;
  Hdf5Bytes made(bytes);
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::uint64_t j = 0; j < unit; ++j) made[i * unit + j] = bytes[j * count + i];
  return made;
}

// `wanted` is the size of the chunk when it is unpacked.
Hdf5Bytes unpacked(const Hdf5Input& input, Hdf5Bytes bytes, const std::vector<int>& filters,
                   std::uint64_t mask, std::uint64_t unit, std::uint64_t wanted) {
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (i < 32 && mask >> i & 1) continue;
    if (filters[i] == kDeflateFilter) {
      if (wanted / kBestDeflateRatio > bytes.size() + 1) input.damaged("packed data is too short");
      bytes = inflated(input, bytes, wanted + 4);
    } else if (filters[i] == kShuffleFilter) {
      bytes = unshuffled(bytes, unit);
    } else {
      if (bytes.size() < 4) input.damaged("data without its checksum");
      const Hdf5View body = Hdf5View(bytes).first(bytes.size() - 4);
      if (Hdf5Cursor(input, Hdf5View(bytes).last(4)).number(4) != fletcher32(body))
        input.damaged("the checksum of data differs");
      bytes.resize(body.size());
    }
  }
  if (bytes.size() != wanted) input.damaged("a chunk has another size than it should have");
  return bytes;
}

class ChunkReader {
 public:
  ChunkReader(const Hdf5Input& input, const Hdf5Dataset& dataset, const Layout& layout,
              unsigned char* to)
      : input_(input),
        shape_(dataset.space.shape.begin(), dataset.space.shape.end()),
        chunk_(layout.chunk),
        unit_(dataset.type.size),
        filters_(read_filters(input, dataset.filters)),
        to_(to) {
    chunk_bytes_ = unit_;
    for (const std::uint64_t size : chunk_) chunk_bytes_ *= size;
  }

  void read_tree(std::uint64_t address, int most_levels) {
    if (!seen_.insert(address).second) input_.damaged("the tree of chunks has a loop");
    const Hdf5Bytes head = input_.read(address, kNodeHead);
    Hdf5Cursor cursor(input_, head);
    cursor.expect("TREE", "the tree of chunks");
    if (cursor.number(1) != 1) input_.damaged("the tree of chunks is of another kind");
    const auto level = static_cast<int>(cursor.number(1));
    const std::uint64_t used = cursor.number(2);
    if (level >= most_levels) input_.damaged("the tree of chunks is too deep");
    const std::uint64_t entry = 8 + 8 * (shape_.size() + 1) + 8;
    const Hdf5Bytes body = input_.read(address + kNodeHead, used * entry);
    Hdf5Cursor entries(input_, body);
    for (std::uint64_t i = 0; i < used; ++i) {
      const std::uint64_t size = entries.number(4), mask = entries.number(4);
      std::vector<std::uint64_t> offset;
      for (std::size_t axis = 0; axis < shape_.size(); ++axis) offset.push_back(entries.number(8));
      entries.skip(8);
      const std::uint64_t child = entries.address();
      if (level > 0)
        read_tree(child, level);
      else
        read_chunk(child, size, mask, offset);
    }
  }

  void read_chunk(std::uint64_t address, std::uint64_t size, std::uint64_t mask,
                  const std::vector<std::uint64_t>& offset) {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      if (offset[axis] >= shape_[axis] || offset[axis] % chunk_[axis] != 0)
        input_.damaged("a chunk lies outside of its dataset");
    if (!places_.insert(offset).second) input_.damaged("a chunk is there twice");
    const Hdf5Bytes bytes =
        unpacked(input_, input_.read(address, size), filters_, mask, unit_, chunk_bytes_);
    copy(bytes, offset);
  }

  std::size_t chunks() const { return places_.size(); }

 private:
  // Row by row; what of a chunk stands over the edge of the dataset is left out.
  void copy(const Hdf5Bytes& from, const std::vector<std::uint64_t>& offset) {
    const std::size_t rank = shape_.size();
    std::vector<std::uint64_t> size(rank), index(rank, 0);
    for (std::size_t axis = 0; axis < rank; ++axis)
      size[axis] = std::min(chunk_[axis], shape_[axis] - offset[axis]);
    const std::uint64_t row = size[rank - 1] * unit_;
    while (true) {
      std::uint64_t source = 0, target = 0;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        source = source * chunk_[axis] + index[axis];
        target = target * shape_[axis] + offset[axis] + index[axis];
      }
      std::memcpy(to_ + target * unit_, from.data() + source * unit_, row);
      std::size_t axis = rank - 1;
      while (axis-- > 0) {
        if (++index[axis] < size[axis]) break;
        index[axis] = 0;
      }
      if (axis == static_cast<std::size_t>(-1)) return;
    }
  }

  const Hdf5Input& input_;
  std::vector<std::uint64_t> shape_, chunk_;
  std::uint64_t unit_, chunk_bytes_;
  std::vector<int> filters_;
  unsigned char* to_;
  std::set<std::uint64_t> seen_;
  std::set<std::vector<std::uint64_t>> places_;
};

// What a file can hold, and is believed to.
std::uint64_t largest_data(const Hdf5Input& input, const Hdf5Dataset& dataset) {
  if (!dataset.filters) return input.size() + 64;
  return std::min(input.size() * kBestDeflateRatio + 64, most_unpacked(input.size()));
}

// The size of one chunk; damage if the file could not hold it.
std::uint64_t checked_chunk(const Hdf5Input& input, const Hdf5Dataset& dataset,
                            const Layout& layout) {
  if (layout.chunk.size() != dataset.space.shape.size() || layout.chunk.empty())
    input.damaged("chunks have another number of axes than their dataset");
  const std::uint64_t largest = largest_data(input, dataset);
  std::uint64_t bytes = dataset.type.size;
  for (const std::uint64_t size : layout.chunk)
    if (size == 0 || __builtin_mul_overflow(bytes, size, &bytes) || bytes > largest)
      input.damaged("a chunk is larger than the file can hold");
  return bytes;
}

}  // namespace

void check_data_size(const Hdf5Input& input, const Hdf5Dataset& dataset, std::uint64_t bytes) {
  const Layout layout = read_layout(input, *dataset.layout);
  const bool stored = layout.kind == Layout::Kind::compact || layout.address != kNowhere;
  if (!stored && bytes > kMostUnstored)
    input.damaged("a dataset of " + std::to_string(bytes) + " bytes is not in the file");
  const bool chunked =
      layout.kind == Layout::Kind::chunked || layout.kind == Layout::Kind::one_chunk;
  if (!chunked) {
    if (stored && bytes > input.size()) input.damaged("a dataset is larger than the file");
    return;
  }
  checked_chunk(input, dataset, layout);
  const std::uint64_t largest = largest_data(input, dataset);
  if (bytes > largest) input.damaged("a dataset is larger than the file can hold");
}

void read_data(const Hdf5Input& input, const Hdf5Dataset& dataset, unsigned char* to,
               std::uint64_t bytes) {
  const Layout layout = read_layout(input, *dataset.layout);
  if (bytes == 0) return;
  if (layout.kind == Layout::Kind::compact) {
    if (layout.inside.size() < bytes) input.damaged("a dataset is cut off");
    std::memcpy(to, layout.inside.data(), bytes);
    return;
  }
  std::memset(to, 0,
              layout.address == kNowhere || layout.kind == Layout::Kind::chunked ? bytes : 0);
  if (layout.address == kNowhere) return;
  if (layout.kind == Layout::Kind::contiguous) return input.read(layout.address, to, bytes);

  const std::uint64_t chunk_bytes = checked_chunk(input, dataset, layout);
  ChunkReader reader(input, dataset, layout, to);
  if (layout.kind == Layout::Kind::one_chunk) {
    for (std::size_t axis = 0; axis < layout.chunk.size(); ++axis)
      if (layout.chunk[axis] != static_cast<std::uint64_t>(dataset.space.shape[axis]))
        input.damaged("one chunk is not all of its dataset");
    reader.read_chunk(layout.address, layout.packed_size ? layout.packed_size : chunk_bytes,
                      layout.filter_mask, std::vector<std::uint64_t>(layout.chunk.size(), 0));
    return;
  }
  reader.read_tree(layout.address, kMostLevels);
  std::uint64_t expected = 1;
  for (std::size_t axis = 0; axis < layout.chunk.size(); ++axis) {
    const auto size = static_cast<std::uint64_t>(dataset.space.shape[axis]);
    expected *= (size + layout.chunk[axis] - 1) / layout.chunk[axis];
  }
  if (reader.chunks() != expected && bytes > kMostUnstored)
    input.damaged("chunks of a dataset are missing");
}

}  // namespace gradus::io
