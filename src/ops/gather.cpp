// Rows by index. The gradient of a gather is rows, never a dense tensor.
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct GatherAttrs {
  int axis = 0;
  static auto fields() { return attr_fields(attr("axis", &GatherAttrs::axis)); }
};

struct ScatterAttrs {
  Shape shape;
  static auto fields() { return attr_fields(attr("shape", &ScatterAttrs::shape)); }
};

std::int64_t index_at(const View& indices, std::int64_t i) {
  return indices.dtype == int32 ? indices.as<std::int32_t>()[i] : indices.as<std::int64_t>()[i];
}

void check_indices(const char* op, const View& indices, std::int64_t limit) {
  for (std::int64_t i = 0, n = indices.count(); i < n; ++i) {
    const std::int64_t index = index_at(indices, i);
    if (index < 0 || index >= limit) {
      fail<InvalidArgumentError>("[", op, "] index ", index, " at position ", i,
                                 " is out of range: it must be in [0, ", limit, ")");
    }
  }
}

void gather_kernel(const KernelCall& c) {
  const int axis = c.get<GatherAttrs>().axis;
  const Shape& params = c.shape(0);
  std::int64_t outer = 1, inner = static_cast<std::int64_t>(size_of(c.in[0].dtype));
  for (int i = 0; i < axis; ++i) outer *= params[i];
  for (int i = axis + 1; i < params.rank(); ++i) inner *= params[i];
  check_indices("gather", c.in[1], params[axis]);
  const std::int64_t n = c.in[1].count();
  char* out = c.out[0].as<char>();
  for (std::int64_t o = 0; o < outer; ++o) {
    const char* from = c.in[0].as<char>() + o * params[axis] * inner;
    for (std::int64_t i = 0; i < n; ++i, out += inner) {
      std::memcpy(out, from + index_at(c.in[1], i) * inner, static_cast<std::size_t>(inner));
    }
  }
}

// Integers wrap around, as everywhere.
template <class T>
T add_wrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
void add_rows(const KernelCall& c) {
  const std::int64_t rows = c.in[0].count(), width = rows ? c.in[1].count() / rows : 0;
  const T* values = c.in[1].as<T>();
  T* out = c.out[0].as<T>();
  for (std::int64_t i = 0; i < rows; ++i) {
    T* to = out + index_at(c.in[0], i) * width;
    for (std::int64_t j = 0; j < width; ++j) {
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
        to[j] = T(static_cast<float>(to[j]) + static_cast<float>(values[i * width + j]));
      } else {
        to[j] = add_wrapping(to[j], values[i * width + j]);
      }
    }
  }
}

void scatter_kernel(const KernelCall& c) {
  check_indices("scatter_rows", c.in[0], (*c.out[0].shape)[0]);
  std::memset(c.out[0].data, 0,
              static_cast<std::size_t>(c.out[0].count()) * size_of(c.out[0].dtype));
  visit_dtype(c.out[0].dtype, [&](auto zero) { add_rows<decltype(zero)>(c); });
}

}  // namespace

const Op gather_op =
    linear({.name = "gather",
            .doc = "Slices along an axis, by index.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<GatherAttrs>(),
            .inputs = 2,
            .differentiable = 1,
            .infer =
                [](const Call& c, Avals& out) {
                  const int axis = c.get<GatherAttrs>().axis;
                  check_index_dtype(c, 1);
                  check_axis(c, axis, c.shape(0).rank());
                  const Shape &params = c.shape(0), &indices = c.shape(1);
                  Shape shape;
                  for (int i = 0; i < axis; ++i) shape.push_back(params[i]);
                  for (std::int64_t n : indices) shape.push_back(n);
                  for (int i = axis + 1; i < params.rank(); ++i) shape.push_back(params[i]);
                  out.push_back({c.in[0].dtype, shape});
                },
            .kernel = gather_kernel,
            .batch =
                [](const BatchCall& c) {
                  GatherAttrs attrs = c.get<GatherAttrs>();
                  if (!c.is_batched(1)) {
                    ++attrs.axis;
                    return Tensors{c.op({c.in[0], c.in[1]}, attrs)};
                  }
                  return batch_loop(c);
                },
            .samples =
                [] {
                  return std::vector<Sample>{
                      sample<GatherAttrs>({{{4, 3}}, {{2, 2}, 0, 4, Fill::integer}}, {0}),
                      sample<GatherAttrs>({{{2, 5}}, {{3}, 0, 5, Fill::integer}}, {1})};
                },
            .like = "numpy.take"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             const int axis = s.get<GatherAttrs>().axis;
             const Shape& shape = s.shape(0);
             if (axis == 0) {
               Shape rows{s.in[1].num_elements()};
               for (int i = 1; i < shape.rank(); ++i) rows.push_back(shape[i]);
               return Cotangent::rows(reshape(s.in[1], {-1}), reshape(ct, rows), shape);
             }
             // Bring the gathered axes to the front, add rows there, and bring the axis back.
             const int index_rank = s.args[1].shape.rank();
             Ints to_front, back;
             for (int i = 0; i < index_rank; ++i) to_front.push_back(axis + i);
             for (int i = 0; i < ct.rank(); ++i)
               if (i < axis || i >= axis + index_rank) to_front.push_back(i);
             Shape moved{shape[axis]};
             for (int i = 0; i < shape.rank(); ++i)
               if (i != axis) moved.push_back(shape[i]);
             for (int i = 1; i <= axis; ++i) back.push_back(i);
             back.push_back(0);
             for (int i = axis + 1; i < shape.rank(); ++i) back.push_back(i);
             Shape rows = moved;
             rows[0] = s.in[1].num_elements();
             const Tensor values = reshape(transpose(ct, to_front), rows);
             return transpose(scatter_rows(reshape(s.in[1], {-1}), values, moved), back);
           });

const Op scatter_rows_op =
    linear({.name = "scatter_rows",
            .doc = "Zeros with values added to some rows; repeated indices add up.",
            .dtypes = kNumeric,
            .attrs = &attr_type<ScatterAttrs>(),
            .inputs = 2,
            .differentiable = 2,
            .infer =
                [](const Call& c, Avals& out) {
                  const Shape& shape = c.get<ScatterAttrs>().shape;
                  check_index_dtype(c, 0);
                  check_sizes(c, "shape", shape);
                  check_axis(c, 0, shape.rank());
                  Shape values = c.shape(0);
                  for (int i = 1; i < shape.rank(); ++i) values.push_back(shape[i]);
                  check_operand_shape(c, 1, values);
                  out.push_back({c.in[1].dtype, shape});
                },
            .kernel = scatter_kernel,
            .batch = batch_loop,
            .samples =
                [] {
                  return std::vector<Sample>{
                      sample<ScatterAttrs>({{{3}, 0, 4, Fill::integer}, {{3, 2}}}, {{4, 2}})};
                },
            .like = "tensorflow.IndexedSlices"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent { return gather(ct, s.in[0]); });

Tensor gather(In params, In indices, int axis) {
  if (params->rank() == 0)
    fail<InvalidArgumentError>("[gather] params must have an axis, got a scalar");
  return gather_op({params, indices}, GatherAttrs{normal_axis("gather", axis, params->rank())});
}

Tensor scatter_rows(In indices, In values, const Shape& shape) {
  return scatter_rows_op({indices, values}, ScatterAttrs{shape});
}

}  // namespace gradus
