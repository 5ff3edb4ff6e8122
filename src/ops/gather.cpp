// Rows by index. The gradient of a gather is rows, never a dense tensor.
#include "kernels/gather.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "kernels/scatter.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/indices.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct GatherAttrs {
  int axis = 0, batch_dims = 0;
  static auto fields() {
    return attr_fields(attr("axis", &GatherAttrs::axis),
                       attr("batch_dims", &GatherAttrs::batch_dims));
  }
};

struct ScatterAttrs {
  Shape shape;
  static auto fields() { return attr_fields(attr("shape", &ScatterAttrs::shape)); }
};

Size product(const Shape& shape, int first, int last) {
  Size n = 1;
  for (int i = first; i < last; ++i) n = n * shape[i];
  return n;
}

// params as [batch, outer, n, inner], indices as [batch, m].
struct Extents {
  Size batch, outer, n, inner, m;
};
Extents extents(const GatherAttrs& p, const Shape& params, const Shape& indices) {
  return {product(params, 0, p.batch_dims), product(params, p.batch_dims, p.axis), params[p.axis],
          product(params, p.axis + 1, params.rank()),
          product(indices, p.batch_dims, indices.rank())};
}

void infer_gather(const Call& c, Avals& out) {
  const auto& p = c.get<GatherAttrs>();
  check_index_dtype(c, 1);
  const Shape &params = c.shape(0), &indices = c.shape(1);
  check_axis(c, p.axis, params.rank());
  bool fits = p.batch_dims >= 0 && p.batch_dims <= p.axis && p.batch_dims <= indices.rank();
  for (int i = 0; fits && i < p.batch_dims; ++i) fits = sizes_agree(params[i], indices[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[gather] params of shape ", params, " and indices of shape ",
                               indices, " have no ", p.batch_dims,
                               " leading axes in common before axis ", p.axis);
  }
  Shape shape;
  for (int i = 0; i < p.axis; ++i) shape.push_back(params[i]);
  for (int i = p.batch_dims; i < indices.rank(); ++i) shape.push_back(indices[i]);
  for (int i = p.axis + 1; i < params.rank(); ++i) shape.push_back(params[i]);
  out.push_back({c.in[0].dtype, shape});
}

void gather_kernel(const KernelCall& c) {
  const Extents e = extents(c.get<GatherAttrs>(), c.shape(0), c.shape(1));
  check_indices("gather", c.in[1], e.n);
  if (c.out[0].count() == 0) return;
  kernels::gather(size_of(c.in[0].dtype), c.in[0].data, c.in[1].dtype, c.in[1].data,
                  {e.batch, e.outer, e.n, e.inner, e.m}, c.out[0].data);
}

Tensors batch_gather(const BatchCall& c) {
  GatherAttrs attrs = c.get<GatherAttrs>();
  if (!c.is_batched(1) && attrs.batch_dims == 0) {
    ++attrs.axis;
    return c.op.run(c.in, &attrs);
  }
  if (!c.is_batched(0) && attrs.axis == 0) return c.op.run(c.in, &attrs);
  ++attrs.axis;
  ++attrs.batch_dims;
  const Tensors in = all_batched(c);
  return c.op.run(in, &attrs);
}

// The gradient of a gather along any axis: rows of [batch * n, outer * inner] are added to.
Tensor scatter_along(const GatherAttrs& p, const Shape& params, const Tensor& indices,
                     const Tensor& ct) {
  const Extents e = extents(p, params, indices.shape());
  const Size width = e.outer * e.inner;
  const Tensor moved = transpose(reshape(ct, {e.batch, e.outer, e.m, e.inner}), {0, 2, 1, 3});
  const Tensor rows = p.batch_dims == 0 ? reshape(indices, {e.m})
                                        : rows_of_batch(reshape(indices, {e.batch, e.m}), e.n);
  const Tensor sums =
      scatter_rows(rows, reshape(moved, {e.batch * e.m, width}), {e.batch * e.n, width});
  return reshape(transpose(reshape(sums, {e.batch, e.n, e.outer, e.inner}), {0, 2, 1, 3}), params);
}

std::vector<Sample> gather_samples() {
  const auto indices = [](const Shape& shape, double limit) {
    return SampleArg{shape, 0, limit, Fill::integer};
  };
  return {sample<GatherAttrs>({{{4, 3}}, indices({2, 2}, 4)}, {0, 0}),
          sample<GatherAttrs>({{{2, 5}}, indices({3}, 5)}, {1, 0}),
          sample<GatherAttrs>({{{2, 4, 3}}, indices({}, 4)}, {1, 0}),
          sample<GatherAttrs>({{{2, 3, 4}}, indices({2, 5}, 4)}, {2, 1}),
          sample<GatherAttrs>({{{2, 3, 4}}, indices({2, 3, 1}, 4)}, {2, 2}),
          sample<GatherAttrs>({{{3, 2}}, indices({0}, 3)}, {0, 0})};
}

}  // namespace

const Op gather_op =
    linear({.name = "gather",
            .doc = "Slices along an axis, by index.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<GatherAttrs>(),
            .inputs = 2,
            .differentiable = 1,
            .infer = infer_gather,
            .kernel = gather_kernel,
            .batch = batch_gather,
            .samples = gather_samples,
            .like = "numpy.take",
            .checks_values = true},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             const auto& p = s.get<GatherAttrs>();
             const Shape& shape = s.shape(0);
             if (p.axis > 0) return scatter_along(p, shape, s.in[1], ct);
             Shape rows = shape;
             rows[0] = num_elements(s.shape(1));
             return Cotangent::rows(reshape(s.in[1], {rows[0]}), reshape(ct, rows), shape);
           });

const Op scatter_rows_op = linear(
    {.name = "scatter_rows",
     .doc = "Zeros with values added to some rows; repeated indices add up.",
     .dtypes = kNumeric,
     .attrs = &attr_type<ScatterAttrs>(),
     .inputs = 2,
     .differentiable = 2,
     .infer =
         [](const Call& c, Avals& out) {
           check_index_dtype(c, 0);
           const Shape& shape = c.get<ScatterAttrs>().shape;
           check_sizes(c, "the result", shape);
           check_axis(c, 0, shape.rank());
           Shape values = shape;
           values[0] = num_elements(c.shape(0));
           if (!sizes_agree(num_elements(values), num_elements(c.shape(1)))) {
             fail<InvalidArgumentError>("[scatter_rows] values of shape ", c.shape(1),
                                        " do not fit ", values[0], " rows of a tensor of shape ",
                                        shape);
           }
           out.push_back({c.in[1].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           const Shape& shape = *c.out[0].shape;
           check_indices("scatter_rows", c.in[0], shape[0]);
           if (c.out[0].count() == 0) return;
           const std::complex<double> zero{};
           kernels::scatter_into_empty(
               kernels::ScatterOp::add, c.in[1].dtype, c.in[0].dtype, c.in[0].data, c.in[1].data,
               {c.in[0].count(), product(shape, 1, shape.rank()), shape[0]}, &zero, c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           const Tensors in = all_batched(c);
           const Shape& shape = c.get<ScatterAttrs>().shape;
           Shape flat = shape, values = shape, whole = shape;
           flat[0] = c.size * shape[0];
           values[0] = num_elements(in[0].shape());
           whole.insert(0, c.size);
           return Tensors{reshape(
               scatter_rows(rows_of_batch(in[0], shape[0]), reshape(in[1], values), flat), whole)};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<ScatterAttrs>({{{3}, 0, 4, Fill::integer}, {{3, 2}}}, {{4, 2}}),
               sample<ScatterAttrs>({{{5}, 0, 2, Fill::integer}, {{5}}}, {{2}}),
               sample<ScatterAttrs>({{{0}, 0, 2, Fill::integer}, {{0, 2}}}, {{3, 2}})};
         },
     .like = "tensorflow.IndexedSlices",
     .checks_values = true},
    [](const Site& s, int, const Tensor& ct) -> Cotangent { return gather(ct, s.in[0]); });

Tensor gather(In params, In indices, std::optional<int> axis, int batch_dims) {
  if (params->rank() == 0)
    fail<InvalidArgumentError>("[gather] params must have an axis, got a scalar");
  const int batch = batch_dims < 0 ? batch_dims + indices->rank() : batch_dims;
  const int at = normal_axis("gather", axis.value_or(batch), params->rank());
  bool fits = batch >= 0 && batch <= std::min(indices->rank(), at);
  for (int i = 0; fits && i < batch; ++i)
    fits = sizes_agree(params->shape()[i], indices->shape()[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[gather] params of shape ", params->shape(),
                               " and indices of shape ", indices->shape(), " do not share ",
                               batch_dims, " leading axes before axis ", at);
  }
  return gather_op({params, indices}, GatherAttrs{at, batch});
}

Tensor scatter_rows(In indices, In values, const Shape& shape) {
  return scatter_rows_op({indices, values}, ScatterAttrs{shape});
}

}  // namespace gradus
