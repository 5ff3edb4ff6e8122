// Layer normalisation over the last axis as fused row kernels; batch normalisation from elementwise
// ops with given statistics.
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
#include "ops/records.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

using expr::row_sum;
using Exprs = RowKernel::Exprs;
constexpr auto kRow = RowOperand::row, kShared = RowOperand::shared, kScalar = RowOperand::scalar;

struct NormAttrs {
  double epsilon = 1e-3;
  static auto fields() { return attr_fields(attr("epsilon", &NormAttrs::epsilon)); }
};

// The statistics of a row, in two passes: the mean, then the mean square around it.
struct RowStatistics {
  Expr centred, scale;
  RowStatistics(Expr x, Expr epsilon, Expr inverse_n) {
    centred = x - row_sum(x) * inverse_n;
    scale = 1 / expr::sqrt(row_sum(centred * centred) * inverse_n + epsilon);
  }
};

const RowKernel normalise_rows({kRow, kShared, kShared, kScalar, kScalar}, {kRow},
                               [](const Exprs& in) {
                                 const RowStatistics s(in[0], in[3], in[4]);
                                 return Exprs{s.centred * s.scale * in[1] + in[2]};
                               });

// dx, and g * xhat, whose column sums are the gradient of the scale.
const RowKernel gradient_rows({kRow, kShared, kRow, kScalar, kScalar}, {kRow, kRow},
                              [](const Exprs& in) {
                                const RowStatistics s(in[0], in[3], in[4]);
                                const Expr xhat = s.centred * s.scale, g = in[2] * in[1];
                                const Expr mean_g = row_sum(g) * in[4];
                                const Expr mean_gx = row_sum(g * xhat) * in[4];
                                return Exprs{s.scale * (g - mean_g - xhat * mean_gx), in[2] * xhat};
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
  for (const View& v : c.in) {
    if (v.dtype != c.in[0].dtype) {
      fail<InvalidArgumentError>("[", c.op.name(), "] got dtypes ", name_of(c.in[0].dtype), " and ",
                                 name_of(v.dtype), "; all must be the same, cast the others");
    }
  }
  out.push_back({c.in[0].dtype, x});
}

void normalise(const KernelCall& c) {
  const std::int64_t cols = c.shape(0).back(), rows = cols == 0 ? 0 : c.in[0].count() / cols;
  Numbers numbers(c.in[0].dtype, c.get<NormAttrs>().epsilon, cols);
  const View in[] = {c.in[0], c.in[1], c.in[2], numbers.view(numbers.epsilon),
                     numbers.view(numbers.inverse_n)};
  normalise_rows(rows, cols, in, c.out);
}

// Row blocks make dx and, in scratch memory, g * xhat; its column sums and those of g are added up
// block by block, so that everything is read once.
void normalise_gradient(const KernelCall& c) {
  constexpr std::int64_t kBlock = 32;
  const DType dtype = c.in[0].dtype;
  const std::int64_t cols = c.shape(0).back(), rows = cols == 0 ? 0 : c.in[0].count() / cols;
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * size_of(dtype);
  const std::int64_t blocks = (rows + kBlock - 1) / kBlock;
  Numbers numbers(dtype, c.get<NormAttrs>().epsilon, cols);
  kernels::Scratch partial(2 * static_cast<std::size_t>(std::max<std::int64_t>(1, blocks)) *
                           row_bytes);
  char* scale_sums = partial.as<char>();
  char* offset_sums = scale_sums + static_cast<std::size_t>(blocks) * row_bytes;
  parallel_for(blocks, [&](std::int64_t b) {
    const std::int64_t first = b * kBlock, n = std::min(kBlock, rows - first);
    const std::size_t skip = static_cast<std::size_t>(first) * row_bytes;
    kernels::Scratch products(static_cast<std::size_t>(n) * row_bytes);
    const Shape block{n, cols};
    const auto at = [&](const View& v) { return View{v.as<char>() + skip, &block, dtype}; };
    const View in[] = {at(c.in[0]), c.in[1], at(c.in[2]), numbers.view(numbers.epsilon),
                       numbers.view(numbers.inverse_n)};
    const View out[] = {at(c.out[0]), {products.data(), &block, dtype}};
    gradient_rows(n, cols, in, out);
    using kernels::Reduction;
    kernels::reduce_axis(Reduction::sum, dtype, products.data(), 1, n, cols,
                         scale_sums + static_cast<std::size_t>(b) * row_bytes);
    kernels::reduce_axis(Reduction::sum, dtype, in[2].data, 1, n, cols,
                         offset_sums + static_cast<std::size_t>(b) * row_bytes);
  });
  kernels::reduce_axis(kernels::Reduction::sum, dtype, scale_sums, 1, blocks, cols, c.out[1].data);
  kernels::reduce_axis(kernels::Reduction::sum, dtype, offset_sums, 1, blocks, cols, c.out[2].data);
}

struct Statistics {
  Tensor xhat, scale;
  Statistics(const Tensor& x, double epsilon) {
    const Tensor centred = x - reduce_mean(x, {-1}, true);
    scale = 1.0 / sqrt(reduce_mean(square(centred), {-1}, true) + epsilon);
    xhat = centred * scale;
  }
};

// Sums over everything but the last axis.
Tensor column_sums(const Tensor& x) {
  Ints axes;
  for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(i);
  return axes.rank() == 0 ? x : reduce_sum(x, axes);
}

}  // namespace

const Op layer_norm_gradient_op = composite(
    {.name = "layer_normalization_gradient",
     .doc = "What layer_normalization sends back to input, scale and offset: of (x, scale, g).",
     .attrs = &attr_type<NormAttrs>(),
     .inputs = 3,
     .outputs = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_norm(c, out);
           out.push_back({c.in[0].dtype, c.shape(1)});
           out.push_back({c.in[0].dtype, c.shape(1)});
         },
     .kernel = normalise_gradient,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<NormAttrs>({{{3, 5}}, {{5}, 0.5, 2}, {{3, 5}}}, {0.1}),
               sample<NormAttrs>({{{2, 2, 3}}, {{3}, 0.5, 2}, {{2, 2, 3}}}, {0.1})};
         }},
    [](const void* attrs, std::span<const Tensor> in) {
      const Statistics s(in[0], static_cast<const NormAttrs*>(attrs)->epsilon);
      const Tensor g = in[2] * in[1];
      const Tensor mean_g = reduce_mean(g, {-1}, true),
                   mean_gx = reduce_mean(g * s.xhat, {-1}, true);
      return Tensors{s.scale * (g - mean_g - s.xhat * mean_gx), column_sums(in[2] * s.xhat),
                     column_sums(in[2])};
    });

const Op layer_norm_op = composite(
    {.name = "layer_normalization",
     .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset over the last axis.",
     .attrs = &attr_type<NormAttrs>(),
     .inputs = 3,
     .infer = check_norm,
     .kernel = normalise,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{7, 0};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<NormAttrs>({{{3, 5}}, {{5}, 0.5, 2}, {{5}}}, {0.1}),
               sample<NormAttrs>({{{2, 2, 3}}, {{3}, 0.5, 2}, {{3}}}, {0.1})};
         },
     .like = "keras.layers.LayerNormalization"},
    [](const void* attrs, std::span<const Tensor> in) {
      const Statistics s(in[0], static_cast<const NormAttrs*>(attrs)->epsilon);
      return Tensors{s.xhat * in[1] + in[2]};
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Tensor in[] = {s.in[0], s.in[1], cts[0]};
      Tensors all = layer_norm_gradient_op.run(in, s.attrs);
      for (std::size_t i = 0; i < 3; ++i) grads[i] = all[i];
    });

namespace nn {

Tensor layer_normalization(In x, In scale, In offset, double epsilon) {
  return layer_norm_op({x, scale, offset}, NormAttrs{epsilon});
}

Tensor batch_normalization(In x, In mean, In variance, In offset, In scale, double epsilon) {
  const Tensor factor = multiply(scale, 1.0 / gradus::sqrt(variance + epsilon));
  return multiply(x, factor) + (offset - multiply(mean, factor));
}

}  // namespace nn
}  // namespace gradus
