// Layer normalisation over the last axis as fused row kernels.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/thread_pool.h"
#include "expr/math.h"
#include "gradus/elementwise.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

using expr::row_sum;
using Exprs = RowKernel::Exprs;
constexpr auto kRow = RowOperand::row, kPerRow = RowOperand::per_row;
constexpr auto kShared = RowOperand::shared, kScalar = RowOperand::scalar;

struct NormAttrs {
  double epsilon = 1e-3;
  static auto fields() { return attr_fields(attr("epsilon", &NormAttrs::epsilon)); }
};

// The statistics of a row, in two passes: the mean, then the mean square around it.
struct RowStatistics {
  Expr mean, centred, scale;
  template <class Number>
  RowStatistics(Expr x, Number epsilon, Number inverse_n) {
    mean = row_sum(x) * inverse_n;
    centred = x - mean;
    scale = 1 / expr::sqrt(row_sum(centred * centred) * inverse_n + epsilon);
  }
};

// y, and the statistics for the gradient.
Exprs normalised(const RowStatistics& s, Expr scale, Expr offset) {
  return {s.centred * s.scale * scale + offset, s.mean, s.scale};
}
const RowKernel normalise_rows({kRow, kShared, kShared, kScalar, kScalar}, {kRow, kPerRow, kPerRow},
                               [](const Exprs& in) {
                                 const RowStatistics s(in[0], in[3], in[4]);
                                 return normalised(s, in[1], in[2]);
                               });
// For a compiler: the same if the length is known, and no number is rounded to a half.
int normalised_rows(const Call& c) {
  return c.shape(0).back() > 0 && size_of(c.in[0].dtype) >= 4 ? 1 : -1;
}

// (x, scale, g, mean, 1 / deviation, 1 / n) -> the means of g * scale and of g * scale * xhat.
const RowKernel gradient_means({kRow, kShared, kRow, kPerRow, kPerRow, kScalar}, {kPerRow, kPerRow},
                               [](const Exprs& in) {
                                 const Expr xhat = (in[0] - in[3]) * in[4], g = in[2] * in[1];
                                 return Exprs{row_sum(g) * in[5], row_sum(g * xhat) * in[5]};
                               });

// (x, scale, g, mean, 1 / deviation, the two means, sums of g * xhat and of g so far) -> dx and the
// new sums. The sums are one row each, which every row of the block adds to.
const RowKernel gradient_rows(
    {kRow, kShared, kRow, kPerRow, kPerRow, kPerRow, kPerRow, kShared, kShared},
    {kRow, kShared, kShared}, [](const Exprs& in) {
      const Expr xhat = (in[0] - in[3]) * in[4], g = in[2] * in[1];
      return Exprs{in[4] * (g - in[5] - xhat * in[6]), in[7] + in[2] * xhat, in[8] + in[2]};
    });

// The numbers that the programs take besides tensors, in the dtype of the rows.
struct Numbers {
  alignas(8) std::byte epsilon[8], inverse_n[8];
  Shape scalar;
  DType dtype;

  Numbers(DType t, double eps, std::int64_t n) : dtype(t) {
    const auto put = [&](std::byte* at, double x) {
      visit_dtype(t, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (is_floating(dtype_v<T>)) {
          *reinterpret_cast<T*>(at) = T(static_cast<float>(x));
          if constexpr (sizeof(T) >= 4) *reinterpret_cast<T*>(at) = static_cast<T>(x);
        }
      });
    };
    put(epsilon, eps);
    put(inverse_n, 1.0 / static_cast<double>(n));
  }
  View view(std::byte* at) { return {at, &scalar, dtype}; }
};

void check_norm(const Call& c, Avals& out) {
  const Shape& x = c.shape(0);
  if (x.rank() == 0 || c.shape(1).rank() != 1 || c.shape(1)[0] != x.back()) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got an input of shape ", x,
                               " and a scale of shape ", c.shape(1),
                               "; the scale has the length of the last axis");
  }
  check_same_dtype(c);
  out.push_back({c.in[0].dtype, x});
}

void normalise(const KernelCall& c) {
  const std::int64_t cols = c.shape(0).back(), rows = cols == 0 ? 0 : c.in[0].count() / cols;
  Numbers numbers(c.in[0].dtype, c.get<NormAttrs>().epsilon, cols);
  const View in[] = {c.in[0], c.in[1], c.in[2], numbers.view(numbers.epsilon),
                     numbers.view(numbers.inverse_n)};
  normalise_rows(rows, cols, in, c.out);
  if (cols > 0) return;
  for (const View& statistic : c.out.subspan(1)) {  // of nothing: NaN, all bits set
    std::memset(statistic.data, 0xff,
                static_cast<std::size_t>(statistic.count()) * size_of(statistic.dtype));
  }
}

// Blocks of rows that stay in the first-level cache are read twice: once for the two means of each
// row, once for dx and the column sums.
void normalise_gradient(const KernelCall& c) {
  constexpr std::int64_t kMostRows = 8;
  const DType dtype = c.in[0].dtype;
  const std::int64_t cols = c.shape(0).back(), rows = cols == 0 ? 0 : c.in[0].count() / cols;
  // So few rows that a row kernel does not spread them over threads: they add to the same sums.
  const std::int64_t block =
      std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(1, cols), 1, kMostRows);
  const std::size_t element = size_of(dtype), row_bytes = static_cast<std::size_t>(cols) * element;
  // A piece of work is a run of blocks with its own sums.
  const std::int64_t piece =
      std::max(block, 16384 / std::max<std::int64_t>(1, cols) / block * block);
  const std::int64_t pieces = (rows + piece - 1) / piece;
  Numbers numbers(dtype, c.get<NormAttrs>().epsilon, cols);
  kernels::Scratch partial(2 * static_cast<std::size_t>(pieces) * row_bytes);
  char* scale_sums = partial.as<char>();
  char* offset_sums = scale_sums + static_cast<std::size_t>(pieces) * row_bytes;
  std::memset(scale_sums, 0, 2 * static_cast<std::size_t>(pieces) * row_bytes);
  const Shape any{};
  const auto view = [&](void* at) { return View{at, &any, dtype}; };
  parallel_for(pieces, [&](std::int64_t p) {
    alignas(64) std::byte means[2][kMostRows * 8];
    const View sums[] = {view(scale_sums + static_cast<std::size_t>(p) * row_bytes),
                         view(offset_sums + static_cast<std::size_t>(p) * row_bytes)};
    for (std::int64_t first = p * piece; first < std::min(rows, (p + 1) * piece); first += block) {
      const std::int64_t n = std::min(block, rows - first);
      const auto row = [&](const View& v) {
        return view(v.as<char>() + static_cast<std::size_t>(first) * row_bytes);
      };
      const auto number = [&](const View& v) {
        return view(v.as<char>() + static_cast<std::size_t>(first) * element);
      };
      const View x = row(c.in[0]), g = row(c.in[2]), mean = number(c.in[3]),
                 scale = number(c.in[4]);
      const View m[] = {view(means[0]), view(means[1])};
      const View in[] = {x, c.in[1], g, mean, scale, numbers.view(numbers.inverse_n)};
      gradient_means(n, cols, in, m);
      const View all[] = {x, c.in[1], g, mean, scale, m[0], m[1], sums[0], sums[1]};
      const View out[] = {row(c.out[0]), sums[0], sums[1]};
      gradient_rows(n, cols, all, out);
    }
  });
  kernels::reduce_axis(kernels::Reduction::sum, dtype, scale_sums, 1, pieces, cols, c.out[1].data);
  kernels::reduce_axis(kernels::Reduction::sum, dtype, offset_sums, 1, pieces, cols, c.out[2].data);
}

// One number for each row.
Shape per_row(const Shape& x) { return Shape(std::span(x.begin(), x.end() - 1)); }

Ints leading_axes_of_rows(const Shape& x) {
  Ints axes;
  for (int a = 0; a + 1 < x.rank(); ++a) axes.push_back(a);
  return axes;
}

// The gradient in simpler ops: what higher orders differentiate.
Tensors gradient_body(const void*, std::span<const Tensor> in) {
  const Shape& shape = in[0].shape();
  Shape column = per_row(shape);
  column.push_back(1);
  const Tensor mean = reshape(in[3], column), scale = reshape(in[4], column), &g = in[2];
  const Tensor xhat = (in[0] - mean) * scale, gs = g * in[1];
  const Tensor along_one = reduce_mean(gs, {-1}, true);
  const Tensor along_x = reduce_mean(gs * xhat, {-1}, true);
  const Ints rows = leading_axes_of_rows(shape);
  return {scale * (gs - along_one - xhat * along_x), reduce_sum(g * xhat, rows),
          reduce_sum(g, rows)};
}

// The same where a compiler makes one loop over rows of it that also adds up the sums over rows:
// not for few, short or very long rows.
Tensors gradient_in_simple_ops(const void* attrs, std::span<const Tensor> in) {
  const Shape column = per_row(in[0].shape());
  const Size n = in[0].shape().back();
  if (!n.is_known()) return {};
  const bool few_rows = column.is_known() && column.num_elements() < 32;
  if (few_rows || n < 32 || n > 8192 || size_of(in[0].dtype()) < 4) return {};
  return gradient_body(attrs, in);
}

}  // namespace

const Op layer_norm_gradient_op = composite(
    {.name = "layer_normalization_gradient",
     .doc = "What layer_normalization sends back: of (x, scale, g, mean, 1 / deviation).",
     .attrs = &attr_type<NormAttrs>(),
     .inputs = 5,
     .outputs = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_norm(c, out);
           check_operand_shape(c, 2, c.shape(0));
           for (int i : {3, 4}) check_operand_shape(c, i, per_row(c.shape(0)));
           out.push_back({c.in[0].dtype, c.shape(1)});
           out.push_back({c.in[0].dtype, c.shape(1)});
         },
     .kernel = normalise_gradient,
     .batch = batch_loop,
     .lower = gradient_in_simple_ops,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<NormAttrs>({{{3, 5}}, {{5}, 0.5, 2}, {{3, 5}}, {{3}}, {{3}, 0.5, 2}}, {0.1}),
               sample<NormAttrs>(
                   {{{2, 2, 3}}, {{3}, 0.5, 2}, {{2, 2, 3}}, {{2, 2}}, {{2, 2}, 0.5, 2}}, {0.1})};
         }},
    gradient_body);

const Op layer_norm_op = composite(
    {.name = "layer_normalization",
     .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset over the last axis.",
     .attrs = &attr_type<NormAttrs>(),
     .inputs = 3,
     .outputs = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_norm(c, out);
           check_operand_shape(c, 2, c.shape(1));
           out.push_back({c.in[0].dtype, per_row(c.shape(0))});
           out.push_back({c.in[0].dtype, per_row(c.shape(0))});
         },
     .kernel = normalise,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{7, 6};
         },
     .expression = [](const Call& c, std::span<const Expr> in) -> Exprs {
       const double n = static_cast<double>(c.shape(0).back());
       return normalised(RowStatistics(in[0], c.get<NormAttrs>().epsilon, 1 / n), in[1], in[2]);
     },
     .row_axes = normalised_rows,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<NormAttrs>({{{3, 5}}, {{5}, 0.5, 2}, {{5}}}, {0.1}),
               sample<NormAttrs>({{{2, 2, 3}}, {{3}, 0.5, 2}, {{3}}}, {0.1})};
         },
     .like = "keras.layers.LayerNormalization",
     .first_order_outputs = 1},
    [](const void* attrs, std::span<const Tensor> in) {
      const Tensor mean = reduce_mean(in[0], {-1}, true), centred = in[0] - mean;
      const Tensor scale = 1.0 / sqrt(reduce_mean(square(centred), {-1}, true) +
                                      static_cast<const NormAttrs*>(attrs)->epsilon);
      return Tensors{centred * scale * in[1] + in[2], reshape(mean, per_row(in[0].shape())),
                     reshape(scale, per_row(in[0].shape()))};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      // The statistics are kept for this rule; nobody asks for their derivative.
      if (!cts[0].defined()) return;
      const Tensor in[] = {s.in[0], s.in[1], cts[0], s.out[1], s.out[2]};
      Tensors all = layer_norm_gradient_op.run(in, s.attrs);
      for (std::size_t i = 0; i < 3; ++i) grads[i] = all[i];
    });

namespace nn {

Tensor layer_normalization(In x, In scale, In offset, double epsilon) {
  const NormAttrs attrs{epsilon};
  const Tensor in[] = {x, scale, offset};
  return std::move(layer_norm_op.run(in, &attrs)[0]);
}

}  // namespace nn
}  // namespace gradus
