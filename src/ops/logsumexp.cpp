// Logarithms of sums of exponentials, over axes and running, safe at any scale.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "expr/math.h"
#include "expr/math_parts.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/scan.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "kernels/scan.h"
#include "kernels/scratch.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/moves.h"
#include "ops/records.h"
#include "ops/reduce_attrs.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Exprs = RowKernel::Exprs;

// A row less its largest element, or as it is if that is no number to subtract.
struct Shifted {
  Expr largest, shift, exponential, total;
  explicit Shifted(Expr x)
      : largest(expr::row_max(x)),
        shift(select(expr::is_finite(largest), largest, 0)),
        exponential(expr::exp_of_nonpositive(x - shift)),
        total(expr::row_sum(exponential)) {}
};
const RowKernel logsumexp_rows({RowOperand::row}, {RowOperand::per_row}, [](const Exprs& in) {
  const Shifted row(in[0]);
  return Exprs{select(row.largest < kInfinity, expr::log(row.total) + row.shift, row.largest)};
});
// In a program with the sum itself all but the last step is computed once for both.
const RowKernel shares_rows({RowOperand::row}, {RowOperand::row}, [](const Exprs& in) {
  const Shifted row(in[0]);
  return Exprs{row.exponential * (1 / select(row.total == 0, 1, row.total))};
});

// Rows of the reduced axes, which are first moved to the end if they are not there.
void logsumexp_kernel(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const Ints& axes = c.get<ReduceAttrs>().axes;
  const std::int64_t rows = c.out[0].count();
  std::int64_t cols = 1;
  int order[kMaxRank], kept = 0;
  for (int i = 0, next = 0; i < shape.rank(); ++i) {
    if (next < axes.rank() && axes[next] == i) {
      ++next;
      cols *= shape[i];
    } else {
      order[kept++] = i;
    }
  }
  for (int i = 0; i < axes.rank(); ++i) order[kept + i] = static_cast<int>(axes[i]);
  if (cols == 0) {
    return visit_dtype(c.out[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (is_floating(dtype_v<T>))
        std::fill_n(c.out[0].as<T>(), rows, T(static_cast<float>(-kInfinity)));
    });
  }
  if (std::is_sorted(order, order + shape.rank())) return logsumexp_rows(rows, cols, c.in, c.out);
  kernels::Scratch moved(static_cast<std::size_t>(c.in[0].count()) * size_of(c.in[0].dtype));
  kernels::transpose(size_of(c.in[0].dtype), c.in[0].data, shape.numbers().data(), shape.rank(),
                     order, moved.data());
  const View in{moved.data(), c.in[0].shape, c.in[0].dtype};
  logsumexp_rows(rows, cols, {&in, 1}, c.out);
}

// y where it can be subtracted: the logarithm of an empty sum is -inf, and exp(-inf - 0) is the 0
// that a share of it should be.
Tensor subtractable(const Tensor& y) { return where(equal(y, -kInfinity), 0, y); }

struct RunningAttrs {
  int axis = 0;
  bool reverse = false;
  static auto fields() {
    return attr_fields(attr("axis", &RunningAttrs::axis), attr("reverse", &RunningAttrs::reverse));
  }
};

// y one step further along the axis, with -inf coming in: first longer, then cut, so that it is
// right for an axis of no elements too, whose size may be a symbol here.
Tensor before(const Tensor& y, int axis, bool reverse) {
  Ints begin;
  Paddings paddings;
  for (int i = 0; i < y.rank(); ++i) {
    begin.push_back(reverse && i == axis ? 1 : 0);
    paddings.emplace_back(!reverse && i == axis ? 1 : 0, reverse && i == axis ? 1 : 0);
  }
  return slice(pad(y, paddings, PadMode::constant, -kInfinity), begin, y.shape());
}

}  // namespace

const Op logsumexp_shares_op = composite(
    {.name = "logsumexp_shares",
     .doc = "exp(x - logsumexp(x)) along the last axis: what each element has of its sum.",
     .infer =
         [](const Call& c, Avals& out) {
           if (c.shape(0).rank() == 0)
             fail<InvalidArgumentError>("[logsumexp_shares] needs an axis, got a scalar");
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           const std::int64_t cols = c.shape(0).back();
           shares_rows(cols == 0 ? 0 : c.in[0].count() / cols, cols, c.in, c.out);
         },
     .batch = batch_leading,
     .expression = RowKernel::expression<shares_rows>,
     .row_axes = last_axis_is_row,
     .samples =
         [] {
           return std::vector<Sample>{{{{{3, 5}}}, nullptr},
                                      {{{{4}}}, nullptr},
                                      {{{{2, 3, 1}}}, nullptr},
                                      {{{{0, 3}}}, nullptr}};
         }},
    [](const void*, std::span<const Tensor> in) {
      return Tensors{exp(in[0] - subtractable(reduce_logsumexp(in[0], {-1}, true)))};
    });

namespace {

// The share of each element in its sum.
Tensor shares(const Site& s) {
  const Ints& axes = s.get<ReduceAttrs>().axes;
  if (trailing_axes(axes, s.shape(0).rank()) == 1) return logsumexp_shares_op(s.in[0]);
  return exp(s.in[0] - subtractable(with_axes(s.out[0], s.shape(0), axes)));
}

}  // namespace

const Op reduce_logsumexp_op = general(
    {.name = "reduce_logsumexp",
     .doc = "log(sum(exp(x))) over axes, safe at any scale; -inf over nothing.",
     .attrs = &attr_type<ReduceAttrs>(),
     .infer = infer_reduce,
     .kernel = logsumexp_kernel,
     .batch = batch_reduce,
     .expression = RowKernel::expression<logsumexp_rows>,
     .row_axes = trailing_axes_of,
     .samples = reduce_samples,
     .like = "scipy.special.logsumexp"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<ReduceAttrs>();
      out[0] = reduce_sum(shares(s) * t[0], p.axes, p.keepdims);
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[0] = shares(s) * with_axes(cts[0], s.shape(0), s.get<ReduceAttrs>().axes);
    });

// dy[i] = exp(y[i-1] - y[i]) dy[i-1] + exp(x[i] - y[i]) dx[i], in which no exponential exceeds 1.
const Op cumulative_logsumexp_op =
    general({.name = "cumulative_logsumexp",
             .doc = "The running log(sum(exp(x))) along an axis, safe at any scale.",
             .attrs = &attr_type<RunningAttrs>(),
             .infer =
                 [](const Call& c, Avals& out) {
                   check_axis(c, c.get<RunningAttrs>().axis, c.shape(0).rank());
                   out.push_back({c.in[0].dtype, c.shape(0)});
                 },
             .kernel =
                 [](const KernelCall& c) {
                   const auto& p = c.get<RunningAttrs>();
                   const Shape& shape = c.shape(0);
                   std::int64_t outer = 1, inner = 1;
                   for (int i = 0; i < p.axis; ++i) outer *= shape[i];
                   for (int i = p.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
                   kernels::scan(kernels::Scan::logsumexp, c.in[0].dtype, c.in[0].data, outer,
                                 shape[p.axis], inner, false, p.reverse, c.out[0].data);
                 },
             .batch =
                 [](const BatchCall& c) {
                   RunningAttrs attrs = c.get<RunningAttrs>();
                   ++attrs.axis;
                   return c.op.run(c.in, &attrs);
                 },
             .samples =
                 [] {
                   return std::vector<Sample>{sample<RunningAttrs>({{{2, 3, 2}}}, {1}),
                                              sample<RunningAttrs>({{{4}}}, {0, true}),
                                              sample<RunningAttrs>({{{2, 0}}}, {1})};
                 },
             .like = "tensorflow.math.cumulative_logsumexp"},
            [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
              const auto& p = s.get<RunningAttrs>();
              const Tensor y = subtractable(s.out[0]);
              out[0] = linear_recurrence(exp(before(s.out[0], p.axis, p.reverse) - y),
                                         exp(s.in[0] - y) * t[0], p.axis, p.reverse);
            });

Tensor reduce_logsumexp(In x) { return reduce_logsumexp(x, all_axes(x->rank())); }
Tensor reduce_logsumexp(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_logsumexp_op, x, axes, keepdims);
}

Tensor cumulative_logsumexp(In x, int axis, bool exclusive, bool reverse) {
  const int at = normal_axis("cumulative_logsumexp", axis, x->rank());
  const Tensor y = cumulative_logsumexp_op({x}, RunningAttrs{at, reverse});
  return exclusive ? before(y, at, reverse) : y;
}

}  // namespace gradus
