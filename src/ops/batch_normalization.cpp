// Batch normalisation in training: statistics over all axes but the last, by passes over blocks of
// rows that stay in cache. The gradient is one fused op; higher orders go through single ops.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/thread_pool.h"
#include "gradus/elementwise.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

using Exprs = RowKernel::Exprs;
constexpr auto kRow = RowOperand::row, kShared = RowOperand::shared;
constexpr DTypes kWide = one_dtype(float32) | one_dtype(float64);

struct BatchNormAttrs {
  double epsilon = 1e-3;
  static auto fields() { return attr_fields(attr("epsilon", &BatchNormAttrs::epsilon)); }
};

// (x, mean, sum so far) -> sum of squares around the mean.
const RowKernel add_squares({kRow, kShared, kShared}, {kShared}, [](const Exprs& in) {
  const Expr centred = in[0] - in[1];
  return Exprs{in[2] + centred * centred};
});
// (x, mean, factor, offset) -> y.
const RowKernel normalise_columns({kRow, kShared, kShared, kShared}, {kRow}, [](const Exprs& in) {
  return Exprs{(in[0] - in[1]) * in[2] + in[3]};
});
// (x, g, mean, 1 / deviation, sums so far) -> sums of g * xhat and of g.
const RowKernel add_gradients(
    {kRow, kRow, kShared, kShared, kShared, kShared}, {kShared, kShared}, [](const Exprs& in) {
      return Exprs{in[4] + in[1] * ((in[0] - in[2]) * in[3]), in[5] + in[1]};
    });
// (x, g, mean, 1 / deviation, mean of g * xhat, mean of g, factor) -> dx.
const RowKernel spread_gradients({kRow, kRow, kShared, kShared, kShared, kShared, kShared}, {kRow},
                                 [](const Exprs& in) {
                                   return Exprs{in[6] *
                                                (in[1] - in[5] - (in[0] - in[2]) * in[3] * in[4])};
                                 });

struct Columns {
  DType dtype;
  std::int64_t rows, cols;
  std::size_t row_bytes;
  Shape any;

  explicit Columns(const View& x)
      : dtype(x.dtype),
        rows(x.shape->back() == 0 ? 0 : x.count() / std::int64_t{x.shape->back()}),
        cols(x.shape->back()),
        row_bytes(static_cast<std::size_t>(cols) * size_of(dtype)) {}

  View at(const View& v, std::int64_t row) const {
    return {v.as<char>() + static_cast<std::size_t>(row) * row_bytes, &any, dtype};
  }

  // Sums over all rows into `sums`, each of [cols]. add(first, n, sums) adds n rows to its own
  // sums, which are few enough additions to be accurate; those are then summed pairwise.
  template <std::size_t N, class F>
  void sum(const View (&sums)[N], F&& add) const {
    const std::int64_t block =
        std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(1, cols), 1, 64);
    const std::int64_t blocks = (rows + block - 1) / block;
    const std::size_t each = static_cast<std::size_t>(blocks) * row_bytes;
    kernels::Scratch partial(N * each);
    std::memset(partial.data(), 0, N * each);
    parallel_for(blocks, [&](std::int64_t b) {
      View own[N];
      for (std::size_t i = 0; i < N; ++i)
        own[i] = at({partial.as<char>() + i * each, &any, dtype}, b);
      add(b * block, std::min(block, rows - b * block), own);
    });
    for (std::size_t i = 0; i < N; ++i) {
      kernels::reduce_axis(kernels::Reduction::sum, dtype, partial.as<char>() + i * each, 1, blocks,
                           cols, sums[i].data);
    }
  }
};

// f(i, as<T>...) for each column, in the dtype of the columns.
template <class F>
void for_each_column(const Columns& c, F&& f) {
  const auto run = [&](auto zero) {
    for (std::int64_t i = 0; i < c.cols; ++i) f(i, zero);
  };
  c.dtype == float32 ? run(0.0f) : run(0.0);
}

void normalise(const KernelCall& c) {
  const Columns columns(c.in[0]);
  const View &x = c.in[0], &mean = c.out[1], &variance = c.out[2];
  kernels::reduce_axis(kernels::Reduction::mean, columns.dtype, x.data, 1, columns.rows,
                       columns.cols, mean.data);
  const View squares[] = {variance};
  columns.sum(squares, [&](std::int64_t first, std::int64_t n, const View* sums) {
    const View in[] = {columns.at(x, first), mean, sums[0]};
    add_squares(n, columns.cols, in, {sums, 1});
  });
  kernels::Scratch memory(columns.row_bytes);
  const View factor{memory.data(), &columns.any, columns.dtype};
  for_each_column(columns, [&](std::int64_t i, auto zero) {
    using T = decltype(zero);
    T& v = variance.as<T>()[i];
    v /= static_cast<T>(columns.rows);
    factor.as<T>()[i] =
        c.in[1].as<T>()[i] / std::sqrt(v + static_cast<T>(c.get<BatchNormAttrs>().epsilon));
  });
  const View in[] = {x, mean, factor, c.in[2]};
  normalise_columns(columns.rows, columns.cols, in, c.out.first(1));
}

void normalise_gradient(const KernelCall& c) {
  const Columns columns(c.in[0]);
  const View &x = c.in[0], &g = c.in[2], &mean = c.in[3];
  kernels::Scratch memory(4 * columns.row_bytes);
  const auto scratch = [&](std::int64_t i) {
    return columns.at({memory.data(), &columns.any, columns.dtype}, i);
  };
  const View inverse = scratch(0), mean_gx = scratch(1), mean_g = scratch(2), factor = scratch(3);
  for_each_column(columns, [&](std::int64_t i, auto zero) {
    using T = decltype(zero);
    inverse.as<T>()[i] =
        1 / std::sqrt(c.in[4].as<T>()[i] + static_cast<T>(c.get<BatchNormAttrs>().epsilon));
  });
  const View totals[] = {c.out[1], c.out[2]};
  columns.sum(totals, [&](std::int64_t first, std::int64_t n, const View* sums) {
    const View in[] = {columns.at(x, first), columns.at(g, first), mean, inverse, sums[0], sums[1]};
    add_gradients(n, columns.cols, in, {sums, 2});
  });
  for_each_column(columns, [&](std::int64_t i, auto zero) {
    using T = decltype(zero);
    const T n = static_cast<T>(columns.rows);
    mean_gx.as<T>()[i] = c.out[1].as<T>()[i] / n;
    mean_g.as<T>()[i] = c.out[2].as<T>()[i] / n;
    factor.as<T>()[i] = c.in[1].as<T>()[i] * inverse.as<T>()[i];
  });
  const View in[] = {x, g, mean, inverse, mean_gx, mean_g, factor};
  spread_gradients(columns.rows, columns.cols, in, c.out.first(1));
}

// x, and a number for each of its columns in every other operand but `like_x`.
void check_columns(const Call& c, std::size_t like_x) {
  const Shape& x = c.shape(0);
  if (x.rank() == 0) {
    fail<InvalidArgumentError>("[", c.op.name(),
                               "] got a scalar; the last axis holds the channels");
  }
  check_same_dtype(c);
  for (std::size_t i = 1; i < c.in.size(); ++i)
    check_operand_shape(c, static_cast<int>(i), i == like_x ? x : Shape{x.back()});
}

Ints leading_axes(const Tensor& x) {
  Ints axes = all_axes(x.rank());
  axes.erase(x.rank() - 1);
  return axes;
}

// The gradient in simpler ops: what higher orders differentiate.
Tensors gradient_body(const void* attrs, std::span<const Tensor> in) {
  const Ints axes = leading_axes(in[0]);
  const double epsilon = static_cast<const BatchNormAttrs*>(attrs)->epsilon;
  const Tensor inverse = 1.0 / sqrt(in[4] + epsilon), &g = in[2];
  const Tensor xhat = (in[0] - in[3]) * inverse, gx = g * xhat;
  const Tensor dx = (g - reduce_mean(g, axes) - xhat * reduce_mean(gx, axes)) * (in[1] * inverse);
  return {dx, reduce_sum(gx, axes), reduce_sum(g, axes)};
}

}  // namespace

const Op batch_norm_gradient_op = composite(
    {.name = "batch_normalization_gradient",
     .doc = "What batch_normalization_training sends back: of (x, scale, g, mean, variance).",
     .dtypes = kWide,
     .attrs = &attr_type<BatchNormAttrs>(),
     .inputs = 5,
     .outputs = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_columns(c, 2);
           out.push_back({c.in[0].dtype, c.shape(0)});
           for (int i = 0; i < 2; ++i) out.push_back({c.in[0].dtype, c.shape(1)});
         },
     .kernel = normalise_gradient,
     .batch = batch_loop,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<BatchNormAttrs>({{{4, 3}}, {{3}}, {{4, 3}}, {{3}}, {{3}, 0.5, 2}}, {0.1})};
         }},
    gradient_body);

const Op batch_norm_op = composite(
    {.name = "batch_normalization_training",
     .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset with the statistics of each "
            "column (all axes but the last), and these.",
     .dtypes = kWide,
     .attrs = &attr_type<BatchNormAttrs>(),
     .inputs = 3,
     .outputs = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_columns(c, 0);
           out.push_back({c.in[0].dtype, c.shape(0)});
           for (int i = 0; i < 2; ++i) out.push_back({c.in[0].dtype, c.shape(1)});
         },
     .kernel = normalise,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{7, 6};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<BatchNormAttrs>({{{5, 3}}, {{3}, 0.5, 2}, {{3}}}, {0.1}),
               sample<BatchNormAttrs>({{{2, 3, 2, 2}}, {{2}, 0.5, 2}, {{2}}}, {0.1}),
               sample<BatchNormAttrs>({{{4, 0}}, {{0}}, {{0}}}, {0.1})};
         },
     .like = "keras.layers.BatchNormalization",
     .first_order_outputs = 1},
    [](const void* attrs, std::span<const Tensor> in) {
      const Ints axes = leading_axes(in[0]);
      const Tensor mean = reduce_mean(in[0], axes), centred = in[0] - mean;
      const Tensor variance = reduce_mean(square(centred), axes);
      const double epsilon = static_cast<const BatchNormAttrs*>(attrs)->epsilon;
      return Tensors{centred * (in[1] / sqrt(variance + epsilon)) + in[2], mean, variance};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      if (!cts[0].defined()) return;
      const Tensor in[] = {s.in[0], s.in[1], cts[0], s.out[1], s.out[2]};
      Tensors all = batch_norm_gradient_op.run(in, s.attrs);
      for (std::size_t i = 0; i < 3; ++i) grads[i] = all[i];
    });

namespace nn {

BatchNormResult fused_batch_norm(In x, In scale, In offset, double epsilon) {
  const BatchNormAttrs attrs{epsilon};
  const DType dtype = x->dtype() == float64 ? float64 : float32;  // halves are too coarse for sums
  const Tensor in[] = {cast(x, dtype), cast(scale, dtype), cast(offset, dtype)};
  const Tensors out = batch_norm_op.run(in, &attrs);
  return {cast(out[0], x->dtype()), out[1], out[2]};
}

}  // namespace nn
}  // namespace gradus
