// What ops that take indices share.
#pragma once
#include "graph/op.h"
#include "kernels/scratch.h"

namespace gradus {

void check_index_dtype(const char* op, DType t);
// Throws unless all are in [0, limit), or negative if those are allowed.
void check_indices(const char* op, const View& indices, std::int64_t limit,
                   bool allow_negative = false);

// All inputs of a batched call with the batch as axis 0, repeated for those that do not have it.
Tensors all_batched(const BatchCall& call);

// Indices [batch, ...] into n rows each, as a flat list of indices into batch * n rows. Negative
// ones stay negative.
Tensor rows_of_batch(const Tensor& indices, Size n);

// Coordinates into the axes of `shape` behind the first `batch_dims`, which belong to the leading
// axes of `coordinates`: as row numbers of the array seen as [rows, width].
class RowNumbers {
 public:
  RowNumbers(const char* op, const View& coordinates, const Shape& shape, int batch_dims);
  std::int64_t* data() { return memory_.as<std::int64_t>(); }
  std::int64_t count, rows, width;

 private:
  kernels::Scratch memory_;
};

// The shape of what such coordinates pick, and of updates for it.
Shape picked_shape(const char* op, const Shape& coordinates, const Shape& shape, int batch_dims);

}  // namespace gradus
