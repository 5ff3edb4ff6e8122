// Positions of extrema.
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/reduce.h"
#include "graph/op.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"

namespace gradus {
namespace {

using kernels::ArgReduction;

struct ArgReduceAttrs {
  int axis = 0;
  DType output_type = int64;
  static auto fields() {
    return attr_fields(attr("axis", &ArgReduceAttrs::axis),
                       attr("output_type", &ArgReduceAttrs::output_type));
  }
};

template <ArgReduction R>
void arg_reduce_kernel(const KernelCall& c) {
  const auto& p = c.get<ArgReduceAttrs>();
  const Shape& shape = c.shape(0);
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < p.axis; ++i) outer *= shape[i];
  for (int i = p.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  if (p.output_type == int64) {
    return kernels::arg_reduce(R, c.in[0].dtype, c.in[0].data, outer, shape[p.axis], inner,
                               c.out[0].as<std::int64_t>());
  }
  const std::int64_t n = outer * inner;
  kernels::Scratch wide(static_cast<std::size_t>(n) * 8);
  kernels::arg_reduce(R, c.in[0].dtype, c.in[0].data, outer, shape[p.axis], inner,
                      wide.as<std::int64_t>());
  visit_dtype(p.output_type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (std::int64_t i = 0; i < n; ++i)
        c.out[0].as<T>()[i] = static_cast<T>(wide.as<std::int64_t>()[i]);
    }
  });
}

void infer_arg_reduce(const Call& c, Avals& out) {
  const auto& p = c.get<ArgReduceAttrs>();
  Shape shape = c.shape(0);
  check_axis(c, p.axis, shape.rank());
  if (!is_integer(p.output_type)) {
    fail<InvalidArgumentError>("[", c.op.name(), "] output_type ", name_of(p.output_type),
                               " cannot hold positions; use int32 or int64");
  }
  if (shape[p.axis] == 0) {
    fail<InvalidArgumentError>("[", c.op.name(), "] axis ", p.axis, " of shape ", shape,
                               " is empty; there is nothing to choose from");
  }
  shape.erase(p.axis);
  out.push_back({p.output_type, shape});
}

template <ArgReduction R>
Op arg_reduce_op(const char* name, const char* doc, const char* like) {
  return not_differentiable({.name = name,
                             .doc = doc,
                             .dtypes = kReal | kBools,
                             .attrs = &attr_type<ArgReduceAttrs>(),
                             .infer = infer_arg_reduce,
                             .kernel = arg_reduce_kernel<R>,
                             .batch =
                                 [](const BatchCall& c) {
                                   ArgReduceAttrs attrs = c.get<ArgReduceAttrs>();
                                   ++attrs.axis;
                                   return c.op.run(c.in, &attrs);
                                 },
                             .samples =
                                 [] {
                                   return std::vector<Sample>{
                                       sample<ArgReduceAttrs>({{{2, 3, 4}}}, {1}),
                                       sample<ArgReduceAttrs>({{{5}}}, {0, int32}),
                                       sample<ArgReduceAttrs>({{{0, 3}}}, {1})};
                                 },
                             .like = like},
                            "positions are integers");
}

Tensor run(const Op& op, const Tensor& x, int axis, DType output_type) {
  return op({x}, ArgReduceAttrs{normal_axis(op.name(), axis, x.rank()), output_type});
}

}  // namespace

const Op argmax_op = arg_reduce_op<ArgReduction::argmax>(
    "argmax", "The position of the largest element along an axis; the first of equal ones.",
    "numpy.argmax");
const Op argmin_op = arg_reduce_op<ArgReduction::argmin>(
    "argmin", "The position of the smallest element along an axis; the first of equal ones.",
    "numpy.argmin");

Tensor argmax(In x, int axis, DType output_type) { return run(argmax_op, x, axis, output_type); }
Tensor argmin(In x, int axis, DType output_type) { return run(argmin_op, x, axis, output_type); }

}  // namespace gradus
