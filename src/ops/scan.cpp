// Running sums and products along an axis. A running product has derivatives of every order as
// linear recurrences, which never divide, so zeros are like any other number.
#include "gradus/scan.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/op.h"
#include "graph/symbols.h"
#include "kernels/recurrence.h"
#include "kernels/scan.h"
#include "ops/axes.h"
#include "ops/batch_along_axis.h"
#include "ops/checks.h"
#include "ops/moves.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct ScanAttrs {
  int axis = 0;
  bool exclusive = false, reverse = false;
  static auto fields() {
    return attr_fields(attr("axis", &ScanAttrs::axis), attr("exclusive", &ScanAttrs::exclusive),
                       attr("reverse", &ScanAttrs::reverse));
  }
};

struct RecurrenceAttrs {
  int axis = 0;
  bool reverse = false, lag = false;
  static auto fields() {
    return attr_fields(attr("axis", &RecurrenceAttrs::axis),
                       attr("reverse", &RecurrenceAttrs::reverse),
                       attr("lag", &RecurrenceAttrs::lag));
  }
};

// [outer, n, inner] around an axis.
struct Extents {
  std::int64_t outer = 1, n, inner = 1;

  Extents(const Shape& shape, int axis) : n(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

template <kernels::Scan S>
void run_scan(const KernelCall& c) {
  const auto& p = c.get<ScanAttrs>();
  const Extents e(c.shape(0), p.axis);
  kernels::scan(S, c.in[0].dtype, c.in[0].data, e.outer, e.n, e.inner, p.exclusive, p.reverse,
                c.out[0].data);
}

void infer_scan(const Call& c, Avals& out) {
  check_axis(c, c.get<ScanAttrs>().axis, c.shape(0).rank());
  out.push_back({c.in[0].dtype, c.shape(0)});
}

std::vector<Sample> scan_samples() {
  return {
      sample<ScanAttrs>({{{2, 3, 4}}}, {1}),        sample<ScanAttrs>({{{2, 3}}}, {1, true}),
      sample<ScanAttrs>({{{5}}}, {0, false, true}), sample<ScanAttrs>({{{3, 2}}}, {0, true, true}),
      sample<ScanAttrs>({{{1}}}, {0, true}),        sample<ScanAttrs>({{{2, 0}}}, {1})};
}

std::vector<Sample> recurrence_samples() {
  return {sample<RecurrenceAttrs>({{{2, 3, 2}}, {{2, 3, 2}}}, {1}),
          sample<RecurrenceAttrs>({{{4}}, {{4}}}, {0, true}),
          sample<RecurrenceAttrs>({{{2, 3}}, {{2, 3}}}, {1, false, true}),
          sample<RecurrenceAttrs>({{{3, 1}}, {{3, 1}}}, {0, true, true}),
          sample<RecurrenceAttrs>({{{0}}, {{0}}}, {0})};
}

Tensor run_recurrence(const Tensor& a, const Tensor& b, const RecurrenceAttrs& attrs);

}  // namespace

const Op cumsum_op = linear({.name = "cumsum",
                             .doc = "The running sum along an axis; accurate however long.",
                             .dtypes = kNumeric,
                             .attrs = &attr_type<ScanAttrs>(),
                             .infer = infer_scan,
                             .kernel = run_scan<kernels::Scan::sum>,
                             .batch = batch_along_axis<ScanAttrs>,
                             .samples = scan_samples,
                             .like = "numpy.cumsum"},
                            [](const Site& s, int, const Tensor& ct) -> Cotangent {
                              const auto& p = s.get<ScanAttrs>();
                              return cumsum(ct, p.axis, p.exclusive, !p.reverse);
                            });

const Op cumprod_op = general(
    {.name = "cumprod",
     .doc = "The running product along an axis; its gradient is exact with any number of zeros.",
     .dtypes = kNumeric,
     .attrs = &attr_type<ScanAttrs>(),
     .infer = infer_scan,
     .kernel = run_scan<kernels::Scan::prod>,
     .batch = batch_along_axis<ScanAttrs>,
     .samples = scan_samples,
     .like = "numpy.cumprod"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<ScanAttrs>();
      const Tensor& x = s.in[0];
      if (p.exclusive) {  // dy[i] = x[i-1] dy[i-1] + t[i-1] y[i-1]
        out[0] =
            run_recurrence(x, shift(t[0] * s.out[0], p.axis, p.reverse), {p.axis, p.reverse, true});
      } else {  // dy[i] = x[i] dy[i-1] + t[i] y[i-1]
        out[0] = run_recurrence(x, t[0] * cumprod(x, p.axis, true, p.reverse),
                                {p.axis, p.reverse, false});
      }
    });

const Op linear_recurrence_op = general(
    {.name = "linear_recurrence",
     .doc = "y[i] = a[i] * y[i - 1] + b[i] along an axis, from zero.",
     .dtypes = kFloating | kComplex,
     .attrs = &attr_type<RecurrenceAttrs>(),
     .inputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           if (!shapes_agree(c.shape(0), c.shape(1)) || c.in[0].dtype != c.in[1].dtype) {
             fail<InvalidArgumentError>("[linear_recurrence] got shapes ", c.shape(0), " and ",
                                        c.shape(1), " and dtypes ", name_of(c.in[0].dtype), " and ",
                                        name_of(c.in[1].dtype), "; both must be the same");
           }
           check_axis(c, c.get<RecurrenceAttrs>().axis, c.shape(0).rank());
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<RecurrenceAttrs>();
           const Extents e(c.shape(0), p.axis);
           kernels::linear_recurrence(c.in[0].dtype, c.in[0].data, c.in[1].data,
                                      {e.outer, e.n, e.inner, p.reverse, p.lag}, c.out[0].data);
         },
     .batch = batch_along_axis<RecurrenceAttrs>,
     .reads =
         [](const void*, std::uint32_t wanted) {
           return Reads{1, wanted & 1 ? 1u : 0u};
         },
     .samples = recurrence_samples},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<RecurrenceAttrs>();
      Tensor b = t[1];
      if (t[0].defined()) {
        const Tensor& y = s.out[0];
        const Tensor from_a =
            p.lag ? shift(t[0] * y, p.axis, p.reverse) : t[0] * shift(y, p.axis, p.reverse);
        b = b.defined() ? b + from_a : from_a;
      }
      out[0] = run_recurrence(s.in[0], b, p);
    },
    // Transposed, the recurrence runs the other way, and what was a step's own factor is now the
    // factor of the step before.
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      const auto& p = s.get<RecurrenceAttrs>();
      const Tensor g = run_recurrence(conj(s.in[0]), cts[0], {p.axis, !p.reverse, !p.lag});
      if (wanted & 2) grads[1] = g;
      if (!(wanted & 1)) return;
      const Tensor y = conj(s.out[0]);
      grads[0] = p.lag ? shift(g, p.axis, !p.reverse) * y : g * shift(y, p.axis, p.reverse);
    });

namespace {

Tensor run_recurrence(const Tensor& a, const Tensor& b, const RecurrenceAttrs& attrs) {
  return linear_recurrence_op({a, b}, attrs);
}

}  // namespace

// First longer, then cut: right for an axis of no elements too, whose size may be a symbol here.
Tensor shift(const Tensor& x, int axis, bool back) {
  Ints begin, before, after;
  for (int i = 0; i < x.rank(); ++i) {
    begin.push_back(back && i == axis ? 1 : 0);
    before.push_back(!back && i == axis ? 1 : 0);
    after.push_back(back && i == axis ? 1 : 0);
  }
  return slice(pad_zeros(x, before, after), begin, x.shape());
}

Tensor cumsum(In x, int axis, bool exclusive, bool reverse) {
  return cumsum_op({x}, ScanAttrs{normal_axis("cumsum", axis, x->rank()), exclusive, reverse});
}
Tensor cumprod(In x, int axis, bool exclusive, bool reverse) {
  return cumprod_op({x}, ScanAttrs{normal_axis("cumprod", axis, x->rank()), exclusive, reverse});
}
Tensor linear_recurrence(In a, In b, int axis, bool reverse, bool lag) {
  return run_recurrence(
      a, b, RecurrenceAttrs{normal_axis("linear_recurrence", axis, a->rank()), reverse, lag});
}

}  // namespace gradus
