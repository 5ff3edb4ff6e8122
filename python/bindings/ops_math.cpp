// Elementwise functions: tf.math and its short names.
#include "function.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "ops.h"

namespace gradus::python {
namespace {

Tensor sign_of(In x) {
  if (!is_integer(x->dtype())) return sign(x);
  const Tensor zero = zeros_like(x);
  const Tensor above = cast(greater(x, zero), x->dtype());
  return is_unsigned(x->dtype()) ? above : subtract(above, cast(less(x, zero), x->dtype()));
}
// Functions that leave integers as they are.
template <Unary op>
Tensor on_floats(In x) {
  return is_integer(x->dtype()) ? x.tensor() : op(x);
}

// The same dtype for all, as the first one that has one says.
std::vector<Tensor> together(const Arguments& a, std::initializer_list<int> which) {
  std::optional<DType> dtype;
  for (int i : which)
    if (!dtype) dtype = own_dtype(a[i]);
  std::vector<Tensor> all;
  for (int i : which) {
    all.push_back(a.tensor(i, dtype));
    if (!dtype) dtype = all.back().dtype();
  }
  return all;
}

PyObject* clip(const Arguments& a) {
  const auto in = together(a, {0, 1, 2});
  if (!is_integer(in[0].dtype()))
    return wrap(on_large(in[0], [&] { return clip_by_value(in[0], in[1], in[2]); }));
  return wrap(maximum(minimum(in[0], in[2]), in[1]));
}

PyObject* select(const Arguments& a) {
  const Tensor condition = a.tensor(0);
  if (a.is_none(1) != a.is_none(2))
    raise(PyExc_ValueError, "x and y must both be non-None or both be None.");
  if (a.is_none(1)) return wrap(where(condition));
  std::optional<DType> dtype = own_dtype(a[1]);
  if (!dtype) dtype = own_dtype(a[2]);
  const Ref branches = Ref::own(PyTuple_Pack(2, a[1], a[2]));
  const std::vector<Tensor> xy =
      dtype ? std::vector{a.tensor(1, dtype), a.tensor(2, dtype)} : to_tensors(branches, "where");
  const Tensor mask =
      is_bool(condition.dtype()) ? condition : not_equal(condition, zeros_like(condition));
  return wrap(on_large(xy[0], xy[1], [&] { return where(mask, xy[0], xy[1]); }));
}

PyObject* cast_to(const Arguments& a) {
  const DType dtype = to_dtype(a[1]);
  const Tensor x = a.tensor(0);
  if (x.dtype() == dtype && is_tensor(a[0])) return Ref::copy(a[0]).release();
  if (x.dtype() == dtype) return wrap(x);
  if (dtype == bool_) return wrap(not_equal(x, zeros_like(x)));
  return wrap(on_large(x, [&] { return cast(x, dtype); }));
}

PyObject* saturate_cast(const Arguments& a) {
  const DType to = to_dtype(a[1]);
  Tensor x = a.tensor(0);
  if (is_integer(to) && size_of(to) < 8) {
    visit_dtype(to, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        using Limits = std::numeric_limits<T>;
        const Tensor wide = cast(x, float64);
        x = clip_by_value(wide, static_cast<double>(Limits::min()),
                          static_cast<double>(Limits::max()));
      }
    });
  }
  return wrap(cast(x, to));
}

PyObject* sum_of(const Arguments& a) {
  const std::vector<Tensor> all = a.tensors(0, "add_n");  // the rows of a tensor, too
  if (all.empty())
    raise(PyExc_ValueError,
          "Inputs must be an iterable of at least one Tensor with the same dtype "
          "and shape.");
  return wrap(add_n(all));
}

PyObject* top(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Size k = a.size(1);
  const DType dtype = a.dtype(3, int32);
  if (dtype != int16 && dtype != int32 && dtype != int64)
    throw InvalidArgumentError(std::string("[top_k] got index_type ") + name_of(dtype) +
                               "; expected int16, int32 or int64");
  const TopK found = on_large(x, [&] { return top_k(x, k); });
  const Ref values = Ref::own(wrap(found.values)),
            indices = Ref::own(
                wrap(dtype == found.indices.dtype() ? found.indices : cast(found.indices, dtype)));
  return PyObject_CallFunctionObjArgs(imported("gradus._results", "TopKV2"), values.get(),
                                      indices.get(), nullptr);
}

// Counts in each row of a matrix, or over all numbers; or only whether there are any.
PyObject* counts(const Arguments& a) {
  BincountOptions options;
  Tensor arr = a.tensor(0);
  const bool binary = a.boolean(7);
  if (binary && !a.is_none(1))
    raise(
        PyExc_ValueError,
        "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.");
  if (!a.is_none(1)) options.weights = a.tensor(1);
  if (!a.is_none(2)) options.minlength = a.size(2);
  if (!a.is_none(3)) options.maxlength = a.size(3);
  options.dtype = a.dtype(4, int32);
  const std::int64_t axis = a.integer_or_none(6).value_or(0);
  if (axis != 0 && axis != -1)
    raise(PyExc_ValueError,
          "Unsupported value for argument axis=%R. Only 0 and -1 are currently "
          "supported.",
          a[6]);
  const auto finished = [&](const Tensor& t) {
    return wrap(binary ? cast(greater(t, zeros({}, t.dtype())), options.dtype) : t);
  };
  if (axis == 0 || arr.rank() < 2) return finished(bincount(arr, options));
  if (arr.rank() != 2)
    throw InvalidArgumentError("[bincount] got shape " + gradus::to_string(arr.shape()) +
                               " with axis=-1; expected a vector or a matrix");
  const Tensor largest =
      bincount(arr, {.minlength = options.minlength, .maxlength = options.maxlength});
  const Size rows = arr.shape()[0], size = largest.shape()[0];
  // Row r counts from r * size on; what is too large for its row goes behind the last one.
  const Tensor first = expand_dims(cast(iota(rows) * dynamic_size(size), arr.dtype()), 1);
  const Tensor limit = cast(dynamic_size(size), arr.dtype()),
               behind = cast(dynamic_size(rows * size), arr.dtype());
  options.minlength = rows * size + 1;
  options.maxlength = {};
  const Tensor all = bincount(where(less(arr, limit), arr + first, behind), options);
  return finished(reshape(slice(all, {0}, {rows * size}), {rows, size}));
}

Direction direction_of(const Arguments& a, int i) {
  const std::string name = a.string(i);
  if (name != "ASCENDING" && name != "DESCENDING")
    raise(PyExc_ValueError, "Argument `direction` should be one of ASCENDING or DESCENDING, got %R",
          a[i]);
  return name == "ASCENDING" ? Direction::ascending : Direction::descending;
}

PyObject* cumulative(const Arguments& a, Tensor (*op)(In, int, bool, bool)) {
  const Tensor x = a.tensor(0);
  return wrap(on_large(x, [&, axis = a.small(1), exclusive = a.boolean(2), reverse = a.boolean(3)] {
    return op(x, axis, exclusive, reverse);
  }));
}

PyObject* segments(const Arguments& a, Tensor (*op)(In, In)) {
  const Tensor data = a.tensor(0), ids = a.tensor(1);
  return wrap(on_large(data, [&] { return op(data, ids); }));
}
PyObject* unsorted_segments(const Arguments& a, Tensor (*op)(In, In, Size)) {
  const Tensor data = a.tensor(0), ids = a.tensor(1);
  const std::vector<Size> count = a.sizes(2);
  if (count.size() != 1) raise(PyExc_ValueError, "expected the number of segments, got %R", a[2]);
  return wrap(on_large(data, [&] { return op(data, ids, count[0]); }));
}

constexpr const char *kX = "x, name=None", *kXY = "x, y, name=None";
constexpr const char* kScan = "x, axis=0, exclusive=False, reverse=False, name=None";
constexpr const char* kSegment = "data, segment_ids, name=None";
constexpr const char* kSegments = "data, segment_ids, num_segments, name=None";

const FunctionEntry entries[] = {
    {"add math.add", kXY, "x + y.", binary<add>},
    {"subtract math.subtract", kXY, "x - y.", binary<subtract>},
    {"multiply math.multiply", kXY, "x * y.", binary<multiply>},
    {"divide math.divide", kXY, "x / y, as Python 3 divides.", binary<ops::truediv>},
    {"truediv math.truediv", kXY, "x / y, as Python 3 divides.", binary<ops::truediv>},
    {"math.floordiv", kXY, "x // y, rounded down.", binary<floordiv>},
    {"math.floormod math.mod", kXY, "x % y, with the sign of y.", binary<floormod>},
    {"math.divide_no_nan", kXY, "x / y, and 0 where y is 0.", binary<div_no_nan>},
    {"math.multiply_no_nan", kXY, "x * y, and 0 where y is 0.", binary<multiply_no_nan>},
    {"negative math.negative", kX, "-x.", unary<negative>},
    {"abs math.abs", kX, "The absolute value.", unary<abs>},
    {"sign math.sign", kX, "-1, 0 or 1.", unary<sign_of>},
    {"square math.square", kX, "x * x.", unary<square>},
    {"sqrt math.sqrt", kX, "The square root.", unary<sqrt>},
    {"math.rsqrt", kX, "1 / sqrt(x).", unary<rsqrt>},
    {"math.reciprocal", kX, "1 / x.", unary<reciprocal>},
    {"math.reciprocal_no_nan", kX, "1 / x, and 0 where x is 0.", unary<reciprocal_no_nan>},
    {"pow math.pow", kXY, "x to the power y.", binary<pow>},
    {"maximum math.maximum", kXY, "The larger one, elementwise.", binary<maximum>},
    {"minimum math.minimum", kXY, "The smaller one, elementwise.", binary<minimum>},
    {"math.squared_difference", kXY, "(x - y)^2.", binary<squared_difference>},
    {"clip_by_value", "t, clip_value_min, clip_value_max, name=None", "t between two bounds.",
     by_rows<clip>},
    {"floor math.floor", kX, "The largest integer not above x.", unary<on_floats<floor>>},
    {"math.ceil", kX, "The smallest integer not below x.", unary<on_floats<ceil>>},
    {"round math.round", kX, "The nearest integer, ties to even.", unary<on_floats<round>>},
    {"math.rint", kX, "The nearest integer, ties to even.", unary<round>},
    {"math.xlogy", kXY, "x * log(y), and 0 where x is 0.", binary<xlogy>},
    {"math.xlog1py", kXY, "x * log(1 + y), and 0 where x is 0.", binary<xlog1py>},
    {"math.xdivy", kXY, "x / y, and 0 where x is 0.", binary<xdivy>},
    {"exp math.exp", kX, "e to the power x.", unary<exp>},
    {"math.expm1", kX, "exp(x) - 1, exact for small x.", unary<expm1>},
    {"math.log", kX, "The natural logarithm.", unary<log>},
    {"math.log1p", kX, "log(1 + x), exact for small x.", unary<log1p>},
    {"sin math.sin", kX, "The sine.", unary<sin>},
    {"cos math.cos", kX, "The cosine.", unary<cos>},
    {"tan math.tan", kX, "The tangent.", unary<tan>},
    {"asin math.asin", kX, "The inverse sine.", unary<asin>},
    {"acos math.acos", kX, "The inverse cosine.", unary<acos>},
    {"atan math.atan", kX, "The inverse tangent.", unary<atan>},
    {"atan2 math.atan2", "y, x, name=None", "The angle of the point (x, y).", binary<atan2>},
    {"sinh math.sinh", kX, "The hyperbolic sine.", unary<sinh>},
    {"cosh math.cosh", kX, "The hyperbolic cosine.", unary<cosh>},
    {"tanh math.tanh nn.tanh", kX, "The hyperbolic tangent.", unary<tanh>},
    {"asinh math.asinh", kX, "The inverse hyperbolic sine.", unary<asinh>},
    {"acosh math.acosh", kX, "The inverse hyperbolic cosine.", unary<acosh>},
    {"atanh math.atanh", kX, "The inverse hyperbolic tangent.", unary<atanh>},
    {"sigmoid math.sigmoid nn.sigmoid", kX, "1 / (1 + exp(-x)).", unary<sigmoid>},
    {"math.softplus nn.softplus", "features, name=None", "log(1 + exp(x)).", unary<softplus>},
    {"math.log_sigmoid", kX, "log(sigmoid(x)).", unary<log_sigmoid>},
    {"math.erf", kX, "The error function.", unary<erf>},
    {"math.erfc", kX, "1 - erf(x).", unary<erfc>},
    {"math.erfinv", kX, "The inverse of erf.", unary<erfinv>},
    {"math.lgamma", kX, "log|Gamma(x)|.", unary<lgamma>},
    {"math.digamma", kX, "The derivative of lgamma.", unary<digamma>},
    {"math.ndtri", kX, "The inverse of the normal distribution function.", unary<ndtri>},
    {"math.erfcinv", kX, "The inverse of erfc.", unary<erfcinv>},
    {"math.polygamma", "a, x, name=None", "The a-th derivative of digamma.", binary<polygamma>},
    {"math.zeta", "x, q, name=None", "The sum of (q + k)^-x over k >= 0.", binary<zeta>},
    {"math.igamma", "a, x, name=None", "The lower incomplete gamma function over Gamma(a).",
     binary<igamma>},
    {"math.igammac", "a, x, name=None", "The upper incomplete gamma function over Gamma(a).",
     binary<igammac>},
    {"math.betainc", "a, b, x, name=None", "The incomplete beta function, between 0 and 1.",
     [](const Arguments& a) {
       const auto both = to_pair(a[0], a[1]);
       return wrap(betainc(both.first, both.second, a.tensor(2, both.first.dtype())));
     }},
    {"math.bessel_i0 math.special.bessel_i0", kX, "The modified Bessel function I0.",
     unary<bessel_i0>},
    {"math.bessel_i0e math.special.bessel_i0e", kX, "e^-|x| I0(x).", unary<bessel_i0e>},
    {"math.bessel_i1 math.special.bessel_i1", kX, "The modified Bessel function I1.",
     unary<bessel_i1>},
    {"math.bessel_i1e math.special.bessel_i1e", kX, "e^-|x| I1(x).", unary<bessel_i1e>},
    {"math.conj", kX, "The complex conjugate.",
     unary<[](In x) { return is_complex(x->dtype()) ? conj(x) : x.tensor(); }>},
    {"_ndtr", kX, "The normal distribution function.", unary<ndtr>},
    {"complex dtypes.complex", "real, imag, name=None", "real + i imag.", binary<complex>},
    {"math.real", "input, name=None", "The real part.",
     unary<[](In x) { return is_complex(x->dtype()) ? real(x) : x.tensor(); }>},
    {"math.imag", "input, name=None", "The imaginary part.",
     unary<[](In x) { return is_complex(x->dtype()) ? imag(x) : zeros_like(x); }>},
    {"math.angle", "input, name=None", "The angle of a complex number.", unary<angle>},
    {"truncatediv", kXY, "x / y, rounded towards zero.", binary<truncatediv>},
    {"truncatemod", kXY, "The rest of truncatediv.", binary<truncatemod>},
    {"bitwise.bitwise_and", kXY, "The bits that both have.", binary<bitwise::bitwise_and>},
    {"bitwise.bitwise_or", kXY, "The bits that either has.", binary<bitwise::bitwise_or>},
    {"bitwise.bitwise_xor", kXY, "The bits that differ.", binary<bitwise::bitwise_xor>},
    {"bitwise.invert", kX, "The other bits.", unary<bitwise::invert>},
    {"bitwise.left_shift", kXY, "x 2^y.", binary<bitwise::left_shift>},
    {"bitwise.right_shift", kXY, "x / 2^y.", binary<bitwise::right_shift>},
    {"math.in_top_k nn.in_top_k", "targets, predictions, k, name=None",
     "Whether the target is among the k largest predictions.",
     [](const Arguments& a) { return wrap(in_top_k(a.tensor(0), a.tensor(1), a.integer(2))); }},
    {"math.confusion_matrix",
     "labels, predictions, num_classes=None, weights=None, dtype='int32', name=None",
     "How often each label was predicted as which.",
     [](const Arguments& a) {
       const Tensor labels = a.tensor(0), predictions = a.tensor(1);
       const std::int64_t classes = a.integer_or_none(2).value_or(-1);
       const DType dtype = a.dtype(4, int32);
       return wrap(a.is_none(3)
                       ? confusion_matrix(labels, predictions, classes, 1, dtype)
                       : confusion_matrix(labels, predictions, classes, a.tensor(3), dtype));
     }},
    {"math.bincount",
     "arr, weights=None, minlength=None, maxlength=None, dtype='int32', name=None, axis=None, "
     "binary_output=False",
     "How often each number occurs.", counts},
    {"equal math.equal", kXY, "x == y, elementwise.", binary<equal>},
    {"not_equal math.not_equal", kXY, "x != y, elementwise.", binary<not_equal>},
    {"less math.less", kXY, "x < y, elementwise.", binary<less>},
    {"less_equal math.less_equal", kXY, "x <= y, elementwise.", binary<less_equal>},
    {"greater math.greater", kXY, "x > y, elementwise.", binary<greater>},
    {"greater_equal math.greater_equal", kXY, "x >= y, elementwise.", binary<greater_equal>},
    {"logical_and math.logical_and", kXY, "Both, elementwise.", binary<logical_and>},
    {"logical_or math.logical_or", kXY, "Either, elementwise.", binary<logical_or>},
    {"logical_not math.logical_not", kX, "Not x.", unary<logical_not>},
    {"math.logical_xor", "x, y, name='LogicalXor'", "One but not both.", binary<logical_xor>},
    {"math.is_nan", kX, "Where x is not a number.", unary<is_nan>},
    {"math.is_inf", kX, "Where x is infinite.", unary<is_inf>},
    {"math.is_finite", kX, "Where x is neither infinite nor NaN.", unary<is_finite>},
    {"where", "condition, x=None, y=None, name=None",
     "x where the condition holds, else y; with the condition alone, where it holds.", select},
    {"cast dtypes.cast", "x, dtype, name=None", "The value with another dtype.", by_rows<cast_to>},
    {"dtypes.saturate_cast", "value, dtype, name=None",
     "The value with another dtype, kept within its range.", saturate_cast},
    {"identity", "input, name=None", "The value itself.", by_rows<unary<identity>>},
    {"stop_gradient", "input, name=None", "The value itself; gradients stop here.",
     by_rows<unary<stop_gradient>>},
    {"add_n math.add_n", "inputs, name=None", "The sum of a list of tensors.", sum_of},
    {"math.top_k nn.top_k", "input, k=1, sorted=True, index_type='int32', name=None",
     "The k largest elements along the last axis and their positions.", top,
     "sorted: without it any order is right, and the sorted one is at hand"},
    {"sort", "values, axis=-1, direction='ASCENDING', name=None", "Sorted along an axis.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const Direction direction = direction_of(a, 2);
       return wrap(on_large(x, [&, axis = a.small(1)] { return sort(x, axis, direction); }));
     }},
    {"argsort", "values, axis=-1, direction='ASCENDING', stable=False, name=None",
     "Positions in sorted order.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const Direction direction = direction_of(a, 2);
       return wrap(on_large(x, [&, axis = a.small(1)] { return argsort(x, axis, direction); }));
     },
     "stable: it always is"},
    {"searchsorted", "sorted_sequence, values, side='left', out_type='int32', name=None",
     "Where values would be inserted to keep a sequence sorted.",
     [](const Arguments& a) {
       const auto both = to_pair(a[0], a[1]);
       if (a.string(2) != "left" && a.string(2) != "right")
         raise(PyExc_ValueError, "side must be either 'right' or 'left'. Saw: %R", a[2]);
       return wrap(searchsorted(both.first, both.second,
                                a.string(2) == "right" ? Side::right : Side::left,
                                a.dtype(3, int32)));
     }},
    {"math.cumsum cumsum", kScan, "Running sums along an axis.",
     [](const Arguments& a) { return cumulative(a, cumsum); }},
    {"math.cumprod", kScan, "Running products along an axis.",
     [](const Arguments& a) { return cumulative(a, cumprod); }},
    {"math.cumulative_logsumexp", kScan, "Running log-sum-exp along an axis.",
     [](const Arguments& a) { return cumulative(a, cumulative_logsumexp); }},
    {"math.segment_sum", kSegment, "Sums of groups of rows.",
     [](const Arguments& a) { return segments(a, segment_sum); }},
    {"math.segment_mean", kSegment, "Means of groups of rows.",
     [](const Arguments& a) { return segments(a, segment_mean); }},
    {"math.segment_prod", kSegment, "Products of groups of rows.",
     [](const Arguments& a) { return segments(a, segment_prod); }},
    {"math.segment_max", kSegment, "Maxima of groups of rows.",
     [](const Arguments& a) { return segments(a, segment_max); }},
    {"math.segment_min", kSegment, "Minima of groups of rows.",
     [](const Arguments& a) { return segments(a, segment_min); }},
    {"math.unsorted_segment_sum", kSegments, "Sums of groups of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_sum); }},
    {"math.unsorted_segment_mean", kSegments, "Means of groups of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_mean); }},
    {"math.unsorted_segment_sqrt_n", kSegments, "Sums divided by the root of the number of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_sqrt_n); }},
    {"math.unsorted_segment_prod", kSegments, "Products of groups of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_prod); }},
    {"math.unsorted_segment_max", kSegments, "Maxima of groups of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_max); }},
    {"math.unsorted_segment_min", kSegments, "Minima of groups of rows.",
     [](const Arguments& a) { return unsorted_segments(a, unsorted_segment_min); }},
};

}  // namespace

void add_math_functions() { add_functions(entries); }

}  // namespace gradus::python
