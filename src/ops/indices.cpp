#include "ops/indices.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "kernels/gather.h"

namespace gradus {

void check_index_dtype(const char* op, DType t) {
  if (t == int32 || t == int64) return;
  fail<InvalidArgumentError>("[", op, "] indices must be int32 or int64, got ", name_of(t));
}

void check_indices(const char* op, const View& indices, std::int64_t limit, bool allow_negative) {
  const std::int64_t n = indices.count();
  const auto at = [&](std::int64_t i) -> std::int64_t {
    return indices.dtype == int32 ? indices.as<std::int32_t>()[i] : indices.as<std::int64_t>()[i];
  };
  std::int64_t bad = kernels::first_out_of_range(indices.dtype, indices.data, n, limit);
  if (allow_negative && bad >= 0) {
    while (bad < n && at(bad) < limit) ++bad;
    if (bad == n) bad = -1;
  }
  if (bad < 0) return;
  fail<InvalidArgumentError>("[", op, "] indices[", bad, "] = ", at(bad), " is not in [0, ", limit,
                             ")");
}

Tensors all_batched(const BatchCall& c) {
  Tensors in;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    Shape shape = c.in[i].shape();
    if (!c.is_batched(static_cast<int>(i))) shape.insert(0, c.size);
    in.push_back(broadcast_to(c.in[i], shape));
  }
  return in;
}

Tensor rows_of_batch(const Tensor& indices, Size n) {
  const Tensor wide = cast(indices, int64);
  Shape column{indices.shape()[0]};
  for (int i = 1; i < indices.rank(); ++i) column.push_back(1);
  const Tensor first = reshape(iota(column[0]) * dynamic_size(n), column);
  return reshape(where(less(wide, 0), wide, wide + first), {num_elements(indices.shape())});
}

namespace {

std::int64_t product(const Shape& shape, int first, int last) {
  std::int64_t n = 1;
  for (int i = first; i < last; ++i) n *= shape[i];
  return n;
}

}  // namespace

RowNumbers::RowNumbers(const char* op, const View& coordinates, const Shape& shape, int batch_dims)
    : count(product(*coordinates.shape, 0, coordinates.shape->rank() - 1)),
      memory_(static_cast<std::size_t>(count) * 8) {
  const int depth = static_cast<int>(coordinates.shape->back());
  const std::int64_t batch = product(shape, 0, batch_dims), each = batch ? count / batch : 0;
  const std::int64_t per_batch = product(shape, batch_dims, batch_dims + depth);
  rows = batch * per_batch;
  width = product(shape, batch_dims + depth, shape.rank());
  const auto step = static_cast<std::int64_t>(size_of(coordinates.dtype)) * each * depth;
  for (std::int64_t b = 0; b < batch; ++b) {
    std::int64_t* numbers = data() + b * each;
    const std::int64_t bad =
        kernels::flatten_coordinates(coordinates.dtype, coordinates.as<char>() + b * step, each,
                                     depth, shape.numbers().data() + batch_dims, numbers);
    if (bad >= 0) {
      fail<InvalidArgumentError>("[", op, "] indices[", b * each + bad,
                                 "] does not point into a tensor of shape ", shape);
    }
    if (b > 0) {
      for (std::int64_t i = 0; i < each; ++i) numbers[i] += b * per_batch;
    }
  }
}

Shape picked_shape(const char* op, const Shape& coordinates, const Shape& shape, int batch_dims) {
  const Size depth = coordinates.rank() ? coordinates.back() : Size(0);
  bool fits = coordinates.rank() > batch_dims && depth.is_known() && batch_dims >= 0 &&
              depth + batch_dims <= shape.rank();
  for (int i = 0; fits && i < batch_dims; ++i) fits = sizes_agree(coordinates[i], shape[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[", op, "] indices of shape ", coordinates,
                               " do not point into a tensor of shape ", shape, " with batch_dims ",
                               batch_dims,
                               "; the last axis of the indices holds one number per axis");
  }
  Shape out;
  for (int i = 0; i + 1 < coordinates.rank(); ++i) out.push_back(coordinates[i]);
  for (int i = batch_dims + static_cast<int>(depth); i < shape.rank(); ++i) out.push_back(shape[i]);
  return out;
}

}  // namespace gradus
