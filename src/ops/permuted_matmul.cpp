#include "ops/permuted_matmul.h"

#include <algorithm>
#include <utility>

#include "graph/block_kernels.h"
#include "graph/dispatch.h"
#include "graph/symbols.h"
#include "kernels/gemm.h"
#include "ops/matmul_attrs.h"

namespace gradus {
namespace {

struct PermutedMatmulAttrs {
  Ints order_a, order_b, order_out;  // permutations, as transpose has them
  bool transpose_a = false, transpose_b = false;
  static auto fields() {
    return attr_fields(attr("order_a", &PermutedMatmulAttrs::order_a),
                       attr("order_b", &PermutedMatmulAttrs::order_b),
                       attr("order_out", &PermutedMatmulAttrs::order_out),
                       attr("transpose_a", &PermutedMatmulAttrs::transpose_a),
                       attr("transpose_b", &PermutedMatmulAttrs::transpose_b));
  }
};

// Sizes of the axes in their order, and how many elements apart their neighbours are.
struct Axes {
  Shape sizes, steps;

  int rank() const { return sizes.rank(); }
  std::int64_t size(int from_end) const { return sizes[rank() - from_end]; }
  std::int64_t step(int from_end) const { return steps[rank() - from_end]; }
};

Shape in_order(const Shape& stored, const Ints& order) {
  Shape shape;
  for (std::int64_t axis : order) shape.push_back(stored[static_cast<int>(axis)]);
  return shape;
}

Axes axes_of(const Shape& stored, const Ints& order) {
  Shape steps = stored;
  std::int64_t step = 1;
  for (int i = stored.rank() - 1; i >= 0; --i) {
    steps[i] = step;
    step *= stored[i];
  }
  return {in_order(stored, order), in_order(steps, order)};
}

Ints inverse(const Ints& order) {
  Ints result = order;
  for (int i = 0; i < order.rank(); ++i) result[static_cast<int>(order[i])] = i;
  return result;
}

bool has_rows(const Ints& order) { return order.back() == order.rank() - 1; }

void infer(const Call& c, Avals& out) {
  const auto& p = c.get<PermutedMatmulAttrs>();
  const Shape a = in_order(c.shape(0), p.order_a), b = in_order(c.shape(1), p.order_b);
  const auto leading = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
  Shape shape = broadcast_shapes("matmul", leading(a), leading(b));
  shape.push_back(a[a.rank() - (p.transpose_a ? 1 : 2)]);
  shape.push_back(b[b.rank() - (p.transpose_b ? 2 : 1)]);
  out.push_back({c.in[0].dtype, in_order(shape, p.order_out)});
}

void run(const KernelCall& c, const BlockTaker* taker) {
  const auto& p = c.get<PermutedMatmulAttrs>();
  const Axes a = axes_of(c.shape(0), p.order_a), b = axes_of(c.shape(1), p.order_b);
  const Axes out = axes_of(*c.out[0].shape, inverse(p.order_out));
  if (c.out[0].count() == 0) return;
  const bool rows_a = has_rows(p.order_a), rows_b = has_rows(p.order_b);
  kernels::GemmArgs g;
  g.dtype = c.in[0].dtype;
  g.m = out.size(2);
  g.n = out.size(1);
  g.k = a.size(p.transpose_a ? 2 : 1);
  g.trans_a = p.transpose_a == rows_a;
  g.trans_b = p.transpose_b == rows_b;
  g.lda = a.step(rows_a ? 2 : 1);
  g.ldb = b.step(rows_b ? 2 : 1);
  const bool rows_out = has_rows(p.order_out);
  g.ldc = out.step(rows_out ? 2 : 1);
  if (!rows_out) {  // the transposed result is the product of both in the other order
    std::swap(g.m, g.n);
    std::swap(g.lda, g.ldb);
    g.trans_a = !std::exchange(g.trans_b, !g.trans_a);
  }
  // Along the last of the leading axes as one batch, and again for all others.
  const int leading = out.rank() - 2;
  const auto step = [&](const Axes& x, int axis) {
    const int own = axis - out.rank() + x.rank();
    return own < 0 || x.sizes[own] == 1 ? std::int64_t{0} : std::int64_t{x.steps[own]};
  };
  const std::int64_t count = leading > 0 ? out.size(3) : 1;
  const std::int64_t batches = c.out[0].count() / (g.m * g.n * count);
  const auto element = static_cast<std::int64_t>(size_of(g.dtype));
  const auto moved = [&](const View& v, std::int64_t by) { return v.as<char>() + by * element; };
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::int64_t at_a = 0, at_b = 0, at_out = 0, rest = batch;
    for (int axis = leading - 2; axis >= 0; --axis) {
      const std::int64_t here = rest % out.sizes[axis];
      rest /= out.sizes[axis];
      at_a += here * step(a, axis);
      at_b += here * step(b, axis);
      at_out += here * out.steps[axis];
    }
    g.a = moved(c.in[0], at_a);
    g.b = moved(c.in[1], at_b);
    kernels::GemmStrides strides;
    if (leading > 0)
      strides = {step(a, leading - 1), step(b, leading - 1), std::int64_t{out.steps[leading - 1]}};
    if (!rows_out) {
      std::swap(g.a, g.b);
      std::swap(strides.a, strides.b);
    }
    const std::int64_t first_row = batch * count * g.m;
    const auto take = [&](const Block& block, ComputeBlock compute) {
      (*taker)({first_row + block.row, block.rows, block.col, block.cols}, compute);
    };
    const BlockTaker shifted = take;
    if (taker) {
      g.taker = &shifted;
    } else {
      g.c = moved(c.out[0], at_out);
    }
    kernels::gemm_batch(g, count, strides);
  }
}

// Block by block if the result lies in the order of the product, else as one block.
void run_in_blocks(const KernelCall& c, const BlockTaker& taker) {
  const Shape& out = *c.out[0].shape;
  const Ints& order = c.get<PermutedMatmulAttrs>().order_out;
  if (out.num_elements() == 0) return;
  if (std::is_sorted(order.begin(), order.end())) return run(c, &taker);
  taker({0, out.num_elements() / out.back(), 0, out.back()}, [&](void* to, std::int64_t) {
    const View whole{to, &out, c.out[0].dtype};
    run({{c.op, c.attrs, c.in}, {&whole, 1}}, nullptr);
  });
}

// Whether matrices that are permuted so have, after that, their rows or columns in one piece.
bool is_whole(const Ints& order) { return order.rank() >= 2 && order.back() >= order.rank() - 2; }

// Batches of matrices only: one product with all rows is better off with a copy.
bool has_batches(const Call& c) {
  return c.shape(0).rank() > 2 && c.shape(1).rank() > 2 &&
         (c.in[0].dtype == float32 || c.in[0].dtype == float64);
}

}  // namespace

static const Op permuted_matmul_op = internal(
    {.name = "permuted_matmul",
     .doc = "The matrix product of operands, and to a result, whose axes are in another order.",
     .attrs = &attr_type<PermutedMatmulAttrs>(),
     .inputs = 2,
     .infer = infer,
     .kernel = [](const KernelCall& c) { run(c, nullptr); },
     .flops =
         [](const Call& c) {
           const auto& p = c.get<PermutedMatmulAttrs>();
           const Shape b = in_order(c.shape(1), p.order_b);
           return 2.0 * static_cast<double>(c.shape(0).num_elements()) *
                  static_cast<double>(b[b.rank() - (p.transpose_b ? 2 : 1)]);
         }},
    "it is made when a program is compiled");

static const BlockKernel permuted_matmul_in_blocks(permuted_matmul_op, run_in_blocks);

bool matmul_reads(const Call& c, int, const Ints& order) {
  return has_batches(c) && is_whole(inverse(order));
}
bool matmul_writes(const Call& c, const Ints& order) { return has_batches(c) && is_whole(order); }

Tensor permuted_matmul(const void* attrs, std::span<const Tensor> in,
                       std::span<const Ints> orders) {
  const auto& p = *static_cast<const MatmulAttrs*>(attrs);
  return permuted_matmul_op(
      in, PermutedMatmulAttrs{orders[0], orders[1], orders[2], p.transpose_a, p.transpose_b});
}

}  // namespace gradus
