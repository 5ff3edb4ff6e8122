// Products with sparse matrices. The product and the sampled product are bilinear, and each one's
// transposes are the other or itself.
#include "gradus/sparse_matmul.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/sparse_matmul.h"
#include "ops/checks.h"
#include "ops/indices.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr DTypes kProducts = kFloating | kComplex | one_dtype(int32) | one_dtype(int64);

struct SparseMatmulAttrs {
  Size rows = 0;
  bool transpose = false;
  static auto fields() {
    return attr_fields(attr("rows", &SparseMatmulAttrs::rows),
                       attr("transpose", &SparseMatmulAttrs::transpose));
  }
};

Size row_count(const Shape& matrices) { return matrices[matrices.rank() - 2]; }

void check_coordinates(const Call& c, const Shape& coordinates) {
  check_index_dtype(c, 2);
  if (coordinates.rank() != 2 || coordinates[1] != 2) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got coordinates of shape ", coordinates,
                               "; expected [n, 2], a row and a column for each element");
  }
}

void infer_sparse_matmul(const Call& c, Avals& out) {
  const Shape &values = c.shape(0), &dense = c.shape(1), &coordinates = c.shape(2);
  check_coordinates(c, coordinates);
  if (values.rank() != 1 || !sizes_agree(values[0], coordinates[0])) {
    fail<InvalidArgumentError>("[sparse_matmul] got values of shape ", values,
                               " and coordinates of shape ", coordinates,
                               "; expected one value for each pair");
  }
  if (dense.rank() < 2 || c.in[0].dtype != c.in[1].dtype) {
    fail<InvalidArgumentError>("[sparse_matmul] got values of dtype ", name_of(c.in[0].dtype),
                               " and a dense operand of dtype ", name_of(c.in[1].dtype),
                               " and shape ", dense,
                               "; expected matrices of the same dtype as the values");
  }
  const Size rows = c.get<SparseMatmulAttrs>().rows;
  if (rows < 0 && rows.is_known())
    fail<InvalidArgumentError>("[sparse_matmul] got ", rows, " rows; expected 0 or more");
  Shape shape = dense;
  shape[shape.rank() - 2] = rows;
  out.push_back({c.in[0].dtype, shape});
}

void infer_sampled_matmul(const Call& c, Avals& out) {
  const Shape &a = c.shape(0), &b = c.shape(1), &coordinates = c.shape(2);
  check_coordinates(c, coordinates);
  bool fits = a.rank() >= 2 && a.rank() == b.rank() && c.in[0].dtype == c.in[1].dtype;
  for (int i = 0; fits && i < a.rank(); ++i) fits = i == a.rank() - 2 || sizes_agree(a[i], b[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[sampled_matmul] got matrices of shapes ", a, " and ", b,
                               " and dtypes ", name_of(c.in[0].dtype), " and ",
                               name_of(c.in[1].dtype),
                               "; they may differ in the number of their rows only");
  }
  out.push_back({c.in[0].dtype, {coordinates[0]}});
}

std::int64_t batch_of(const Shape& matrices) {
  std::int64_t batch = 1;
  for (int i = 0; i + 2 < matrices.rank(); ++i) batch *= matrices[i];
  return batch;
}

void check_inside(const Call& c, const kernels::ElementPlaces& places, std::int64_t rows,
                  std::int64_t columns) {
  const std::int64_t bad = places.first_outside(rows, columns);
  if (bad < 0) return;
  fail<InvalidArgumentError>("[", c.op.name(), "] element ", bad, " is at row ", places.rows()[bad],
                             " and column ", places.columns()[bad],
                             "; that is out of bounds of a matrix of shape ", Shape{rows, columns});
}

void sparse_matmul_kernel(const KernelCall& c) {
  const auto& p = c.get<SparseMatmulAttrs>();
  const Shape& dense = c.shape(1);
  const kernels::ElementPlaces places(c.in[2].dtype, c.in[2].data, c.in[0].count(), p.transpose);
  check_inside(c, places, p.rows, row_count(dense));
  if (c.out[0].count() == 0) return;
  kernels::sparse_matmul(c.in[0].dtype, places, c.in[0].data, c.in[1].data,
                         {batch_of(dense), p.rows, row_count(dense), dense.back()}, c.out[0].data);
}

void sampled_matmul_kernel(const KernelCall& c) {
  const Shape &a = c.shape(0), &b = c.shape(1);
  const kernels::ElementPlaces places(c.in[2].dtype, c.in[2].data, c.out[0].count(), false);
  check_inside(c, places, row_count(a), row_count(b));
  kernels::sampled_matmul(c.in[0].dtype, places, c.in[0].data, c.in[1].data,
                          {batch_of(a), row_count(a), row_count(b), a.back()}, c.out[0].data);
}

Tensor conjugate(const Tensor& x) { return is_complex(x.dtype()) ? conj(x) : x; }

Cotangent transpose_sparse_matmul(const Site& s, int input, const Tensor& ct) {
  const auto& p = s.get<SparseMatmulAttrs>();
  if (input == 1) {
    return sparse_matmul(conjugate(s.in[0]), s.in[2], ct, row_count(s.shape(1)), {!p.transpose});
  }
  const Tensor dense = conjugate(s.in[1]);
  return p.transpose ? sampled_matmul(dense, ct, s.in[2]) : sampled_matmul(ct, dense, s.in[2]);
}

Cotangent transpose_sampled_matmul(const Site& s, int input, const Tensor& ct) {
  return sparse_matmul(ct, s.in[2], conjugate(s.in[1 - input]), row_count(s.shape(input)),
                       {input == 1});
}

// A batch of matrices [batch, ..., k, n] as [..., batch * k, n]: the blocks of one sparse matrix
// multiply them. And back.
Tensor beside(const Tensor& batch) {
  Shape order;
  for (int i = 1; i + 2 < batch.rank(); ++i) order.push_back(i);
  for (const int i : {0, batch.rank() - 2, batch.rank() - 1}) order.push_back(i);
  const Tensor moved = transpose(batch, order);
  Shape shape = moved.shape();
  const int at = shape.rank() - 3;
  shape[at] = shape[at] * shape[at + 1];
  shape.erase(at + 1);
  return reshape(moved, shape);
}
Tensor apart(const Tensor& blocks, Size batch, Size rows) {
  Shape shape = blocks.shape();
  const int at = shape.rank() - 2;
  shape[at] = rows;
  shape.insert(at, batch);
  Shape order = {at};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != at) order.push_back(i);
  return transpose(reshape(blocks, shape), order);
}

// Coordinates [batch, n, 2] into matrices of so many rows and columns, as those of the blocks.
Tensor blocks(const Tensor& coordinates, Size rows, Size columns) {
  const std::vector<Tensor> parts = unstack(coordinates, -1);
  return stack({rows_of_batch(parts[0], rows), rows_of_batch(parts[1], columns)}, 1);
}

Tensors batch_sparse_matmul(const BatchCall& c) {
  if (!c.is_batched(0) && !c.is_batched(2)) return c.op.run(c.in, c.attrs);
  auto p = c.get<SparseMatmulAttrs>();
  const Tensors in = all_batched(c);
  const Size rows = p.rows, columns = row_count(in[1].shape());
  const Tensor places = p.transpose ? blocks(in[2], columns, rows) : blocks(in[2], rows, columns);
  p.rows = c.size * rows;
  const Tensor values = reshape(in[0], {num_elements(in[0].shape())});
  return {apart(c.op({values, beside(in[1]), places}, p), c.size, rows)};
}

Tensors batch_sampled_matmul(const BatchCall& c) {
  const Tensors in = all_batched(c);
  const Tensor places = blocks(in[2], row_count(in[0].shape()), row_count(in[1].shape()));
  const Tensor all = c.op(beside(in[0]), beside(in[1]), places);
  return {reshape(all, {c.size, in[2].shape()[1]})};
}

SampleArg places_below(std::int64_t n, double limit) { return {{n, 2}, 0, limit, Fill::integer}; }
std::vector<Sample> sparse_matmul_samples() {
  return {sample<SparseMatmulAttrs>({{{7}}, {{4, 3}}, places_below(7, 4)}, {5, false}),
          sample<SparseMatmulAttrs>({{{5}}, {{3, 2}}, places_below(5, 3)}, {3, true}),
          sample<SparseMatmulAttrs>({{{4}}, {{2, 3, 17}}, places_below(4, 2)}, {2, false}),
          sample<SparseMatmulAttrs>({{{0}}, {{2, 3}}, places_below(0, 1)}, {2, true})};
}
std::vector<Sample> sampled_matmul_samples() {
  return {{{{{4, 3}}, {{5, 3}}, places_below(6, 4)}, nullptr},
          {{{{2, 3, 17}}, {{2, 2, 17}}, places_below(3, 2)}, nullptr},
          {{{{2, 3}}, {{2, 3}}, places_below(0, 1)}, nullptr}};
}

double flops(double elements, const Shape& dense) {
  return 2.0 * elements * static_cast<double>(batch_of(dense) * dense.back());
}

}  // namespace

const Op sparse_matmul_op = bilinear(
    {.name = "sparse_matmul",
     .doc = "A sparse matrix, given by its elements and their coordinates, times dense ones.",
     .dtypes = kProducts,
     .attrs = &attr_type<SparseMatmulAttrs>(),
     .inputs = 3,
     .differentiable = 3,
     .infer = infer_sparse_matmul,
     .kernel = sparse_matmul_kernel,
     .batch = batch_sparse_matmul,
     .flops = [](const Call& c) { return flops(static_cast<double>(c.in[0].count()), c.shape(1)); },
     .samples = sparse_matmul_samples,
     .like = "tf.sparse.sparse_dense_matmul",
     .checks_values = true},
    transpose_sparse_matmul);

const Op sampled_matmul_op = bilinear(
    {.name = "sampled_matmul",
     .doc = "The elements of a times the transpose of b at given coordinates.",
     .dtypes = kProducts,
     .inputs = 3,
     .differentiable = 3,
     .infer = infer_sampled_matmul,
     .kernel = sampled_matmul_kernel,
     .batch = batch_sampled_matmul,
     .flops = [](const Call& c) { return flops(static_cast<double>(c.shape(2)[0]), c.shape(0)); },
     .samples = sampled_matmul_samples},
    transpose_sampled_matmul);

Tensor sparse_matmul(In values, In coordinates, In dense, Size rows, SparseMatmulOptions options) {
  return sparse_matmul_op({values, dense, coordinates}, SparseMatmulAttrs{rows, options.transpose});
}

Tensor sampled_matmul(In a, In b, In coordinates) { return sampled_matmul_op(a, b, coordinates); }

}  // namespace gradus
