// Variance, norms and counts.
#include "expr/expr.h"
#include "gradus/elementwise.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/axes.h"
#include "ops/records.h"
#include "ops/reduce_attrs.h"

namespace gradus {
namespace {

DType wide(DType t) { return t == float16 || t == bfloat16 ? float32 : t; }

Tensor deviations(const Tensor& x, const Ints& axes) { return x - reduce_mean(x, axes, true); }

// x, or 1 where x is 0: a divisor that keeps 0 / 0 out of values and gradients.
Tensor or_one(const Tensor& x) { return where(equal(x, 0), 1, x); }

// The steps of a norm, each over all elements or over all results.
const ElementwiseRule& square_step() {
  static const auto* rule = elementwise_rule([](Expr x) { return x * x; }).release();
  return *rule;
}
const ElementwiseRule& abs_step() {
  static const auto* rule = elementwise_rule([](Expr x) { return expr::abs(x); }).release();
  return *rule;
}
const ElementwiseRule& scaled_square_step() {
  static const auto* rule = elementwise_rule([](Expr x, Expr largest) {
                              const Expr q = x / select(largest == 0, 1, largest);
                              return q * q;
                            }).release();
  return *rule;
}
const ElementwiseRule& root_step() {
  static const auto* rule = elementwise_rule([](Expr sum) { return expr::sqrt(sum); }).release();
  return *rule;
}
const ElementwiseRule& scaled_root_step() {
  static const auto* rule =
      elementwise_rule([](Expr sum, Expr largest) {
        return select(is_inf(largest), max(largest, 0), expr::sqrt(sum) * largest);
      }).release();
  return *rule;
}

// Whether squares lost nothing that a result could show.
template <class T>
bool are_safe(const T* sums, std::int64_t n) {
  constexpr T low = std::is_same_v<T, float> ? T(0x1p-78) : T(0x1p-900);
  for (std::int64_t i = 0; i < n; ++i)
    if (!(sums[i] >= low && sums[i] <= std::numeric_limits<T>::max())) return false;
  return true;
}

// Sums of squares as they are if they are in range, else scaled by the largest element.
void norm_kernel(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const Ints& axes = c.get<ReduceAttrs>().axes;
  std::uint64_t mask = 0;
  for (std::int64_t axis : axes) mask |= std::uint64_t{1} << axis;
  const DType t = wide(c.in[0].dtype);
  const std::int64_t results = c.out[0].count();
  kernels::Scratch squares_memory(static_cast<std::size_t>(c.in[0].count()) * size_of(t));
  kernels::Scratch sums_memory(static_cast<std::size_t>(results) * size_of(t));
  const Shape kept = reduced_shape(shape, axes, true);
  const View squares{squares_memory.data(), &shape, t}, sums{sums_memory.data(), &kept, t};
  const View out{c.out[0].data, &kept, c.out[0].dtype};
  const auto reduce = [&](kernels::Reduction op, const View& to) {
    kernels::reduce(op, t, squares.data, shape.numbers().data(), shape.rank(), mask, to.data);
  };
  square_step().run(c.in, squares);
  reduce(kernels::Reduction::sum, sums);
  if (t == float32 ? are_safe(sums.as<float>(), results) : are_safe(sums.as<double>(), results)) {
    return root_step().run({&sums, 1}, out);
  }
  kernels::Scratch largest_memory(static_cast<std::size_t>(results) * size_of(t));
  const View largest{largest_memory.data(), &kept, t};
  abs_step().run(c.in, squares);
  reduce(kernels::Reduction::max, largest);
  kernels::Scratch wide_memory(static_cast<std::size_t>(c.in[0].count()) * size_of(t));
  const View x{wide_memory.data(), &shape, t};
  abs_step().run(c.in, x);
  const View scaled[] = {x, largest}, roots[] = {sums, largest};
  scaled_square_step().run(scaled, squares);
  reduce(kernels::Reduction::sum, sums);
  scaled_root_step().run(roots, out);
}

std::vector<Sample> norm_samples() {
  return {sample<ReduceAttrs>({{{2, 3, 4}}}, {{1}, false}),
          sample<ReduceAttrs>({{{2, 3, 4}}}, {{0, 2}, true}),
          sample<ReduceAttrs>({{{5}}}, {{0}, false}),
          sample<ReduceAttrs>({{{0, 3}}}, {{1}, false})};
}

}  // namespace

const Op reduce_variance_op = composite(
    {.name = "reduce_variance",
     .doc = "The mean squared distance from the mean.",
     .attrs = &attr_type<ReduceAttrs>(),
     .infer = infer_reduce,
     .batch = batch_reduce,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{1, 0};
         },
     .samples = reduce_samples,
     .like = "numpy.var"},
    [](const void* attrs, std::span<const Tensor> in) -> Tensors {
      const auto& p = *static_cast<const ReduceAttrs*>(attrs);
      const Tensor x = cast(in[0], wide(in[0].dtype()));
      return {cast(reduce_mean(square(deviations(x, p.axes)), p.axes, p.keepdims), in[0].dtype())};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Ints& axes = s.get<ReduceAttrs>().axes;
      const DType t = wide(s.args[0].dtype);
      const Tensor ct = with_axes(2 * cast(cts[0], t), s.shape(0), axes);
      const Tensor g = divide_by_count(ct, s.shape(0), axes) * deviations(cast(s.in[0], t), axes);
      grads[0] = cast(g, s.args[0].dtype);
    });

const Op reduce_euclidean_norm_op =
    general({.name = "reduce_euclidean_norm",
             .doc = "The root of the sum of squares, safe at any scale; the gradient at 0 is 0.",
             .attrs = &attr_type<ReduceAttrs>(),
             .infer = infer_reduce,
             .kernel = norm_kernel,
             .batch = batch_reduce,
             .samples = norm_samples,
             .like = "tensorflow.math.reduce_euclidean_norm"},
            [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
              const auto& p = s.get<ReduceAttrs>();
              const Tensor unit = s.in[0] / or_one(with_axes(s.out[0], s.shape(0), p.axes));
              out[0] = reduce_sum(unit * t[0], p.axes, p.keepdims);
            });

Tensor reduce_variance(In x) { return reduce_variance(x, all_axes(x->rank())); }
Tensor reduce_variance(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_variance_op, x, axes, keepdims);
}
Tensor reduce_std(In x) { return reduce_std(x, all_axes(x->rank())); }
Tensor reduce_std(In x, const Shape& axes, bool keepdims) {
  const Tensor variance = reduce_variance(x, axes, keepdims);
  return where(equal(variance, 0), 0, sqrt(or_one(variance)));
}
Tensor reduce_euclidean_norm(In x) { return reduce_euclidean_norm(x, all_axes(x->rank())); }
Tensor reduce_euclidean_norm(In x, const Shape& axes, bool keepdims) {
  return run_reduction(reduce_euclidean_norm_op, x, axes, keepdims);
}
Tensor count_nonzero(In x, DType dtype) {
  return count_nonzero(x, all_axes(x->rank()), false, dtype);
}
Tensor count_nonzero(In x, const Shape& axes, bool keepdims, DType dtype) {
  const Tensor nonzero = x->dtype() == bool_ ? x.tensor() : not_equal(x, 0);
  return reduce_sum(cast(nonzero, dtype), axes, keepdims);
}

}  // namespace gradus
