// Products with a sparse matrix whose elements are given by their coordinates.
//
// Elements are grouped by row (row_groups.h); rows of the result are made one after the other, from
// rows of the dense matrix that are anywhere in memory and asked for early. Sums of more than 256
// terms are made of halves. The result does not depend on the number of threads.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"
#include "kernels/scratch.h"

namespace gradus::kernels {

// The rows and columns of `count` elements as two lists.
class ElementPlaces {
 public:
  // Coordinates are int32 or int64 [count, 2]; transposed: pairs of a column and a row.
  ElementPlaces(DType index_type, const void* coordinates, std::int64_t count, bool transposed);
  const std::int64_t* rows() const { return memory_.as<std::int64_t>(); }
  const std::int64_t* columns() const { return rows() + count_; }
  std::int64_t count() const { return count_; }
  // The position of the first element outside a matrix of this size, or -1.
  std::int64_t first_outside(std::int64_t rows, std::int64_t columns) const;

 private:
  Scratch memory_;
  std::int64_t count_;
};

// Dense matrices are [batch, rows or columns, width].
struct SparseShape {
  std::int64_t batch, rows, columns, width;
};
// out[b, i, :] = the sum over the elements of row i of values[e] * dense[b, column of e, :].
void sparse_matmul(DType t, const ElementPlaces& places, const void* values, const void* dense,
                   const SparseShape& shape, void* out);
// out[e] = the sum over b of a[b, row of e, :] times b[b, column of e, :].
void sampled_matmul(DType t, const ElementPlaces& places, const void* a, const void* b,
                    const SparseShape& shape, void* out);

}  // namespace gradus::kernels
