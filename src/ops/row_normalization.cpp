// Normalisation as it is written with moments and batch_normalization: the moments of each row as
// one op, and what the rows become by given moments, a scale and an offset for each column as
// another, each with a gradient in one sweep. A compiler gets both in simple ops.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/thread_pool.h"
#include "expr/expr.h"
#include "gradus/elementwise.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/elementwise.h"
#include "graph/symbols.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/reduce_attrs.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

using expr::row_sum;
using Exprs = RowKernel::Exprs;
constexpr auto kRow = RowOperand::row, kPerRow = RowOperand::per_row;
constexpr auto kShared = RowOperand::shared, kScalar = RowOperand::scalar;
constexpr auto kSums = RowOperand::sums;
constexpr DTypes kWide = one_dtype(float32) | one_dtype(float64);

struct RowNormAttrs {
  double epsilon = 1e-3;
  static auto fields() { return attr_fields(attr("epsilon", &RowNormAttrs::epsilon)); }
};

// A number as an operand of a row kernel.
struct Number {
  alignas(8) std::byte bytes[8];
  Shape scalar;
  DType dtype;
  Number(DType t, double value) : dtype(t) {
    if (t == float64) {
      std::memcpy(bytes, &value, 8);
    } else {
      const auto single = static_cast<float>(value);
      std::memcpy(bytes, &single, 4);
    }
  }
  View view() { return {bytes, &scalar, dtype}; }
};

struct RowSizes {
  std::int64_t rows, cols;
  explicit RowSizes(const View& x)
      : rows(x.shape->back() == 0 ? 0 : x.count() / std::int64_t{x.shape->back()}),
        cols(x.shape->back()) {}
};

// The shape of one number for each row, broadcast along it.
Shape column_of(const Shape& x) {
  Shape column = x;
  column[column.rank() - 1] = 1;
  return column;
}

Ints rows_of(const Shape& x) {
  Ints axes;
  for (int a = 0; a + 1 < x.rank(); ++a) axes.push_back(a);
  return axes;
}

// Moments ---------------------------------------------------------------------------------------

template <class Count>
Exprs moments_of(Expr x, Count n) {
  const Expr mean = row_sum(x) / n, centred = x - mean;
  return {mean, row_sum(centred * centred) / n};
}
const RowKernel moments_of_rows({kRow, kScalar}, {kPerRow, kPerRow},
                                [](const Exprs& in) { return moments_of(in[0], in[1]); });

void row_moments(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const std::int64_t cols = shape.back();
  Number n(c.in[0].dtype, static_cast<double>(cols));
  const View in[] = {c.in[0], n.view()};
  moments_of_rows(c.out[0].count(), cols, in, c.out);
}

}  // namespace

const Op centred_line_op = elementwise(
    {.name = "centred_line",
     .doc = "(x - centre) * slope + offset; of (x, centre, slope, offset).",
     .dtypes = kWide},
    [](Expr x, Expr centre, Expr slope, Expr offset) { return (x - centre) * slope + offset; });

const Op row_moments_op = composite(
    {.name = "row_moments",
     .doc = "The mean and the variance along the last axis, which is kept as 1.",
     .dtypes = kWide,
     .inputs = 1,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           if (c.shape(0).rank() == 0)
             fail<InvalidArgumentError>(
                 "[row_moments] got a scalar; expected rows along a last axis");
           const Aval moment{c.in[0].dtype, column_of(c.shape(0))};
           out.push_back(moment);
           out.push_back(moment);
         },
     .kernel = row_moments,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{1, 1};
         },
     .expression = [](const Call& c, std::span<const Expr> in) -> Exprs {
       return moments_of(in[0], static_cast<double>(c.shape(0).back()));
     },
     .row_axes =
         [](const Call& c) {
           const Size cols = c.shape(0).back();
           return cols.is_known() && cols > 0 ? 1 : -1;
         },
     .samples =
         [] {
           return std::vector<Sample>{{{{{3, 5}}}, {}}, {{{{2, 2, 3}}}, {}}, {{{{4}}}, {}}};
         },
     .like = "tensorflow.nn.moments"},
    [](const void*, std::span<const Tensor> in) {
      const Tensor mean = reduce_mean(in[0], {-1}, true);
      return Tensors{mean, reduce_mean(square(in[0] - mean), {-1}, true)};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Ints last{s.shape(0).rank() - 1};
      const auto share = [&](const Tensor& ct) { return divide_by_count(ct, s.shape(0), last); };
      if (!cts[1].defined()) {
        if (cts[0].defined()) grads[0] = Cotangent::spread(share(cts[0]), s.shape(0));
        return;
      }
      const Tensor slope = share(2 * cts[1]);
      if (!cts[0].defined()) {
        grads[0] = (s.in[0] - s.out[0]) * slope;
        return;
      }
      const Tensor line[] = {s.in[0], s.out[0], slope, share(cts[0])};
      grads[0] = centred_line_op.run(line, nullptr)[0];
    });

// Rows by given moments --------------------------------------------------------------------------

namespace {

// Written as TensorFlow writes it: one multiplication and one addition for an element.
Expr normalised(Expr x, Expr mean, Expr factor, Expr offset) {
  return x * factor + (offset - mean * factor);
}
template <class Number>
Expr inverse_deviation(Expr variance, Number epsilon) {
  return 1 / expr::sqrt(variance + epsilon);
}
const RowKernel normalise_rows({kRow, kPerRow, kPerRow, kShared, kShared, kScalar}, {kRow},
                               [](const Exprs& in) {
                                 return Exprs{normalised(
                                     in[0], in[1], in[4] * inverse_deviation(in[2], in[5]), in[3])};
                               });

// (x, mean, variance, scale, g, epsilon) -> what x, mean and variance get, and what each row adds
// to the sums of offset and scale.
const RowKernel gradient_of_rows({kRow, kPerRow, kPerRow, kShared, kRow, kScalar},
                                 {kRow, kPerRow, kPerRow, kSums, kSums}, [](const Exprs& in) {
                                   const Expr inverse = inverse_deviation(in[2], in[5]),
                                              centred = in[0] - in[1];
                                   const Expr gs = in[4] * in[3];
                                   return Exprs{
                                       gs * inverse, -(row_sum(gs) * inverse),
                                       row_sum(gs * centred) * (inverse * inverse * inverse * -0.5),
                                       in[4], in[4] * (centred * inverse)};
                                 });

void check_row_normalization(const Call& c, int scale) {
  const Shape& x = c.shape(0);
  if (x.rank() == 0)
    fail<InvalidArgumentError>("[", c.op.name(), "] got a scalar; expected rows along a last axis");
  check_same_dtype(c);
  for (int i : {1, 2}) check_operand_shape(c, i, column_of(x));
  check_operand_shape(c, scale, {x.back()});
}

void normalise(const KernelCall& c) {
  const RowSizes n(c.in[0]);
  Number epsilon(c.in[0].dtype, c.get<RowNormAttrs>().epsilon);
  const View in[] = {c.in[0], c.in[1], c.in[2], c.in[3], c.in[4], epsilon.view()};
  normalise_rows(n.rows, n.cols, in, c.out);
}

// A piece of at most 64 rows has sums of its own; it goes through the kernel in blocks that are not
// spread over threads.
void normalise_gradient(const KernelCall& c) {
  const RowSizes n(c.in[0]);
  const DType dtype = c.in[0].dtype;
  const auto element = static_cast<std::int64_t>(size_of(dtype)), row_bytes = n.cols * element;
  const std::int64_t block =
      std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(1, n.cols), 1, 64);
  const std::int64_t piece = std::max<std::int64_t>(block, 16),
                     pieces = (n.rows + piece - 1) / piece;
  Number epsilon(dtype, c.get<RowNormAttrs>().epsilon);
  kernels::Scratch partial(2 * static_cast<std::size_t>(pieces * row_bytes));
  char* const offset_sums = partial.as<char>();
  char* const scale_sums = offset_sums + pieces * row_bytes;
  parallel_for(pieces, [&](std::int64_t p) {
    const auto at = [&](const View& v, std::int64_t bytes) {
      return View{v.as<char>() + bytes, v.shape, v.dtype};
    };
    const View sums[] = {{offset_sums + p * row_bytes, c.out[3].shape, dtype},
                         {scale_sums + p * row_bytes, c.out[4].shape, dtype}};
    for (const View& s : sums) std::memset(s.data, 0, static_cast<std::size_t>(row_bytes));
    const std::int64_t end = std::min(n.rows, (p + 1) * piece);
    for (std::int64_t first = p * piece; first < end; first += block) {
      const std::int64_t rows = first * row_bytes, numbers = first * element;
      const View in[] = {at(c.in[0], rows), at(c.in[1], numbers), at(c.in[2], numbers),
                         c.in[3],           at(c.in[4], rows),    epsilon.view()};
      const View out[] = {at(c.out[0], rows), at(c.out[1], numbers), at(c.out[2], numbers), sums[0],
                          sums[1]};
      gradient_of_rows(std::min(block, end - first), n.cols, in, out);
    }
  });
  kernels::reduce_axis(kernels::Reduction::sum, dtype, offset_sums, 1, pieces, n.cols,
                       c.out[3].data);
  kernels::reduce_axis(kernels::Reduction::sum, dtype, scale_sums, 1, pieces, n.cols,
                       c.out[4].data);
}

// The gradient in simpler ops: what higher orders differentiate.
Tensors gradient_body(const void* attrs, std::span<const Tensor> in) {
  const Tensor &x = in[0], &g = in[4];
  const Tensor inverse = 1.0 / sqrt(in[2] + static_cast<const RowNormAttrs*>(attrs)->epsilon);
  const Tensor centred = x - in[1], gs = g * in[3];
  const Ints rows = rows_of(x.shape());
  return {gs * inverse, negative(reduce_sum(gs, {-1}, true) * inverse),
          reduce_sum(gs * centred, {-1}, true) * (inverse * inverse * inverse * -0.5),
          reduce_sum(g, rows), reduce_sum(g * (centred * inverse), rows)};
}

// Where a compiler makes one loop of it; few or very long rows are better off with the kernel.
Tensors gradient_in_simple_ops(const void* attrs, std::span<const Tensor> in) {
  const Size cols = in[0].shape().back(), rows = column_of(in[0].shape()).num_elements();
  if (!cols.is_known() || cols < 32 || cols > 8192 || (rows.is_known() && rows < 32)) return {};
  return gradient_body(attrs, in);
}

Tensor in_simple_ops(std::span<const Tensor> in, double epsilon) {
  const Tensor factor = multiply(in[4], 1.0 / sqrt(in[2] + epsilon));
  return multiply(in[0], factor) + (in[3] - multiply(in[1], factor));
}

}  // namespace

const Op row_normalization_gradient_op = composite(
    {.name = "row_normalization_gradient",
     .doc = "What row_normalization sends back to its operands: of (x, mean, variance, scale, g).",
     .dtypes = kWide,
     .attrs = &attr_type<RowNormAttrs>(),
     .inputs = 5,
     .outputs = 5,
     .infer =
         [](const Call& c, Avals& out) {
           check_row_normalization(c, 3);
           check_operand_shape(c, 4, c.shape(0));
           for (int like : {0, 1, 2, 3, 3}) out.push_back({c.in[0].dtype, c.shape(like)});
         },
     .kernel = normalise_gradient,
     .batch = batch_loop,
     .lower = gradient_in_simple_ops,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<RowNormAttrs>({{{3, 5}}, {{3, 1}}, {{3, 1}, 0.5, 2}, {{5}}, {{3, 5}}}, {0.1}),
               sample<RowNormAttrs>(
                   {{{2, 2, 3}}, {{2, 2, 1}}, {{2, 2, 1}, 0.5, 2}, {{3}}, {{2, 2, 3}}}, {0.1})};
         }},
    gradient_body);

const Op row_normalization_op = composite(
    {.name = "row_normalization",
     .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset, with moments for each row; of "
            "(x, mean, variance, offset, scale).",
     .dtypes = kWide,
     .attrs = &attr_type<RowNormAttrs>(),
     .inputs = 5,
     .infer =
         [](const Call& c, Avals& out) {
           check_row_normalization(c, 4);
           check_operand_shape(c, 3, c.shape(4));
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel = normalise,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0b11111, 0};  // higher orders run the body again
         },
     .expression = [](const Call& c, std::span<const Expr> in) -> Exprs {
       const Expr factor = in[4] * inverse_deviation(in[2], c.get<RowNormAttrs>().epsilon);
       return {normalised(in[0], in[1], factor, in[3])};
     },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<RowNormAttrs>({{{3, 5}}, {{3, 1}}, {{3, 1}, 0.5, 2}, {{5}}, {{5}}}, {0.1}),
               sample<RowNormAttrs>({{{2, 2, 3}}, {{2, 2, 1}}, {{2, 2, 1}, 0.5, 2}, {{3}}, {{3}}},
                                    {0.1})};
         },
     .like = "tensorflow.nn.batch_normalization",
     .first_order_outputs = 1},
    [](const void* attrs, std::span<const Tensor> in) {
      return Tensors{in_simple_ops(in, static_cast<const RowNormAttrs*>(attrs)->epsilon)};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Tensor in[] = {s.in[0], s.in[1], s.in[2], s.in[4], cts[0]};
      Tensors all = row_normalization_gradient_op.run(in, s.attrs);
      for (std::size_t i = 0; i < 5; ++i) grads[i] = all[i];
    });

namespace {

bool is_wide(DType t) { return t == float32 || t == float64; }

}  // namespace

std::pair<Tensor, Tensor> moments(In x, const Shape& axes, bool keepdims) {
  const Ints normal = normal_axes("moments", axes, x->rank());
  if (!is_wide(x->dtype()) || normal.rank() != 1 || normal[0] != x->rank() - 1)
    return {reduce_mean(x, axes, keepdims), reduce_variance(x, axes, keepdims)};
  const Tensor in[] = {x};
  Tensors both = row_moments_op.run(in, nullptr);
  if (keepdims) return {both[0], both[1]};
  const Shape rows = reduced_shape(x->shape(), normal, false);
  return {reshape(both[0], rows), reshape(both[1], rows)};
}

namespace nn {

Tensor batch_normalization(In x, In mean, In variance, In offset, In scale, double epsilon) {
  const Tensor in[] = {x, mean, variance, offset, scale};
  const Shape& shape = in[0].shape();
  bool by_rows = is_wide(in[0].dtype()) && shape.rank() > 0;
  for (const Tensor& t : in) by_rows &= t.dtype() == in[0].dtype();
  for (int i : {1, 2}) by_rows = by_rows && is_same(in[i].shape(), column_of(shape));
  for (int i : {3, 4}) by_rows = by_rows && in[i].shape() == Shape{shape.back()};
  if (!by_rows) return in_simple_ops(in, epsilon);
  const RowNormAttrs attrs{epsilon};
  return row_normalization_op.run(in, &attrs)[0];
}

}  // namespace nn
}  // namespace gradus
