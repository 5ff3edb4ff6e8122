#include "ops/undetermined.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/op.h"
#include "ops/checks.h"
#include "ops/numeric_records.h"

namespace gradus {
namespace {

constexpr double kRounding = 32;  // times the dtype's epsilon is nothing

double rounding(DType t) {
  return kRounding * (t == float32 ? double{std::numeric_limits<float>::epsilon()}
                                   : std::numeric_limits<double>::epsilon());
}

struct UndeterminedAttrs {
  bool pairs = true;
  static auto fields() { return attr_fields(attr("pairs", &UndeterminedAttrs::pairs)); }
};

Shape sizes_shape(Shape s) {
  s[s.rank() - 2] = s[s.rank() - 1] = 1;
  return s;
}

template <class T>
void mark(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape.back();
  const bool pairs = c.get<UndeterminedAttrs>().pairs;
  const T* x = c.in[0].as<T>();
  const bool* none = c.in[1].as<bool>();
  T* out = c.out[0].as<T>();
  for (std::int64_t b = 0; b < c.in[2].count(); ++b) {
    const double least = rounding(c.in[0].dtype) * double{c.in[2].as<T>()[b]};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j, ++x, ++none, ++out) {
        const bool matters = *none && !(pairs && i == j) && !(std::abs(double{*x}) <= least);
        *out = matters ? std::numeric_limits<T>::quiet_NaN() : T(0);
      }
    }
  }
}

}  // namespace

const Op undetermined_op = linear(
    {.name = "undetermined",
     .doc = "NaN where something depends on what a matrix does not determine, else 0.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .attrs = &attr_type<UndeterminedAttrs>(),
     .inputs = 3,
     .differentiable = 1,
     .infer =
         [](const Call& c, Avals& out) {
           if (c.shape(0).rank() < 2 || c.in[1].dtype != bool_ || c.in[2].dtype != c.in[0].dtype)
             fail<InvalidArgumentError>("[undetermined] got operands that no rule gives it");
           check_operand_shape(c, 1, c.shape(0));
           check_operand_shape(c, 2, sizes_shape(c.shape(0)));
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) { c.in[0].dtype == float32 ? mark<float>(c) : mark<double>(c); },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{sample<UndeterminedAttrs>(
               {{{2, 3, 0}}, {{2, 3, 0}, 0, 1, Fill::boolean}, {{2, 1, 1}}}, {})};
         }},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return undetermined(ct, s.in[1], largest(ct, false), s.get<UndeterminedAttrs>().pairs);
    });

Tensor largest(const Tensor& x, bool vectors) {
  const Tensor whole = stop_gradient(vectors ? expand_dims(x, -1) : x);
  if (whole.shape()[whole.rank() - 2] == 0 || whole.shape().back() == 0)
    return zeros(sizes_shape(whole.shape()), x.dtype());
  return reduce_max(abs(whole), {-2, -1}, true);
}

Gaps gaps_between(const Tensor& gap, const Tensor& size) {
  const Tensor none = less_equal(abs(stop_gradient(gap)), rounding(gap.dtype()) * size);
  const Tensor one = ones({}, gap.dtype()), zero = zeros({}, gap.dtype());
  return {where(none, zero, 1.0 / where(none, one, gap)), none};
}

Tensor undetermined(const Tensor& x, const Tensor& none, const Tensor& size, bool pairs) {
  return undetermined_op({x, none, stop_gradient(size)}, UndeterminedAttrs{pairs});
}

Tensor told_apart(const Tensor& x, const Tensor& d, const Tensor& none, const Tensor& values) {
  const Tensor most = largest(values, true);
  const Tensor scale = where(most > 0.0, most, ones_like(most));
  const Tensor apart = (expand_dims(d, -2) - expand_dims(d, -1)) * scale;
  const Tensor size = maximum(largest(x, false), largest(d, true) * scale);
  return undetermined(x, none, size) + undetermined(linalg::matrix_transpose(x), none, size) +
         undetermined(apart, none, size);
}

}  // namespace gradus
