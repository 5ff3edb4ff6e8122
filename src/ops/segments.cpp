#include "gradus/segments.h"

#include <complex>
#include <limits>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/scan.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
#include "graph/symbols.h"
#include "kernels/scatter.h"
#include "ops/checks.h"
#include "ops/indices.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using kernels::ScatterOp;

struct SegmentAttrs {
  Size num_segments = 0;
  static auto fields() { return attr_fields(attr("num_segments", &SegmentAttrs::num_segments)); }
};

// What one element of `data` has beyond its id.
Shape row_shape(const Shape& data, const Shape& ids) {
  Shape row;
  for (int i = ids.rank(); i < data.rank(); ++i) row.push_back(data[i]);
  return row;
}

void infer_segments(const Call& c, Avals& out) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  const Size n = c.get<SegmentAttrs>().num_segments;
  check_index_dtype(c, 1);
  bool fits = ids.rank() <= data.rank() && (n >= 0 || !n.is_known());
  for (int i = 0; fits && i < ids.rank(); ++i) fits = sizes_agree(ids[i], data[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got data of shape ", data,
                               ", segment_ids of shape ", ids, " and ", n,
                               " segments; the data's shape must begin with that of the ids");
  }
  Shape shape = row_shape(data, ids);
  shape.insert(0, n);
  out.push_back({c.in[0].dtype, shape});
}

// What an empty segment holds.
template <ScatterOp S, class T>
T empty_value() {
  if constexpr (S == ScatterOp::multiply) {
    return T(1.0f);
  } else if constexpr (S == ScatterOp::add || is_complex(dtype_v<T>)) {
    return T(0.0f);
  } else if constexpr (std::is_same_v<T, half>) {
    return T(S == ScatterOp::maximum ? -65504.0f : 65504.0f);
  } else if constexpr (std::is_same_v<T, bfloat>) {
    const float largest = 0x1.fep127f;
    return T(S == ScatterOp::maximum ? -largest : largest);
  } else {
    using Limits = std::numeric_limits<T>;
    return S == ScatterOp::maximum ? Limits::lowest() : Limits::max();
  }
}

template <ScatterOp S>
void segment_kernel(const KernelCall& c) {
  const std::int64_t segments = c.get<SegmentAttrs>().num_segments;
  check_indices(c.op.name(), c.in[1], segments, true);
  if (c.out[0].count() == 0) return;
  const std::int64_t width = row_shape(c.shape(0), c.shape(1)).num_elements();
  visit_dtype(c.in[0].dtype, [&](auto zero) {
    const auto empty = empty_value<S, decltype(zero)>();
    kernels::scatter_into_empty(S, c.in[0].dtype, c.in[1].dtype, c.in[1].data, c.in[0].data,
                                {c.in[1].count(), width, segments}, &empty, c.out[0].data);
  });
}

// One run for the whole batch, each example with its own segments.
Tensors batch_segments(const BatchCall& c) {
  const Tensors in = all_batched(c);
  const Size n = c.get<SegmentAttrs>().num_segments;
  const Tensor ids = rows_of_batch(in[1], n);
  const Shape row = row_shape(in[0].shape(), in[1].shape());
  Shape flat = row, whole = row;
  flat.insert(0, ids.shape()[0]);
  whole.insert(0, n);
  whole.insert(0, c.size);
  const SegmentAttrs attrs{c.size * n};
  return {reshape(c.op({reshape(in[0], flat), ids}, attrs), whole)};
}

// Without empty segments where those hold the largest number, beside which differences are lost.
template <ScatterOp S>
std::vector<Sample> segment_samples() {
  const auto ids = [](const Shape& shape, double limit) {
    return SampleArg{shape, -1, limit, Fill::integer};
  };
  const auto data = [](const Shape& shape) { return SampleArg{shape, -2, 2, Fill::distinct}; };
  if (S == ScatterOp::maximum || S == ScatterOp::minimum) {
    return {sample<SegmentAttrs>({data({9, 2}), ids({9}, 2)}, {2}),
            sample<SegmentAttrs>({data({2, 3}), ids({2, 3}, 1)}, {1}),
            sample<SegmentAttrs>({data({0, 2}), ids({0}, 1)}, {0})};
  }
  return {sample<SegmentAttrs>({data({6, 2}), ids({6}, 3)}, {3}),
          sample<SegmentAttrs>({data({2, 3}), ids({2, 3}, 2)}, {4}),
          sample<SegmentAttrs>({data({4}), ids({}, 2)}, {2}),
          sample<SegmentAttrs>({data({0, 2}), ids({0}, 2)}, {2})};
}

template <ScatterOp S>
OpInfo info(const char* name, const char* doc, DTypes dtypes) {
  return {.name = name,
          .doc = doc,
          .dtypes = dtypes,
          .attrs = &attr_type<SegmentAttrs>(),
          .inputs = 2,
          .differentiable = 1,
          .infer = infer_segments,
          .kernel = segment_kernel<S>,
          .batch = batch_segments,
          .samples = segment_samples<S>,
          .checks_values = true};
}

// ids as a mask or column against rows of data.
Tensor against(const Tensor& ids, int rank) {
  Shape column = ids.shape();
  while (column.rank() < rank) column.push_back(1);
  return reshape(ids, column);
}

// For each element of data, the row of its segment; zeros for those that belong to none.
Tensor spread(const Tensor& segments, const Tensor& ids, int rank) {
  if (!segments.shape()[0].is_known()) {
    // There may be none, and then no id of one; a row more is there to be looked at.
    Paddings one_more(static_cast<std::size_t>(segments.rank()), {0, 0});
    one_more[0] = {0, 1};
    return where(against(less(ids, 0), rank), 0, gather(pad(segments, one_more), maximum(ids, 0)));
  }
  if (segments.shape()[0] == 0) {
    Shape shape = segments.shape();
    shape.erase(0);
    for (int i = ids.rank(); i-- > 0;) shape.insert(0, ids.shape()[i]);
    return zeros(shape, segments.dtype());
  }
  return where(against(less(ids, 0), rank), 0, gather(segments, maximum(ids, 0)));
}

Tensors chosen(const Site& s) {
  const Tensor &data = s.in[0], &ids = s.in[1];
  const Tensor equals = equal(data, spread(s.out[0], ids, data.rank()));
  const Tensor mask = logical_and(logical_or(equals, not_equal(data, data)),
                                  against(greater_equal(ids, 0), data.rank()));
  const Tensor count =
      unsorted_segment_sum(cast(mask, data.dtype()), ids, s.get<SegmentAttrs>().num_segments);
  return {mask, maximum(count, 1)};
}

Tensor mean_of_chosen(const Site& s, const Tensors& residual, const Tensor& t) {
  return unsorted_segment_sum(where(residual[0], t, 0), s.in[1],
                              s.get<SegmentAttrs>().num_segments) /
         residual[1];
}

// For every row, the product of the others of its segment. In the order of the ids, what comes
// before it in its segment and what comes after it are recurrences that start anew with each.
Tensor product_of_others(const Tensor& data, const Tensor& ids) {
  const Size n = num_elements(ids.shape());
  Shape flat = row_shape(data.shape(), ids.shape());
  flat.insert(0, n);
  const Tensor order = argsort(reshape(ids, {n}));
  const Tensor x = gather(reshape(data, flat), order), id = gather(reshape(ids, {n}), order);
  const auto running = [&](bool reverse) {
    const Shape all = x.shape();
    // The neighbour that comes first, in the direction of the walk; the first has none.
    const Tensor neighbour = roll(id, {reverse ? -1 : 1}, {0});
    const Tensor edge = equal(iota(n), dynamic_size(reverse ? n - 1 : Size(0)));
    const Tensor starts =
        broadcast_to(against(logical_or(edge, not_equal(id, neighbour)), x.rank()), all);
    const Tensor factors = where(starts, 0, roll(x, {reverse ? -1 : 1}, {0}));
    return linear_recurrence(factors, cast(starts, x.dtype()), 0, reverse);
  };
  return reshape(gather(running(false) * running(true), argsort(order)), data.shape());
}

Tensor run(const Op& op, const Tensor& data, const Tensor& ids, Size num_segments) {
  return op({data, ids}, SegmentAttrs{num_segments});
}

}  // namespace

const Op unsorted_segment_sum_op = linear(
    info<ScatterOp::add>("unsorted_segment_sum", "Sums of the rows of each segment.", kNumeric),
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return spread(ct, s.in[1], s.shape(0).rank());
    });

const Op unsorted_segment_max_op =
    selecting(info<ScatterOp::maximum>(
                  "unsorted_segment_max",
                  "The largest elements of each segment; ties share the gradient.", kReal),
              chosen, mean_of_chosen);
const Op unsorted_segment_min_op =
    selecting(info<ScatterOp::minimum>(
                  "unsorted_segment_min",
                  "The smallest elements of each segment; ties share the gradient.", kReal),
              chosen, mean_of_chosen);

const Op unsorted_segment_prod_op = general(
    info<ScatterOp::multiply>("unsorted_segment_prod",
                              "Products of the rows of each segment; the gradient is exact with "
                              "any number of zeros.",
                              kNumeric),
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = unsorted_segment_sum(t[0] * product_of_others(s.in[0], s.in[1]), s.in[1],
                                    s.get<SegmentAttrs>().num_segments);
    });

Tensor unsorted_segment_sum(In data, In segment_ids, Size num_segments) {
  return run(unsorted_segment_sum_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_prod(In data, In segment_ids, Size num_segments) {
  return run(unsorted_segment_prod_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_max(In data, In segment_ids, Size num_segments) {
  return run(unsorted_segment_max_op, data, segment_ids, num_segments);
}
Tensor unsorted_segment_min(In data, In segment_ids, Size num_segments) {
  return run(unsorted_segment_min_op, data, segment_ids, num_segments);
}

namespace {

// How many rows each segment has, at least 1, as a column against rows of data.
Tensor counts(const Tensor& data, const Tensor& ids, Size num_segments) {
  const Tensor n = unsorted_segment_sum(ones(ids.shape(), data.dtype()), ids, num_segments);
  return against(maximum(n, 1), data.rank() - ids.rank() + 1);
}

// The number of segments of sorted ids, which are checked.
Size sorted_segments(const char* op, const Tensor& ids) {
  check_index_dtype(op, ids.dtype());
  if (ids.rank() != 1)
    fail<InvalidArgumentError>("[", op, "] segment_ids of shape ", ids.shape(), " are no vector");
  if (!is_concrete(ids)) {  // no size at all if they are not sorted
    const Tensor numbers = cast(ids, int64), before = roll(numbers, {1}, {0});
    const Tensor is_first = equal(iota(ids.shape()[0]), 0);
    const Tensor falls = less(numbers, where(is_first, 0, before));
    return to_size(where(reduce_any(falls), -1, maximum(reduce_max(numbers), -1) + 1));
  }
  const std::vector<std::int64_t> values = cast(ids, int64).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < (i ? values[i - 1] : 0)) {
      fail<InvalidArgumentError>("[", op, "] segment_ids[", i, "] = ", values[i],
                                 "; they must start at 0 or above and never decrease");
    }
  }
  return values.empty() ? 0 : values.back() + 1;
}

Tensor zero_where_empty(const Tensor& result, const Tensor& ids, Size num_segments) {
  const Tensor n = unsorted_segment_sum(ones(ids.shape(), int32), ids, num_segments);
  return where(against(equal(n, 0), result.rank()), 0, result);
}

}  // namespace

Tensor unsorted_segment_mean(In data, In segment_ids, Size num_segments) {
  return unsorted_segment_sum(data, segment_ids, num_segments) /
         counts(data, segment_ids, num_segments);
}
Tensor unsorted_segment_sqrt_n(In data, In segment_ids, Size num_segments) {
  return unsorted_segment_sum(data, segment_ids, num_segments) /
         sqrt(counts(data, segment_ids, num_segments));
}

Tensor segment_sum(In data, In segment_ids) {
  return unsorted_segment_sum(data, segment_ids, sorted_segments("segment_sum", segment_ids));
}
Tensor segment_mean(In data, In segment_ids) {
  return unsorted_segment_mean(data, segment_ids, sorted_segments("segment_mean", segment_ids));
}
Tensor segment_prod(In data, In segment_ids) {
  return unsorted_segment_prod(data, segment_ids, sorted_segments("segment_prod", segment_ids));
}
Tensor segment_max(In data, In segment_ids) {
  const Size n = sorted_segments("segment_max", segment_ids);
  return zero_where_empty(unsorted_segment_max(data, segment_ids, n), segment_ids, n);
}
Tensor segment_min(In data, In segment_ids) {
  const Size n = sorted_segments("segment_min", segment_ids);
  return zero_where_empty(unsorted_segment_min(data, segment_ids, n), segment_ids, n);
}

}  // namespace gradus
