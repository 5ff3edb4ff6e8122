// Blocks of tensors: slice, pad, concat and transpose, all of them one strided copy.
#include "base/check.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/strided_copy.h"
#include "ops/axes.h"
#include "ops/batch_along_axis.h"
#include "ops/checks.h"
#include "ops/moves.h"
#include "ops/records.h"

namespace gradus {
namespace {

using kernels::CopyAxis;

// Byte steps of a row-major array, outermost axis first.
void steps_of(const Shape& shape, std::size_t element, std::int64_t* steps) {
  auto step = static_cast<std::int64_t>(element);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    steps[i] = step;
    step *= shape[i];
  }
}

char* at(const View& v, const std::int64_t* steps, const Ints& position) {
  char* p = v.as<char>();
  for (int i = 0; i < position.rank(); ++i) p += position[i] * steps[i];
  return p;
}

// Copies the block of `size` at position `from` of one array to position `to` of another.
void copy_block(const View& in, const Ints& from, const View& out, const Ints& to,
                const Shape& size) {
  std::int64_t in_steps[kMaxRank], out_steps[kMaxRank];
  steps_of(*in.shape, size_of(in.dtype), in_steps);
  steps_of(*out.shape, size_of(out.dtype), out_steps);
  CopyAxis axes[kMaxRank];
  for (int i = 0; i < size.rank(); ++i) axes[i] = {size[i], in_steps[i], out_steps[i]};
  kernels::strided_copy(size_of(in.dtype), at(in, in_steps, from), at(out, out_steps, to), axes,
                        size.rank());
}

struct SliceAttrs {
  Ints begin;
  Shape size;
  static auto fields() {
    return attr_fields(attr("begin", &SliceAttrs::begin), attr("size", &SliceAttrs::size));
  }
};

struct PermutationAttrs {
  Ints permutation;
  static auto fields() { return attr_fields(attr("permutation", &PermutationAttrs::permutation)); }
};

struct PadAttrs {
  Ints before, after;
  static auto fields() {
    return attr_fields(attr("before", &PadAttrs::before), attr("after", &PadAttrs::after));
  }
};

struct AxisAttrs {
  int axis = 0;
  static auto fields() { return attr_fields(attr("axis", &AxisAttrs::axis)); }
};

// Whether a block lies inside a tensor, as far as sizes are known.
bool is_block(const Ints& begin, const Shape& size, const Shape& shape) {
  if (begin.rank() != shape.rank() || size.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!is_size(begin[i]) || !is_size(size[i])) return false;
    const Size end = begin[i] + size[i];
    if (end.is_known() && shape[i].is_known() && end > shape[i]) return false;
  }
  return true;
}

Ints zeros_of(int rank) {
  Ints z;
  for (int i = 0; i < rank; ++i) z.push_back(0);
  return z;
}

}  // namespace

std::int64_t piece_of_block(const Ints& begin, const Shape& size, const Shape& whole) {
  std::int64_t at = 0, step = 1;
  bool is_cut = false;  // along an axis further in: then the block has one element along others
  for (int i = whole.rank() - 1; i >= 0; --i) {
    if (!begin[i].is_known() || !size[i].is_known() || !whole[i].is_known()) return -1;
    if (is_cut && size[i] != 1) return -1;
    is_cut |= size[i] != whole[i];
    at += begin[i] * step;
    step *= whole[i];
  }
  return at;
}

const Op slice_op = linear(
    {.name = "slice",
     .doc = "The block of the given size that starts at `begin`.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<SliceAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<SliceAttrs>();
           if (!is_block(p.begin, p.size, c.shape(0))) {
             fail<InvalidArgumentError>("[slice] begin ", p.begin, " and size ", p.size,
                                        " do not describe a block of a tensor of shape ",
                                        c.shape(0));
           }
           out.push_back({c.in[0].dtype, p.size});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<SliceAttrs>();
           copy_block(c.in[0], p.begin, c.out[0], zeros_of(p.size.rank()), p.size);
         },
     .batch =
         [](const BatchCall& c) {
           SliceAttrs attrs = c.get<SliceAttrs>();
           attrs.begin.insert(0, 0);
           attrs.size.insert(0, c.size);
           return c.op.run(c.in, &attrs);
         },
     .piece =
         [](const Call& c, int) {
           const auto& p = c.get<SliceAttrs>();
           return piece_of_block(p.begin, p.size, c.shape(0));
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<SliceAttrs>({{{4, 5}}}, {{1, 0}, {2, 5}}),
                                      sample<SliceAttrs>({{{3, 4, 2}}}, {{2, 1, 0}, {1, 2, 2}}),
                                      sample<SliceAttrs>({{{3, 4}}}, {{0, 1}, {3, 2}}),
                                      sample<SliceAttrs>({{{3}}}, {{3}, {0}})};
         },
     .like = "tensorflow.slice"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      const auto& p = s.get<SliceAttrs>();
      Ints after;
      for (int i = 0; i < p.size.rank(); ++i) {
        after.push_back(s.shape(0)[i] - p.begin[i] - p.size[i]);
      }
      return pad_zeros(ct, p.begin, after);
    });

const Op pad_zeros_op = linear(
    {.name = "pad_zeros",
     .doc = "Zeros before and after along every axis.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<PadAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<PadAttrs>();
           Shape shape = c.shape(0);
           check_sizes(c, "before", p.before);
           check_sizes(c, "after", p.after);
           if (p.before.rank() != shape.rank() || p.after.rank() != shape.rank()) {
             fail<InvalidArgumentError>("[pad_zeros] got before ", p.before, " and after ", p.after,
                                        "; expected one number for each axis of ", shape);
           }
           for (int i = 0; i < shape.rank(); ++i) {
             shape[i] = shape[i] + p.before[i] + p.after[i];
           }
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<PadAttrs>();
           const std::uint64_t zero[2] = {0, 0};
           kernels::fill(size_of(c.out[0].dtype), zero, c.out[0].count(), c.out[0].data);
           copy_block(c.in[0], zeros_of(p.before.rank()), c.out[0], p.before, c.shape(0));
         },
     .batch =
         [](const BatchCall& c) {
           PadAttrs attrs = c.get<PadAttrs>();
           attrs.before.insert(0, 0);
           attrs.after.insert(0, 0);
           return c.op.run(c.in, &attrs);
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<PadAttrs>({{{2, 3}}}, {{1, 0}, {0, 2}}),
                                      sample<PadAttrs>({{{0}}}, {{1}, {1}})};
         },
     .like = "numpy.pad"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return slice(ct, s.get<PadAttrs>().before, s.shape(0));
    });

const Op concat_op = linear(
    {.name = "concat",
     .doc = "Tensors joined along an axis.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<AxisAttrs>(),
     .inputs = -1,
     .infer =
         [](const Call& c, Avals& out) {
           const int axis = c.get<AxisAttrs>().axis;
           Shape shape = c.shape(0);
           check_same_dtype(c);
           check_axis(c, axis, shape.rank());
           for (std::size_t i = 1; i < c.in.size(); ++i) {
             const Shape& part = *c.in[i].shape;
             bool fits = part.rank() == shape.rank();
             for (int a = 0; fits && a < shape.rank(); ++a)
               fits = a == axis || sizes_agree(part[a], shape[a]);
             if (!fits) {
               fail<InvalidArgumentError>("[concat] part ", i, " has shape ", part, ", part 0 has ",
                                          c.shape(0), "; they must agree except along axis ", axis);
             }
             shape[axis] = shape[axis] + part[axis];
           }
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           Ints to = zeros_of(c.out[0].shape->rank());
           const int axis = c.get<AxisAttrs>().axis;
           for (const View& part : c.in) {
             copy_block(part, zeros_of(to.rank()), c.out[0], to, *part.shape);
             to[axis] += (*part.shape)[axis];
           }
         },
     .batch = batch_along_axis<AxisAttrs>,
     .samples =
         [] {
           return std::vector<Sample>{sample<AxisAttrs>({{{2, 3}}, {{2, 1}}, {{2, 0}}}, {1}),
                                      sample<AxisAttrs>({{{2}}}, {0})};
         },
     .like = "numpy.concatenate"},
    [](const Site& s, int input, const Tensor& ct) -> Cotangent {
      const int axis = s.get<AxisAttrs>().axis;
      Ints begin = zeros_of(ct.rank());
      for (int i = 0; i < input; ++i) begin[axis] = begin[axis] + s.shape(i)[axis];
      return slice(ct, begin, s.shape(input));
    });

const Op transpose_op =
    linear({.name = "transpose",
            .doc = "The axes in another order.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<PermutationAttrs>(),
            .infer =
                [](const Call& c, Avals& out) {
                  const Ints& permutation = c.get<PermutationAttrs>().permutation;
                  const int rank = c.shape(0).rank();
                  for (std::int64_t axis : permutation) check_axis(c, axis, rank);
                  if (normal_axes("transpose", permutation, rank).rank() != rank) {
                    fail<InvalidArgumentError>("[transpose] ", permutation,
                                               " is not a permutation of the axes of a tensor of ",
                                               "shape ", c.shape(0));
                  }
                  Shape shape;
                  for (std::int64_t axis : permutation) {
                    shape.push_back(c.shape(0)[static_cast<int>(axis)]);
                  }
                  out.push_back({c.in[0].dtype, shape});
                },
            .kernel =
                [](const KernelCall& c) {
                  const Ints& permutation = c.get<PermutationAttrs>().permutation;
                  std::int64_t in_steps[kMaxRank], out_steps[kMaxRank];
                  steps_of(c.shape(0), size_of(c.in[0].dtype), in_steps);
                  steps_of(*c.out[0].shape, size_of(c.in[0].dtype), out_steps);
                  CopyAxis axes[kMaxRank];
                  for (int i = 0; i < permutation.rank(); ++i) {
                    axes[i] = {(*c.out[0].shape)[i], in_steps[permutation[i]], out_steps[i]};
                  }
                  kernels::strided_copy(size_of(c.in[0].dtype), c.in[0].data, c.out[0].data, axes,
                                        permutation.rank());
                },
            .batch =
                [](const BatchCall& c) {
                  PermutationAttrs attrs = c.get<PermutationAttrs>();
                  for (int i = 0; i < attrs.permutation.rank(); ++i) ++attrs.permutation[i];
                  attrs.permutation.insert(0, 0);
                  return c.op.run(c.in, &attrs);
                },
            .permutation = [](const void* attrs) -> const Ints& {
              return static_cast<const PermutationAttrs*>(attrs)->permutation;
            },
            .samples =
                [] {
                  return std::vector<Sample>{sample<PermutationAttrs>({{{2, 3, 4}}}, {{2, 0, 1}}),
                                             sample<PermutationAttrs>({{{}}}, {{}})};
                },
            .like = "numpy.transpose"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             const Ints& permutation = s.get<PermutationAttrs>().permutation;
             Ints inverse = permutation;
             for (int i = 0; i < permutation.rank(); ++i)
               inverse[static_cast<int>(permutation[i])] = i;
             return transpose(ct, inverse);
           });

Tensor pad_zeros(const Tensor& x, const Ints& before, const Ints& after) {
  return pad_zeros_op({x}, PadAttrs{before, after});
}

Tensor slice(In x, const Shape& begin, const Shape& size) {
  const Shape& shape = x->shape();
  SliceAttrs attrs{begin, size};
  for (int i = 0; i < std::min({shape.rank(), begin.rank(), size.rank()}); ++i)
    if (is_same(size[i], -1) && (!begin[i].is_known() || begin[i] >= 0))
      attrs.size[i] = shape[i] - begin[i];
  return slice_op({x}, attrs);
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) fail<InvalidArgumentError>("[concat] got no tensors");
  const AxisAttrs attrs{normal_axis("concat", axis, parts[0].rank())};
  return parts.size() == 1 ? parts[0] : concat_op(std::span<const Tensor>(parts), attrs);
}

Tensor transpose(In x, const Shape& permutation) {
  const int rank = x->rank();
  if (permutation.rank() != rank || normal_axes("transpose", permutation, rank).rank() != rank) {
    fail<InvalidArgumentError>("[transpose] ", permutation,
                               " is not a permutation of the axes of a ", "tensor of shape ",
                               x->shape());
  }
  PermutationAttrs attrs{permutation};
  for (int i = 0; i < rank; ++i)
    attrs.permutation[i] = normal_axis("transpose", permutation[i], rank);
  return transpose_op({x}, attrs);
}

Tensor transpose(In x) {
  Ints reversed;
  for (int i = x->rank() - 1; i >= 0; --i) reversed.push_back(i);
  return transpose(x, reversed);
}

Tensor expand_dims(In x, int axis) {
  Shape shape = x->shape();
  shape.insert(normal_axis("expand_dims", axis, x->rank() + 1), 1);
  return reshape(x, shape);
}

}  // namespace gradus
