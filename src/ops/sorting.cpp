// Orders along an axis. Records work along the last one; other axes are moved there and back.
#include "gradus/sorting.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/sort.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct SortAttrs {
  Direction direction = Direction::ascending;
  static auto fields() { return attr_fields(attr("direction", &SortAttrs::direction)); }
};

struct TopKAttrs {
  Size k = 1;
  static auto fields() { return attr_fields(attr("k", &TopKAttrs::k)); }
};

struct SearchAttrs {
  Side side = Side::left;
  DType out_type = int32;
  static auto fields() {
    return attr_fields(attr("side", &SearchAttrs::side), attr("out_type", &SearchAttrs::out_type));
  }
};

std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
  return rows;
}

// The elements of t at positions along the last axis. All of them are few: the gradient of a row
// alone is no list of rows.
Tensor take(const Tensor& t, const Tensor& positions) {
  if (t.rank() == 1) return squeeze(take(expand_dims(t, 0), expand_dims(positions, 0)), {0});
  return gather(t, positions, t.rank() - 1, t.rank() - 1);
}

// Both results come from one run; the second has no tangent.
void jvp_take(const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
  out[0] = take(t[0], s.out[1]);
}
Reads reads_positions(const void*, std::uint32_t) { return {0, 2}; }

Tensor with_last(const Tensor& x, int axis) {
  if (axis == x.rank() - 1) return x;
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  order[axis] = x.rank() - 1;
  order[x.rank() - 1] = axis;
  return transpose(x, order);
}

Tensors run_sort(const char* what, const Tensor& x, int axis, Direction direction) {
  const int at = normal_axis(what, axis, x.rank());
  const SortAttrs attrs{direction};
  const Tensor moved = with_last(x, at);
  Tensors out = sort_op.run({&moved, 1}, &attrs);
  for (Tensor& t : out) t = with_last(t, at);
  return out;
}

}  // namespace

const Op sort_op = general(
    {.name = "sort",
     .doc = "The elements in order along the last axis, and where they were; NaN comes last.",
     .dtypes = kReal,
     .attrs = &attr_type<SortAttrs>(),
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           check_axis(c, c.shape(0).rank() - 1, c.shape(0).rank());
           out.push_back({c.in[0].dtype, c.shape(0)});
           out.push_back({int32, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           const bool up = c.get<SortAttrs>().direction == Direction::ascending;
           kernels::sort(up ? kernels::Direction::ascending : kernels::Direction::descending,
                         c.in[0].dtype, c.in[0].data, rows_of(c.shape(0)), c.shape(0).back(),
                         c.out[0].data, c.out[1].as<std::int32_t>());
         },
     .batch = batch_leading,
     .reads = reads_positions,
     .samples =
         [] {
           const auto arg = [](const Shape& s) { return SampleArg{s, -2, 2, Fill::distinct}; };
           return std::vector<Sample>{sample<SortAttrs>({arg({2, 5})}, {}),
                                      sample<SortAttrs>({arg({2, 3, 4})}, {Direction::descending}),
                                      sample<SortAttrs>({arg({1})}, {}),
                                      sample<SortAttrs>({arg({2, 0})}, {})};
         },
     .like = "numpy.sort"},
    jvp_take);

const Op top_k_op = general(
    {.name = "top_k",
     .doc = "The k largest elements along the last axis, largest first, and where they were.",
     .dtypes = kReal,
     .attrs = &attr_type<TopKAttrs>(),
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           const Size k = c.get<TopKAttrs>().k;
           Shape shape = c.shape(0);
           const int last = shape.rank() - 1;
           check_axis(c, last, shape.rank());
           if (!is_at_most(0, k) || !is_at_most(k, shape[last])) {
             fail<InvalidArgumentError>("[top_k] k is ", k, " for a tensor of shape ", shape,
                                        "; it must be at least 0 and at most the last size");
           }
           shape[last] = k;
           out.push_back({c.in[0].dtype, shape});
           out.push_back({int32, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           kernels::top_k(c.in[0].dtype, c.in[0].data, rows_of(c.shape(0)), c.shape(0).back(),
                          c.get<TopKAttrs>().k, c.out[0].data, c.out[1].as<std::int32_t>());
         },
     .batch = batch_leading,
     .reads = reads_positions,
     .samples =
         [] {
           const auto arg = [](const Shape& s) { return SampleArg{s, -2, 2, Fill::distinct}; };
           return std::vector<Sample>{sample<TopKAttrs>({arg({2, 5})}, {2}),
                                      sample<TopKAttrs>({arg({4})}, {4}),
                                      sample<TopKAttrs>({arg({3, 2})}, {0})};
         },
     .like = "tensorflow.math.top_k"},
    jvp_take);

const Op searchsorted_op = not_differentiable(
    {.name = "searchsorted",
     .doc = "Where values belong in sorted rows: how many elements are below (or not above) them.",
     .dtypes = kReal,
     .attrs = &attr_type<SearchAttrs>(),
     .inputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           const Shape &sorted = c.shape(0), &values = c.shape(1);
           bool fits = sorted.rank() > 0 && sorted.rank() == values.rank() &&
                       c.in[0].dtype == c.in[1].dtype;
           for (int i = 0; fits && i + 1 < sorted.rank(); ++i)
             fits = sizes_agree(sorted[i], values[i]);
           if (!fits) {
             fail<InvalidArgumentError>(
                 "[searchsorted] got a sorted_sequence of shape ", sorted, " and dtype ",
                 name_of(c.in[0].dtype), " and values of shape ", values, " and dtype ",
                 name_of(c.in[1].dtype), "; all axes but the last and the dtype must agree");
           }
           const DType out_type = c.get<SearchAttrs>().out_type;
           if (out_type != int32 && out_type != int64) {
             fail<InvalidArgumentError>("[searchsorted] out_type ", name_of(out_type),
                                        " cannot hold positions; use int32 or int64");
           }
           out.push_back({out_type, values});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<SearchAttrs>();
           kernels::search_sorted(p.side == Side::left ? kernels::Side::left : kernels::Side::right,
                                  c.in[0].dtype, c.in[0].data, rows_of(c.shape(0)),
                                  c.shape(0).back(), c.in[1].data, c.shape(1).back(), p.out_type,
                                  c.out[0].data);
         },
     .batch = batch_leading,
     .samples =
         [] {
           const SampleArg sorted{{3, 1}}, values{{3, 4}};
           return std::vector<Sample>{sample<SearchAttrs>({sorted, values}, {}),
                                      sample<SearchAttrs>({{{0}}, {{2}}}, {Side::right, int64})};
         },
     .like = "numpy.searchsorted"},
    "positions are integers");

Tensor sort(In values, int axis, Direction direction) {
  return run_sort("sort", values, axis, direction)[0];
}
Tensor argsort(In values, int axis, Direction direction) {
  return run_sort("argsort", values, axis, direction)[1];
}
TopK top_k(In input, Size k) {
  const TopKAttrs attrs{k};
  const Tensors out = top_k_op.run({&input.tensor(), 1}, &attrs);
  return {out[0], out[1]};
}
Tensor searchsorted(In sorted_sequence, In values, Side side, DType out_type) {
  return searchsorted_op({sorted_sequence, values}, SearchAttrs{side, out_type});
}

}  // namespace gradus
