#include "kernels/gather.h"

#include <algorithm>
#include <cstring>

#include "kernels/isa.h"
#include "kernels/ranges.h"
#include "kernels/rows_loops.h"

namespace gradus::kernels {
namespace {

template <class F>
auto with_indices(DType index_type, const void* indices, F&& f) {
  if (index_type == int32) return f(static_cast<const std::int32_t*>(indices));
  return f(static_cast<const std::int64_t*>(indices));
}

// Rows of a size known when compiling: a load and a store each.
template <std::size_t kBytes, class Index>
void gather_rows_of(const char* in, const Index* indices, std::int64_t count, char* out) {
  for (std::int64_t k = 0; k < count; ++k)
    std::memcpy(out + k * static_cast<std::int64_t>(kBytes),
                in + static_cast<std::int64_t>(indices[k]) * static_cast<std::int64_t>(kBytes),
                kBytes);
}

template <class Index>
void gather_rows(const char* in, const Index* indices, std::int64_t count, std::int64_t bytes,
                 char* out) {
  switch (bytes) {
    case 1:
      return gather_rows_of<1>(in, indices, count, out);
    case 2:
      return gather_rows_of<2>(in, indices, count, out);
    case 4:
      return gather_rows_of<4>(in, indices, count, out);
    case 8:
      return gather_rows_of<8>(in, indices, count, out);
    case 16:
      return gather_rows_of<16>(in, indices, count, out);
    default:
      break;
  }
  constexpr std::int64_t kAhead = 8;  // rows asked for early: they are anywhere in memory
  for (std::int64_t k = 0; k < count; ++k) {
    if (k + kAhead < count) {
      const char* next = in + static_cast<std::int64_t>(indices[k + kAhead]) * bytes;
      for (std::int64_t b = 0; b < std::min<std::int64_t>(bytes, 256); b += 64)
        __builtin_prefetch(next + b);
    }
    std::memcpy(out + k * bytes, in + static_cast<std::int64_t>(indices[k]) * bytes,
                static_cast<std::size_t>(bytes));
  }
}

}  // namespace

std::int64_t first_out_of_range(DType index_type, const void* indices, std::int64_t count,
                                std::int64_t limit) {
  static const RowsLoops& loops = pick(baseline::rows_loops, avx2::rows_loops, avx512::rows_loops);
  const auto in_range = index_type == int32 ? loops.in_range32 : loops.in_range64;
  if (in_range(indices, count, limit)) return -1;
  return with_indices(index_type, indices, [&](const auto* index) -> std::int64_t {
    for (std::int64_t i = 0; i < count; ++i)
      if (index[i] < 0 || index[i] >= limit) return i;
    return -1;
  });
}

std::int64_t flatten_coordinates(DType index_type, const void* coordinates, std::int64_t count,
                                 int depth, const std::int64_t* shape, std::int64_t* rows) {
  return with_indices(index_type, coordinates, [&](const auto* index) -> std::int64_t {
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t row = 0;
      for (int d = 0; d < depth; ++d) {
        const std::int64_t at = index[k * depth + d];
        if (at < 0 || at >= shape[d]) return k;
        row = row * shape[d] + at;
      }
      rows[k] = row;
    }
    return -1;
  });
}

void gather(std::size_t item_size, const void* in, DType index_type, const void* indices,
            const GatherShape& shape, void* out) {
  const std::int64_t bytes = shape.inner * static_cast<std::int64_t>(item_size);
  if (shape.m == 0 || bytes == 0) return;
  const std::int64_t block = std::min(shape.m, grain_of_rows(bytes));
  const std::int64_t blocks = (shape.m + block - 1) / block;
  with_indices(index_type, indices, [&](const auto* index) {
    parallel_ranges(shape.batch * shape.outer * blocks, grain_of_rows(block * bytes),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t task = begin; task < end; ++task) {
                        const std::int64_t slab = task / blocks, first = task % blocks * block;
                        gather_rows(static_cast<const char*>(in) + slab * shape.n * bytes,
                                    index + slab / shape.outer * shape.m + first,
                                    std::min(block, shape.m - first), bytes,
                                    static_cast<char*>(out) + (slab * shape.m + first) * bytes);
                      }
                    });
  });
}

}  // namespace gradus::kernels
