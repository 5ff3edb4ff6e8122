// Slices by coordinates, and their opposites: scatter_nd and the tensor_scatter_nd family.
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "gradus/type_error.h"
#include "graph/symbols.h"
#include "kernels/gather.h"
#include "kernels/scatter.h"
#include "ops/indices.h"
#include "ops/records.h"

namespace gradus {
namespace {

using kernels::ScatterOp;

struct PickAttrs {
  int batch_dims = 0;
  static auto fields() { return attr_fields(attr("batch_dims", &PickAttrs::batch_dims)); }
};

struct PlaceAttrs {
  Shape shape;
  int batch_dims = 0;
  static auto fields() {
    return attr_fields(attr("shape", &PlaceAttrs::shape),
                       attr("batch_dims", &PlaceAttrs::batch_dims));
  }
};

void check_updates(const char* op, const Shape& updates, const Shape& coordinates,
                   const Shape& shape, int batch_dims) {
  const Shape want = picked_shape(op, coordinates, shape, batch_dims);
  if (!shapes_agree(want, updates)) {
    fail<InvalidArgumentError>("[", op, "] got updates of shape ", updates,
                               " for indices of shape ", coordinates, " into a tensor of shape ",
                               shape, "; updates of shape ", want, " were expected");
  }
}

SampleArg coordinates(const Shape& shape, double limit) { return {shape, 0, limit, Fill::integer}; }

// tensor_scatter_nd_*: (tensor, indices, updates).
void infer_tensor_scatter(const Call& c, Avals& out) {
  check_index_dtype(c.op.name(), c.in[1].dtype);
  check_updates(c.op.name(), c.shape(2), c.shape(1), c.shape(0), c.get<PickAttrs>().batch_dims);
  if (c.in[0].dtype != c.in[2].dtype) {
    fail<TypeError>("[", c.op.name(), "] got dtypes ", name_of(c.in[0].dtype), " and ",
                    name_of(c.in[2].dtype), "; both must be the same, cast one of them");
  }
  out.push_back({c.in[0].dtype, c.shape(0)});
}

template <ScatterOp S>
void tensor_scatter_kernel(const KernelCall& c) {
  RowNumbers rows(c.op.name(), c.in[1], c.shape(0), c.get<PickAttrs>().batch_dims);
  if (c.out[0].count() == 0) return;
  const auto bytes = static_cast<std::size_t>(c.in[0].count()) * size_of(c.in[0].dtype);
  if (c.out[0].data != c.in[0].data && bytes > 0) std::memcpy(c.out[0].data, c.in[0].data, bytes);
  kernels::scatter(S, c.in[0].dtype, int64, rows.data(), c.in[2].data,
                   {rows.count, rows.width, rows.rows}, c.out[0].data);
}

Tensors batch_tensor_scatter(const BatchCall& c) {
  PickAttrs attrs = c.get<PickAttrs>();
  ++attrs.batch_dims;
  const Tensors in = all_batched(c);
  return c.op.run(in, &attrs);
}

std::vector<Sample> tensor_scatter_samples() {
  return {sample<PickAttrs>({{{4, 2}}, coordinates({3, 1}, 4), {{3, 2}}}, {0}),
          sample<PickAttrs>({{{3, 3}}, coordinates({5, 2}, 3), {{5}}}, {0}),
          sample<PickAttrs>({{{2, 3}}, coordinates({2, 4, 1}, 3), {{2, 4}}}, {1}),
          sample<PickAttrs>({{{2}}, coordinates({0, 1}, 2), {{0}}}, {0})};
}

template <ScatterOp S>
OpInfo tensor_scatter_info(const char* name, const char* doc, DTypes dtypes) {
  return {.name = name,
          .doc = doc,
          .dtypes = dtypes,
          .attrs = &attr_type<PickAttrs>(),
          .inputs = 3,
          .differentiable = 5,
          .infer = infer_tensor_scatter,
          .kernel = tensor_scatter_kernel<S>,
          .batch = batch_tensor_scatter,
          .samples = tensor_scatter_samples,
          .in_place_ok = true,
          .checks_values = true};
}

Tensor pick(const Tensor& params, const Tensor& indices, int batch_dims);
Tensor place(const Tensor& indices, const Tensor& updates, const Shape& shape, int batch_dims);

}  // namespace

const Op gather_nd_op =
    linear({.name = "gather_nd",
            .doc = "Slices by coordinates: the last axis of the indices holds one per axis.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<PickAttrs>(),
            .inputs = 2,
            .differentiable = 1,
            .infer =
                [](const Call& c, Avals& out) {
                  check_index_dtype("gather_nd", c.in[1].dtype);
                  out.push_back({c.in[0].dtype, picked_shape("gather_nd", c.shape(1), c.shape(0),
                                                             c.get<PickAttrs>().batch_dims)});
                },
            .kernel =
                [](const KernelCall& c) {
                  RowNumbers rows("gather_nd", c.in[1], c.shape(0), c.get<PickAttrs>().batch_dims);
                  if (c.out[0].count() == 0) return;
                  kernels::gather(size_of(c.in[0].dtype), c.in[0].data, int64, rows.data(),
                                  {1, 1, rows.rows, rows.width, rows.count}, c.out[0].data);
                },
            .batch =
                [](const BatchCall& c) {
                  PickAttrs attrs = c.get<PickAttrs>();
                  if (!c.is_batched(0) && attrs.batch_dims == 0) return c.op.run(c.in, &attrs);
                  ++attrs.batch_dims;
                  const Tensors in = all_batched(c);
                  return c.op.run(in, &attrs);
                },
            .samples =
                [] {
                  return std::vector<Sample>{
                      sample<PickAttrs>({{{4, 3}}, coordinates({2, 2}, 3)}, {0}),
                      sample<PickAttrs>({{{4, 3}}, coordinates({2, 3, 1}, 4)}, {0}),
                      sample<PickAttrs>({{{2, 3, 2}}, coordinates({2, 3, 1}, 3)}, {1}),
                      sample<PickAttrs>({{{2, 3}}, coordinates({2, 0}, 1)}, {0})};
                },
            .like = "tensorflow.gather_nd",
            .checks_values = true},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             const int batch_dims = s.get<PickAttrs>().batch_dims;
             const Shape &shape = s.shape(0), &indices = s.shape(1);
             if (batch_dims > 0 || indices.back() != 1)
               return place(s.in[1], ct, shape, batch_dims);
             Shape rows = shape;
             rows[0] = num_elements(indices);
             return Cotangent::rows(reshape(s.in[1], {rows[0]}), reshape(ct, rows), shape);
           });

const Op scatter_nd_op =
    linear({.name = "scatter_nd",
            .doc = "Zeros with updates added at coordinates; repeated ones add up.",
            .dtypes = kNumeric,
            .attrs = &attr_type<PlaceAttrs>(),
            .inputs = 2,
            .differentiable = 2,
            .infer =
                [](const Call& c, Avals& out) {
                  const auto& p = c.get<PlaceAttrs>();
                  check_index_dtype("scatter_nd", c.in[0].dtype);
                  check_updates("scatter_nd", c.shape(1), c.shape(0), p.shape, p.batch_dims);
                  out.push_back({c.in[1].dtype, p.shape});
                },
            .kernel =
                [](const KernelCall& c) {
                  const auto& p = c.get<PlaceAttrs>();
                  RowNumbers rows("scatter_nd", c.in[0], p.shape, p.batch_dims);
                  if (c.out[0].count() == 0) return;
                  const std::complex<double> zero{};
                  kernels::scatter_into_empty(ScatterOp::add, c.in[1].dtype, int64, rows.data(),
                                              c.in[1].data, {rows.count, rows.width, rows.rows},
                                              &zero, c.out[0].data);
                },
            .batch =
                [](const BatchCall& c) {
                  PlaceAttrs attrs = c.get<PlaceAttrs>();
                  ++attrs.batch_dims;
                  attrs.shape.insert(0, c.size);
                  const Tensors in = all_batched(c);
                  return c.op.run(in, &attrs);
                },
            .samples =
                [] {
                  return std::vector<Sample>{
                      sample<PlaceAttrs>({coordinates({3, 1}, 4), {{3, 2}}}, {{4, 2}, 0}),
                      sample<PlaceAttrs>({coordinates({5, 2}, 2), {{5}}}, {{2, 3}, 0}),
                      sample<PlaceAttrs>({coordinates({2, 3, 1}, 4), {{2, 3}}}, {{2, 4}, 1}),
                      sample<PlaceAttrs>({coordinates({0, 1}, 4), {{0}}}, {{2}, 0})};
                },
            .like = "tensorflow.scatter_nd",
            .checks_values = true},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             return pick(ct, s.in[0], s.get<PlaceAttrs>().batch_dims);
           });

const Op tensor_scatter_nd_add_op =
    linear(tensor_scatter_info<ScatterOp::add>(
               "tensor_scatter_nd_add",
               "Updates added to a tensor at coordinates; repeated ones add up.", kNumeric),
           [](const Site& s, int input, const Tensor& ct) -> Cotangent {
             return input == 0 ? ct : pick(ct, s.in[1], s.get<PickAttrs>().batch_dims);
           });

const Op tensor_scatter_nd_sub_op =
    linear(tensor_scatter_info<ScatterOp::subtract>(
               "tensor_scatter_nd_sub",
               "Updates subtracted from a tensor at coordinates; repeated ones add up.", kNumeric),
           [](const Site& s, int input, const Tensor& ct) -> Cotangent {
             return input == 0 ? ct : -pick(ct, s.in[1], s.get<PickAttrs>().batch_dims);
           });

namespace {

// Which updates stay: where coordinates repeat, the last one. A mask that fits the updates.
Tensor winners(const Op& update, const Tensor& indices, const Shape& shape, const PickAttrs& p,
               int update_rank) {
  const Shape numbers_shape = [&] {
    Shape s = indices.shape();
    s.erase(s.rank() - 1);
    return s;
  }();
  Shape places;
  for (int i = 0; i < p.batch_dims + static_cast<int>(indices.shape().back()); ++i)
    places.push_back(shape[i]);
  const Tensor numbers = reshape(iota(num_elements(numbers_shape)), numbers_shape);
  const Tensor last = update({zeros(places, int64), indices, numbers}, p);
  Shape column = numbers_shape;
  while (column.rank() < update_rank) column.push_back(1);
  return reshape(equal(pick(last, indices, p.batch_dims), numbers), column);
}

}  // namespace

const Op tensor_scatter_nd_update_op = linear(
    tensor_scatter_info<ScatterOp::update>(
        "tensor_scatter_nd_update",
        "A tensor with updates in place of what was at coordinates; where they repeat, the last "
        "one stays.",
        kAnyDType),
    [](const Site& s, int input, const Tensor& ct) -> Cotangent {
      const auto& p = s.get<PickAttrs>();
      if (input == 0) {
        return s.op({ct, s.in[1], zeros(s.shape(2), ct.dtype())}, p);
      }
      return where(winners(s.op, s.in[1], s.shape(0), p, s.shape(2).rank()),
                   pick(ct, s.in[1], p.batch_dims), 0);
    });

namespace {

// Extrema: the tensor's element and all updates that are equal to the result share the gradient.
void jvp_extremum(const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
  const int batch_dims = s.get<PickAttrs>().batch_dims;
  const Tensor &x = s.in[0], &indices = s.in[1], &updates = s.in[2], &y = s.out[0];
  const auto chosen = [](const Tensor& a, const Tensor& result) {
    return logical_or(equal(a, result), not_equal(a, a));
  };
  const Tensor kept = chosen(x, y), taken = chosen(updates, pick(y, indices, batch_dims));
  const Tensor count =
      cast(kept, x.dtype()) + place(indices, cast(taken, x.dtype()), s.shape(0), batch_dims);
  Tensor sum;
  if (t[0].defined()) sum = where(kept, t[0], 0);
  if (t[2].defined()) {
    const Tensor part = place(indices, where(taken, t[2], 0), s.shape(0), batch_dims);
    sum = sum.defined() ? sum + part : part;
  }
  out[0] = sum / count;
}

std::vector<Sample> extremum_samples() {
  std::vector<Sample> samples = tensor_scatter_samples();
  for (Sample& s : samples) s.in[0].fill = Fill::distinct;
  return samples;
}

template <ScatterOp S>
Op extremum(const char* name, const char* doc) {
  OpInfo info = tensor_scatter_info<S>(name, doc, kReal);
  info.samples = extremum_samples;
  return general(info, jvp_extremum);
}

}  // namespace

const Op tensor_scatter_nd_max_op = extremum<ScatterOp::maximum>(
    "tensor_scatter_nd_max",
    "The larger of a tensor and updates at coordinates; equal ones share the gradient.");
const Op tensor_scatter_nd_min_op = extremum<ScatterOp::minimum>(
    "tensor_scatter_nd_min",
    "The smaller of a tensor and updates at coordinates; equal ones share the gradient.");

namespace {

Tensor pick(const Tensor& params, const Tensor& indices, int batch_dims) {
  return gather_nd_op({params, indices}, PickAttrs{batch_dims});
}
Tensor place(const Tensor& indices, const Tensor& updates, const Shape& shape, int batch_dims) {
  return scatter_nd_op({indices, updates}, PlaceAttrs{shape, batch_dims});
}
Tensor run(const Op& op, const Tensor& tensor, const Tensor& indices, const Tensor& updates) {
  return op({tensor, indices, updates}, PickAttrs{0});
}

}  // namespace

Tensor gather_nd(In params, In indices, int batch_dims) {
  return pick(params, indices, batch_dims);
}
Tensor scatter_nd(In indices, In updates, const Shape& shape) {
  return place(indices, updates, shape, 0);
}
Tensor tensor_scatter_nd_add(In tensor, In indices, In updates) {
  return run(tensor_scatter_nd_add_op, tensor, indices, updates);
}
Tensor tensor_scatter_nd_sub(In tensor, In indices, In updates) {
  return run(tensor_scatter_nd_sub_op, tensor, indices, updates);
}
Tensor tensor_scatter_nd_update(In tensor, In indices, In updates) {
  return run(tensor_scatter_nd_update_op, tensor, indices, updates);
}
Tensor tensor_scatter_nd_max(In tensor, In indices, In updates) {
  return run(tensor_scatter_nd_max_op, tensor, indices, updates);
}
Tensor tensor_scatter_nd_min(In tensor, In indices, In updates) {
  return run(tensor_scatter_nd_min_op, tensor, indices, updates);
}

}  // namespace gradus
