// Tensors repeated, reversed and rolled.
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/scan.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct ReverseAttrs {
  Ints axes;
  static auto fields() { return attr_fields(attr("axes", &ReverseAttrs::axes)); }
};

struct RollAttrs {
  Ints shifts;  // one per axis
  static auto fields() { return attr_fields(attr("shifts", &RollAttrs::shifts)); }
};

// The product of sizes [first, last).
Size product(const Shape& shape, int first, int last) {
  Size n = 1;
  for (int i = first; i < last; ++i) n = n * shape[i];
  return n;
}

// x, whose elements are seen as [outer, inner], with each of its outer parts `times` in a row.
Tensor repeat_parts(const Tensor& x, Size outer, Size inner, Size times, const Shape& shape) {
  if (is_same(times, 1)) return reshape(x, shape);
  return reshape(broadcast_to(reshape(x, {outer, 1, inner}), {outer, times, inner}), shape);
}

}  // namespace

const Op reverse_op = linear(
    {.name = "reverse",
     .doc = "Some axes backwards.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<ReverseAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           check_axes(c, c.get<ReverseAttrs>().axes, c.shape(0).rank());
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           std::uint64_t mask = 0;
           for (std::int64_t axis : c.get<ReverseAttrs>().axes) mask |= std::uint64_t{1} << axis;
           kernels::reverse(size_of(c.in[0].dtype), c.in[0].data, c.shape(0).numbers().data(),
                            c.shape(0).rank(), mask, c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           ReverseAttrs attrs = c.get<ReverseAttrs>();
           for (int i = 0; i < attrs.axes.rank(); ++i) ++attrs.axes[i];
           return c.op.run(c.in, &attrs);
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<ReverseAttrs>({{{3, 4}}}, {{1}}),
                                      sample<ReverseAttrs>({{{2, 3, 2}}}, {{0, 2}}),
                                      sample<ReverseAttrs>({{{}}}, {{}})};
         },
     .like = "numpy.flip"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return reverse(ct, s.get<ReverseAttrs>().axes);
    });

const Op roll_op =
    linear({.name = "roll",
            .doc = "Elements moved along axes; what falls out at one end comes in at the other.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<RollAttrs>(),
            .infer =
                [](const Call& c, Avals& out) {
                  check_numbers(c, "the shifts", c.get<RollAttrs>().shifts, c.shape(0).rank(),
                                -(std::int64_t{1} << 30));
                  out.push_back({c.in[0].dtype, c.shape(0)});
                },
            .kernel =
                [](const KernelCall& c) {
                  Ints shifts = c.get<RollAttrs>().shifts;
                  for (int i = 0; i < shifts.rank(); ++i) {
                    const std::int64_t n = std::max<std::int64_t>(1, c.shape(0)[i]);
                    shifts[i] = (shifts[i] % n + n) % n;
                  }
                  kernels::roll(size_of(c.in[0].dtype), c.in[0].data, c.shape(0).numbers().data(),
                                c.shape(0).rank(), shifts.numbers().data(), c.out[0].data);
                },
            .batch =
                [](const BatchCall& c) {
                  RollAttrs attrs = c.get<RollAttrs>();
                  attrs.shifts.insert(0, 0);
                  return c.op.run(c.in, &attrs);
                },
            .samples =
                [] {
                  return std::vector<Sample>{sample<RollAttrs>({{{3, 4}}}, {{1, -6}}),
                                             sample<RollAttrs>({{{0}}}, {{2}})};
                },
            .like = "numpy.roll"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             RollAttrs attrs = s.get<RollAttrs>();
             for (int i = 0; i < attrs.shifts.rank(); ++i) attrs.shifts[i] = -attrs.shifts[i];
             return s.op({ct}, attrs);
           });

Tensor reverse(In x, const Shape& axes) {
  return reverse_op({x}, ReverseAttrs{normal_axes("reverse", axes, x->rank())});
}

Tensor roll(In x, const Shape& shift, const Shape& axis) {
  if (shift.rank() != axis.rank()) {
    fail<InvalidArgumentError>("[roll] got ", shift.rank(), " shifts for ", axis.rank(),
                               " axes; give one shift per axis");
  }
  RollAttrs attrs;
  for (int i = 0; i < x->rank(); ++i) attrs.shifts.push_back(0);
  for (int i = 0; i < axis.rank(); ++i)
    attrs.shifts[normal_axis("roll", axis[i], x->rank())] += shift[i];
  return roll_op({x}, attrs);
}

Tensor roll_by(In x, const Tensor& shift, int axis) {
  if (!is_integer(shift.dtype()) || shift.rank() != 0) {
    fail<InvalidArgumentError>("[roll] got a shift of ", name_of(shift.dtype()), " and shape ",
                               shift.shape(), "; a scalar integer was expected");
  }
  const int at = normal_axis("roll", axis, x->rank());
  const Size size = x->shape()[at];
  const Tensor places = floormod(iota(size) - cast(shift, int64), maximum(dynamic_size(size), 1));
  // Behind another axis: the gradient of rows of axis 0 would be sparse.
  return squeeze(gather(expand_dims(x, 0), places, at + 1), {0});
}

Tensor tile(In x, const Shape& multiples) {
  if (multiples.rank() != x->rank()) {
    fail<InvalidArgumentError>("[tile] got multiples ", multiples, " for a tensor of shape ",
                               x->shape(), "; give one number per axis");
  }
  Tensor result = x;
  for (int i = x->rank() - 1; i >= 0; --i) {
    if (is_same(multiples[i], 1)) continue;
    if (multiples[i] < 0 && multiples[i].is_known())
      fail<InvalidArgumentError>("[tile] multiples ", multiples, " are negative");
    Shape shape = result.shape();
    shape[i] = shape[i] * multiples[i];
    result = repeat_parts(result, product(result.shape(), 0, i),
                          product(result.shape(), i, x->rank()), multiples[i], shape);
  }
  return result;
}

Tensor repeat(In x, Size repeats) {
  return repeat(reshape(x, {num_elements(x->shape())}), repeats, 0);
}

Tensor repeat(In x, Size repeats, int axis) {
  if (repeats < 0 && repeats.is_known())
    fail<InvalidArgumentError>("[repeat] repeats ", repeats, " is negative");
  const int at = normal_axis("repeat", axis, x->rank());
  Shape shape = x->shape();
  shape[at] = shape[at] * repeats;
  return repeat_parts(x, product(x->shape(), 0, at + 1), product(x->shape(), at + 1, x->rank()),
                      repeats, shape);
}

Tensor repeat(In x, const std::vector<std::int64_t>& repeats, int axis) {
  if (repeats.size() == 1) return repeat(x, repeats[0], axis);
  const int at = normal_axis("repeat", axis, x->rank());
  if (static_cast<std::int64_t>(repeats.size()) != x->shape()[at]) {
    fail<InvalidArgumentError>("[repeat] got ", repeats.size(), " repeats for axis ", at,
                               " of shape ", x->shape(), "; give one per element, or one for all");
  }
  std::vector<std::int64_t> sources;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) fail<InvalidArgumentError>("[repeat] repeats[", i, "] is negative");
    sources.insert(sources.end(), static_cast<std::size_t>(repeats[i]),
                   static_cast<std::int64_t>(i));
  }
  // Behind another axis: the gradient of rows of axis 0 would be sparse.
  return squeeze(gather(expand_dims(x, 0), Tensor::from(sources), at + 1), {0});
}

Tensor repeat_each(In x, const Tensor& repeats, int axis) {
  if (!is_integer(repeats.dtype()) || repeats.rank() > 1) {
    fail<InvalidArgumentError>("[repeat] got repeats of ", name_of(repeats.dtype()), " and shape ",
                               repeats.shape(), "; an integer or a vector of them was expected");
  }
  if (is_concrete(repeats) && repeats.rank() == 1)
    return repeat(x, cast(repeats, int64).to_vector<std::int64_t>(), axis);
  const int at = normal_axis("repeat", axis, x->rank());
  if (repeats.rank() == 0 || is_same(repeats.shape()[0], 1))
    return repeat(x, to_size(reshape(repeats, {})), at);
  if (!sizes_agree(repeats.shape()[0], x->shape()[at])) {
    fail<InvalidArgumentError>("[repeat] got ", repeats.shape()[0], " repeats for axis ", at,
                               " of shape ", x->shape(), "; give one per element, or one for all");
  }
  const Tensor times = cast(repeats, int64), ends = cumsum(times);
  const Size total = to_size(where(reduce_any(less(times, 0)), -1, reduce_sum(times)));
  const Tensor sources = searchsorted(ends, iota(total), Side::right, int64);
  return squeeze(gather(expand_dims(x, 0), sources, at + 1), {0});
}

}  // namespace gradus
