// Elementwise functions, reductions, running sums, sorting, counting.
#include "agree/call.h"

namespace agree {
namespace {

void add_elementwise(Table& table) {
#define ONE(name) table[#name] = one(gd::name)
#define TWO(name) table[#name] = two(gd::name)
#define THREE(name) table[#name] = three(gd::name)
  ONE(negative);
  ONE(abs);
  ONE(square);
  ONE(sqrt);
  ONE(sign);
  ONE(reciprocal);
  ONE(rsqrt);
  ONE(floor);
  ONE(ceil);
  ONE(round);
  ONE(reciprocal_no_nan);
  ONE(trunc);
  ONE(cbrt);
  ONE(exp);
  ONE(expm1);
  ONE(log);
  ONE(log1p);
  ONE(exp2);
  ONE(log2);
  ONE(log10);
  ONE(sin);
  ONE(cos);
  ONE(tan);
  ONE(asin);
  ONE(acos);
  ONE(atan);
  ONE(sinh);
  ONE(cosh);
  ONE(tanh);
  ONE(asinh);
  ONE(acosh);
  ONE(atanh);
  ONE(sigmoid);
  ONE(softplus);
  ONE(log_sigmoid);
  ONE(erf);
  ONE(erfc);
  ONE(erfinv);
  ONE(lgamma);
  ONE(digamma);
  ONE(ndtr);
  ONE(logical_not);
  ONE(is_nan);
  ONE(is_inf);
  ONE(is_finite);
  ONE(real);
  ONE(imag);
  ONE(conj);
  ONE(angle);
  ONE(identity);
  ONE(stop_gradient);
  ONE(ndtri);
  ONE(erfcinv);
  ONE(bessel_i0);
  ONE(bessel_i0e);
  ONE(bessel_i1);
  ONE(bessel_i1e);
  TWO(add);
  TWO(subtract);
  TWO(multiply);
  TWO(divide);
  TWO(floordiv);
  TWO(floormod);
  TWO(truncatediv);
  TWO(truncatemod);
  TWO(maximum);
  TWO(minimum);
  TWO(pow);
  TWO(squared_difference);
  TWO(div_no_nan);
  TWO(multiply_no_nan);
  TWO(xlogy);
  TWO(xdivy);
  TWO(xlog1py);
  TWO(hypot);
  TWO(logaddexp);
  TWO(atan2);
  TWO(equal);
  TWO(not_equal);
  TWO(less);
  TWO(less_equal);
  TWO(greater);
  TWO(greater_equal);
  TWO(logical_and);
  TWO(logical_or);
  TWO(logical_xor);
  TWO(complex);
  TWO(polygamma);
  TWO(zeta);
  TWO(igamma);
  TWO(igammac);
  table["clip_by_value"] =
      calls([](const Call& c) { return gd::clip_by_value(c.t(0), c.t(1), c.t(2)); });
  THREE(betainc);
  THREE(where);
  table["bitwise.bitwise_and"] = two(gd::bitwise::bitwise_and);
  table["bitwise.bitwise_or"] = two(gd::bitwise::bitwise_or);
  table["bitwise.bitwise_xor"] = two(gd::bitwise::bitwise_xor);
  table["bitwise.left_shift"] = two(gd::bitwise::left_shift);
  table["bitwise.right_shift"] = two(gd::bitwise::right_shift);
  table["bitwise.invert"] = one(gd::bitwise::invert);
  table["add_n"] = calls([](const Call& c) { return gd::add_n(c.list(0)); });
  table["cast"] =
      calls([](const Call& c) { return gd::cast(c.t(0), c.dtype("dtype", gd::float32)); });
#undef ONE
#undef TWO
#undef THREE
}

// The axes that a reduction names, or all of them.
Shape axes_of(const Call& c, const Tensor& x) {
  if (c.has("axis")) return c.shape("axis");
  Shape all;
  for (int i = 0; i < x.rank(); ++i) all.push_back(i);
  return all;
}

void add_reductions(Table& table) {
  // Both overloads: over everything, and over axes.
#define REDUCTION(name)                                                \
  table[#name] = calls([](const Call& c) {                             \
    return c.has("axis") || c.has("keepdims")                          \
               ? gd::name(c.t(0), axes_of(c, c.t(0)), c.b("keepdims")) \
               : gd::name(c.t(0));                                     \
  })
  REDUCTION(reduce_sum);
  REDUCTION(reduce_mean);
  REDUCTION(reduce_prod);
  REDUCTION(reduce_max);
  REDUCTION(reduce_min);
  REDUCTION(reduce_any);
  REDUCTION(reduce_all);
  REDUCTION(reduce_variance);
  REDUCTION(reduce_std);
  REDUCTION(reduce_euclidean_norm);
  REDUCTION(reduce_logsumexp);
#undef REDUCTION
  table["count_nonzero"] = calls([](const Call& c) {
    const gd::DType dtype = c.dtype("dtype", gd::int64);
    return c.has("axis") ? gd::count_nonzero(c.t(0), c.shape("axis"), c.b("keepdims"), dtype)
                         : gd::count_nonzero(c.t(0), dtype);
  });
  table["moments"] = calls([](const Call& c) -> Tensors {
    const auto [mean, variance] = gd::moments(c.t(0), c.shape("axes"), c.b("keepdims"));
    return {mean, variance};
  });
  table["argmax"] = calls([](const Call& c) {
    return gd::argmax(c.t(0), c.small("axis", 0), c.dtype("output_type", gd::int64));
  });
  table["argmin"] = calls([](const Call& c) {
    return gd::argmin(c.t(0), c.small("axis", 0), c.dtype("output_type", gd::int64));
  });
}

void add_scans(Table& table) {
#define SCAN(name)                                                                 \
  table[#name] = calls([](const Call& c) {                                         \
    return gd::name(c.t(0), c.small("axis", 0), c.b("exclusive"), c.b("reverse")); \
  })
  SCAN(cumsum);
  SCAN(cumprod);
  SCAN(cumulative_logsumexp);
#undef SCAN
  table["linear_recurrence"] = calls([](const Call& c) {
    return gd::linear_recurrence(c.t(0), c.t(1), c.small("axis", 0), c.b("reverse"), c.b("lag"));
  });
#define SEGMENTS(name)                                                          \
  table["unsorted_segment_" #name] = calls([](const Call& c) {                  \
    return gd::unsorted_segment_##name(c.t(0), c.t(1), c.i("num_segments", 0)); \
  })
  SEGMENTS(sum);
  SEGMENTS(mean);
  SEGMENTS(sqrt_n);
  SEGMENTS(prod);
  SEGMENTS(max);
  SEGMENTS(min);
#undef SEGMENTS
  table["segment_sum"] = two(gd::segment_sum);
  table["segment_mean"] = two(gd::segment_mean);
  table["segment_prod"] = two(gd::segment_prod);
  table["segment_max"] = two(gd::segment_max);
  table["segment_min"] = two(gd::segment_min);
}

gd::Direction direction_of(const Call& c) {
  return c.s("direction", "ASCENDING") == "ASCENDING" ? gd::Direction::ascending
                                                      : gd::Direction::descending;
}

void add_sorting(Table& table) {
  table["sort"] =
      calls([](const Call& c) { return gd::sort(c.t(0), c.small("axis", -1), direction_of(c)); });
  table["argsort"] = calls(
      [](const Call& c) { return gd::argsort(c.t(0), c.small("axis", -1), direction_of(c)); });
  table["top_k"] = calls([](const Call& c) -> Tensors {
    const gd::TopK top = gd::top_k(c.t(0), c.i("k", 1));
    return {top.values, top.indices};
  });
  table["searchsorted"] = calls([](const Call& c) {
    return gd::searchsorted(c.t(0), c.t(1),
                            c.s("side", "left") == "left" ? gd::Side::left : gd::Side::right,
                            c.dtype("out_type", gd::int32));
  });
  table["unique"] = calls([](const Call& c) -> Tensors {
    const gd::Unique u = gd::unique(c.t(0), c.dtype("out_idx", gd::int32));
    return {u.y, u.idx, u.count};
  });
  table["bincount"] = calls([](const Call& c) {
    gd::BincountOptions options;
    if (c.count() > 1) options.weights = c.t(1);
    options.minlength = c.i("minlength", 0);
    options.maxlength = c.i("maxlength", -1);
    options.dtype = c.dtype("dtype", gd::int32);
    return gd::bincount(c.t(0), options);
  });
  table["confusion_matrix"] = calls([](const Call& c) {
    const gd::DType dtype = c.dtype("dtype", gd::int32);
    const std::int64_t classes = c.i("num_classes", -1);
    return c.count() > 2 ? gd::confusion_matrix(c.t(0), c.t(1), classes, c.t(2), dtype)
                         : gd::confusion_matrix(c.t(0), c.t(1), classes, 1, dtype);
  });
  table["in_top_k"] =
      calls([](const Call& c) { return gd::in_top_k(c.t(0), c.t(1), c.i("k", 1)); });
}

}  // namespace

void add_math(Table& table) {
  add_elementwise(table);
  add_reductions(table);
  add_scans(table);
  add_sorting(table);
}

}  // namespace agree
