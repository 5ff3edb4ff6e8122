// Updates of rows, grouped by row: the basis of scatter-add, segment sums and row-sparse gradients.
//
// Grouping is a stable sort of (row, position), so what is added to a row is added in the order it
// came in, whoever does it. Sums are cut into pieces of at most 256 rows whose results are reduced
// level by level (reduce.h): 10^7 updates of one float32 row keep their digits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "gradus/dtype.h"
#include "kernels/scratch.h"

namespace gradus::kernels {

class RowGroups {
 public:
  // Indices are int32 or int64 below `limit`; negative ones are left out. count < 2^32.
  RowGroups(DType index_type, const void* indices, std::int64_t count, std::int64_t limit);

  std::int64_t size() const { return size_; }         // the number of different rows
  const std::int64_t* rows() const { return rows_; }  // ascending
  // The updates of group g are positions()[starts()[g] .. starts()[g + 1]).
  const std::int64_t* starts() const { return starts_; }
  const std::uint32_t* positions() const { return positions_; }

 private:
  template <class Index>
  void build(const Index* indices, std::int64_t count, std::int64_t limit);
  template <class RowOf>
  void cut(std::int64_t count, RowOf row_of);

  Scratch memory_;
  std::int64_t *rows_, *starts_;
  std::uint32_t* positions_;
  std::int64_t size_ = 0;
};

// out[:] = the sum of the rows of `values` at one or more positions.
void sum_rows(DType t, const void* values, std::span<const std::uint32_t> positions,
              std::int64_t width, void* out);
// out[g, :] = the sum of the rows of `values` in group g; every type but bool, integers wrap.
void sum_groups(DType t, const RowGroups& groups, const void* values, std::int64_t width,
                void* out);
// out[rows()[g], :] += that sum, or -= it.
void add_groups(DType t, const RowGroups& groups, const void* values, std::int64_t width, void* out,
                bool subtract);

}  // namespace gradus::kernels
