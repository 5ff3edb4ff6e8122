// Products of matrices, with leading axes that broadcast.
#include <complex>
#include <optional>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/shaping.h"
#include "gradus/type_error.h"
#include "graph/batch.h"
#include "graph/block_kernels.h"
#include "graph/dispatch.h"
#include "graph/product.h"
#include "graph/symbols.h"
#include "kernels/gemm.h"
#include "ops/diagonal_operand.h"
#include "ops/matmul_attrs.h"
#include "ops/permuted_matmul.h"
#include "ops/records.h"
#include "ops/sibling_matmuls.h"
#include "ops/unbroadcast.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

Shape leading(const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); }

void infer_matmul(const Call& c, Avals& out) {
  const auto& p = c.get<MatmulAttrs>();
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (a.rank() < 2 || b.rank() < 2) {
    fail<InvalidArgumentError>("[matmul] got shapes ", a, " and ", b,
                               "; both need at least two axes, add one with expand_dims");
  }
  if (c.in[0].dtype != c.in[1].dtype) {
    fail<TypeError>("[matmul] got dtypes ", name_of(c.in[0].dtype), " and ", name_of(c.in[1].dtype),
                    "; both must be the same, cast one of them");
  }
  const int ra = a.rank(), rb = b.rank();
  const Size m = p.transpose_a ? a[ra - 1] : a[ra - 2];
  const Size ka = p.transpose_a ? a[ra - 2] : a[ra - 1];
  const Size kb = p.transpose_b ? b[rb - 1] : b[rb - 2];
  const Size n = p.transpose_b ? b[rb - 2] : b[rb - 1];
  if (!sizes_agree(ka, kb)) {
    fail<InvalidArgumentError>("[matmul] inner sizes ", ka, " and ", kb, " differ: shapes ", a,
                               p.transpose_a ? " (transposed)" : "", " and ", b,
                               p.transpose_b ? " (transposed)" : "");
  }
  Shape shape = broadcast_shapes("matmul", leading(a), leading(b));
  shape.push_back(m);
  shape.push_back(n);
  out.push_back({c.in[0].dtype, shape});
}

// The plain triple loop, for dtypes that the tile kernel does not have.
template <class T, class Sum>
void multiply_plainly(const kernels::GemmArgs& g) {
  const auto *a = static_cast<const T*>(g.a), *b = static_cast<const T*>(g.b);
  auto* out = static_cast<T*>(g.c);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Sum sum{};
      for (std::int64_t k = 0; k < g.k; ++k) {
        sum += static_cast<Sum>(a[g.trans_a ? k * g.lda + i : i * g.lda + k]) *
               static_cast<Sum>(b[g.trans_b ? j * g.ldb + k : k * g.ldb + j]);
      }
      out[i * g.ldc + j] = static_cast<T>(sum);
    }
  }
}

void multiply_one(const kernels::GemmArgs& g) {
  switch (g.dtype) {
    case float16:
    case bfloat16:
    case float32:
    case float64:
      return kernels::gemm(g);
    case complex64:
      return multiply_plainly<std::complex<float>, std::complex<float>>(g);
    case complex128:
      return multiply_plainly<std::complex<double>, std::complex<double>>(g);
    case int32:
      return multiply_plainly<std::int32_t, std::uint32_t>(g);  // wraps
    default:
      return multiply_plainly<std::int64_t, std::uint64_t>(g);
  }
}

kernels::GemmArgs gemm_args(const MatmulAttrs& p, const View& a, const View& b, const View& c) {
  const auto last = [](const View& v, int i) { return (*v.shape)[v.shape->rank() - i]; };
  kernels::GemmArgs g;
  g.dtype = a.dtype;
  g.trans_a = p.transpose_a;
  g.trans_b = p.transpose_b;
  g.m = last(c, 2);
  g.n = last(c, 1);
  g.k = p.transpose_a ? last(a, 2) : last(a, 1);
  g.lda = last(a, 1);
  g.ldb = last(b, 1);
  g.ldc = g.n;
  g.a = a.data;
  g.b = b.data;
  g.c = c.data;
  return g;
}

void matmul_kernel(const KernelCall& c, const BlockTaker* taker) {
  kernels::GemmArgs g = gemm_args(c.get<MatmulAttrs>(), c.in[0], c.in[1], c.out[0]);
  g.taker = taker;
  const Shape &a = c.shape(0), &b = c.shape(1), &out = *c.out[0].shape;
  const std::size_t element = size_of(g.dtype);
  const std::int64_t size_a = a[a.rank() - 2] * a.back(), size_b = b[b.rank() - 2] * b.back();
  const std::int64_t size_c = g.m * g.n;
  if (b.rank() == 2 && !g.trans_a && a.rank() > 2) {
    // One tall product: the leading axes are rows.
    g.m = size_c == 0 ? 0 : c.out[0].count() / g.n;
    return multiply_one(g);
  }
  // The place of batch `at` in an operand whose leading axes broadcast.
  const auto offset = [&](const Shape& s, std::int64_t at, std::int64_t size) {
    std::int64_t index = 0, step = 1;
    for (int i = out.rank() - 3, j = s.rank() - 3; i >= 0; --i, --j) {
      const std::int64_t here = at % out[i];
      at /= out[i];
      if (j < 0) continue;
      if (s[j] != 1) index += here * step;
      step *= s[j];
    }
    return static_cast<std::size_t>(index * size) * element;
  };
  const std::int64_t batches = size_c == 0 ? 0 : c.out[0].count() / size_c;
  // From one product to the next if that is always the same distance: 0 or one matrix.
  const auto stride = [&](const Shape& s, std::int64_t size) -> std::optional<std::int64_t> {
    const std::int64_t matrices = leading(s).num_elements();
    if (matrices == 1) return 0;
    if (matrices == batches) return size;
    return {};
  };
  const auto step_a = stride(a, size_a), step_b = stride(b, size_b);
  if (is_floating(g.dtype) && step_a && step_b)
    return kernels::gemm_batch(g, batches, {*step_a, *step_b, size_c});
  for (std::int64_t i = 0; i < batches; ++i) {
    g.a = static_cast<const char*>(c.in[0].data) + offset(a, i, size_a);
    g.b = static_cast<const char*>(c.in[1].data) + offset(b, i, size_b);
    g.c = static_cast<char*>(c.out[0].data) + static_cast<std::size_t>(i * size_c) * element;
    multiply_one(g);
  }
}

// Block by block where the kernel can, else as one block.
void matmul_blocks(const KernelCall& c, const BlockTaker& taker) {
  const Shape &a = c.shape(0), &b = c.shape(1), &out = *c.out[0].shape;
  if (out.num_elements() == 0) return;
  const auto one_or_all = [&](const Shape& s) {
    const std::int64_t matrices = leading(s).num_elements();
    return matrices == 1 || matrices == leading(out).num_elements();
  };
  if (is_floating(c.in[0].dtype) && one_or_all(a) && one_or_all(b)) return matmul_kernel(c, &taker);
  taker({0, out.num_elements() / out.back(), 0, out.back()}, [&](void* to, std::int64_t) {
    const View whole{to, &out, c.out[0].dtype};
    matmul_kernel({{c.op, c.attrs, c.in}, {&whole, 1}}, nullptr);
  });
}

// With all leading axes as rows.
Tensor as_rows(const Tensor& t) {
  Size rows = 1;
  for (int i = 0; i + 1 < t.rank(); ++i) rows *= t.shape()[i];
  return reshape(t, {rows, t.shape().back()});
}

// The product that is the transpose in one argument: which operands, and their flags.
struct Transposed {
  Tensor a, b;
  MatmulAttrs attrs;
};
Transposed transposed(const Site& s, int input, const Tensor& ct) {
  const auto& p = s.get<MatmulAttrs>();
  const Tensor other = is_complex(ct.dtype()) ? conj(s.in[1 - input]) : s.in[1 - input];
  if (input == 1 && !p.transpose_a && s.shape(0).rank() > 2 && s.shape(1).rank() == 2) {
    // One matrix for all leading axes: its gradient is one product over all rows, not a sum of
    // many.
    const Tensor a = as_rows(other), g = as_rows(ct);
    return p.transpose_b ? Transposed{g, a, {true, false}} : Transposed{a, g, {true, false}};
  }
  if (input == 0) {
    return p.transpose_a ? Transposed{other, ct, {p.transpose_b, true}}
                         : Transposed{ct, other, {false, !p.transpose_b}};
  }
  return p.transpose_b ? Transposed{ct, other, {true, p.transpose_a}}
                       : Transposed{other, ct, {!p.transpose_a, false}};
}

Cotangent transpose_matmul(const Site& s, int input, const Tensor& ct) {
  const Transposed t = transposed(s, input, ct);
  Tensor g = matmul(t.a, t.b, {t.attrs.transpose_a, t.attrs.transpose_b});
  const Shape shape = g.shape();
  return unbroadcast(std::move(g), shape, s.shape(input));
}

void accumulate_matmul(const Site& s, int input, const Tensor& ct, const Tensor& sum) {
  const Transposed t = transposed(s, input, ct);
  const bool direct = t.a.rank() == 2 && t.b.rank() == 2 && is_concrete(t.a) && is_concrete(t.b) &&
                      (ct.dtype() == float32 || ct.dtype() == float64);
  if (direct) {
    const auto view = [](const Tensor& x) { return View{x.impl()->data, &x.shape(), x.dtype()}; };
    kernels::GemmArgs g = gemm_args(t.attrs, view(t.a), view(t.b), view(sum));
    g.accumulate = true;
    kernels::gemm(g);
  } else {
    const Cotangent g = transpose_matmul(s, input, ct);
    const Tensor* in[] = {&sum, &g.value()};
    run_kernel(add_op, nullptr, in, {&sum, 1});
  }
}

// A batch of columns (batch, ..., k, 1) that one matrix multiplies from the left: as rows they are
// one product, not one for each column.
Tensor batch_of_columns(const Tensor& a, const Tensor& b, const MatmulAttrs& p) {
  Shape rows = b.shape(), columns;
  rows.erase(rows.rank() - (p.transpose_b ? 2 : 1));
  const Tensor product = matmul(reshape(b, rows), a, {.transpose_b = !p.transpose_a});
  columns = product.shape();
  columns.push_back(1);
  return reshape(product, columns);
}

// Leading axes already broadcast: the batch only has to be in front of all of them.
Tensors batch_matmul(const BatchCall& c) {
  const auto& p = c.get<MatmulAttrs>();
  const Shape& b = c.in[1].shape();
  if (!c.is_batched(0) && c.in[0].rank() == 2 && b[b.rank() - (p.transpose_b ? 2 : 1)] == 1)
    return {batch_of_columns(c.in[0], c.in[1], p)};
  const int rank = std::max(c.in[0].rank() - (c.is_batched(0) ? 1 : 0),
                            c.in[1].rank() - (c.is_batched(1) ? 1 : 0));
  Tensors in;
  for (int i = 0; i < 2; ++i) {
    Tensor x = c.in[i];
    if (c.is_batched(i) && x.rank() - 1 < rank) {
      Shape shape = x.shape();
      while (shape.rank() - 1 < rank) shape.insert(1, 1);
      x = reshape(x, shape);
    }
    in.push_back(x);
  }
  return c.op.run(in, c.attrs);
}

// A diagonal matrix scales the rows or columns of the other operand. The zeros beside the diagonal
// are nothing, not numbers: they do not meet infinities.
Tensors scaled_by_diagonal(const MatmulAttrs& p, const Tensor& a, const Tensor& b) {
  if (b.rank() == 2 && (a.rank() == 2 || !p.transpose_a)) {
    if (const Tensor diagonal = diagonal_of(a); diagonal.defined()) {
      const Tensor right = p.transpose_b ? linalg::matrix_transpose(b) : b;
      const Size n = right.shape()[0], others = diagonal.shape()[0];
      const Tensor left = is_same(others, 1) ? diagonal : transpose(diagonal);
      Shape shape = leading(a.shape());
      shape.push_back(p.transpose_a ? a.shape().back() : a.shape()[a.rank() - 2]);
      shape.push_back(right.shape().back());
      return {reshape(multiply(reshape(left, {n, others, 1}), reshape(right, {n, 1, -1})), shape)};
    }
    if (const Tensor diagonal = diagonal_of(b); diagonal.defined()) {
      const Tensor left = p.transpose_a ? linalg::matrix_transpose(a) : a;
      return {multiply(left, reshape(diagonal, {diagonal.shape().back()}))};
    }
  }
  return {};
}

// A product over an axis of length 1 is a column times a row, element by element, which a compiler
// can fuse: the gradient of a weight with one example need not be an array.
Tensors outer_product(const MatmulAttrs& p, std::span<const Tensor> in) {
  const Shape &a = in[0].shape(), &b = in[1].shape();
  const Size k = p.transpose_a ? a[a.rank() - 2] : a.back();
  if (!is_same(k, 1)) return {};
  Shape column = leading(a), row = leading(b);
  column.push_back(p.transpose_a ? a.back() : a[a.rank() - 2]);
  column.push_back(1);
  row.push_back(1);
  row.push_back(p.transpose_b ? b[b.rank() - 2] : b.back());
  return {multiply(reshape(in[0], column), reshape(in[1], row))};
}

Tensors without_product(const void* attrs, std::span<const Tensor> in) {
  const auto& p = *static_cast<const MatmulAttrs*>(attrs);
  const Tensors scaled = scaled_by_diagonal(p, in[0], in[1]);
  return scaled.empty() ? outer_product(p, in) : scaled;
}

constexpr ProductFacts kFacts{
    .axes =
        [](const Call& c, int operand) {
          const auto& p = c.get<MatmulAttrs>();
          const int last = c.shape(operand).rank() - 1;
          const bool sums_last = operand == 0 ? !p.transpose_a : p.transpose_b;
          return sums_last ? ProductFacts::Axes{last, last - 1}
                           : ProductFacts::Axes{last - 1, last};
        },
    .reads = matmul_reads,
    .writes = matmul_writes,
    .permuted = permuted_matmul,
    .gains_together = matmuls_gain_together,
    .together = sibling_matmuls,
};

std::vector<Sample> matmul_samples() {
  return {sample<MatmulAttrs>({{{2, 3}}, {{3, 4}}}, {}),
          sample<MatmulAttrs>({{{3, 2}}, {{4, 3}}}, {true, true}),
          sample<MatmulAttrs>({{{5, 2, 3}}, {{3, 1}}}, {}),
          sample<MatmulAttrs>({{{2, 1, 3, 2}}, {{4, 3, 5}}}, {true, false}),
          sample<MatmulAttrs>({{{2, 0}}, {{0, 3}}}, {}),
          sample<MatmulAttrs>({{{2, 1, 3}}, {{4, 1}}}, {true, true})};
}

}  // namespace

const Op matmul_op = bilinear(
    {.name = "matmul",
     .doc = "The matrix product over the last two axes; leading axes broadcast.",
     .dtypes = kFloating | kComplex | one_dtype(int32) | one_dtype(int64),
     .attrs = &attr_type<MatmulAttrs>(),
     .inputs = 2,
     .infer = infer_matmul,
     .kernel = [](const KernelCall& c) { matmul_kernel(c, nullptr); },
     .batch = batch_matmul,
     .accumulate = accumulate_matmul,
     .flops =
         [](const Call& c) {
           const Shape &a = c.shape(0), &b = c.shape(1);
           const double n =
               static_cast<double>(c.get<MatmulAttrs>().transpose_b ? b[b.rank() - 2] : b.back());
           return 2.0 * static_cast<double>(a.num_elements()) * n;
         },
     .lower = without_product,
     .product = &kFacts,
     .samples = matmul_samples,
     .like = "numpy.matmul"},
    transpose_matmul);

static const BlockKernel matmul_in_blocks(matmul_op, matmul_blocks);

Tensor matmul(In a, In b, MatmulOptions options) {
  return matmul_op({a, b}, MatmulAttrs{options.transpose_a, options.transpose_b});
}

}  // namespace gradus
