#include "ops/sibling_matmuls.h"

#include "graph/dispatch.h"
#include "graph/symbols.h"
#include "kernels/gemm_siblings.h"
#include "ops/matmul_attrs.h"

namespace gradus {
namespace {

// Where a size is not known yet, the kernel decides again when it is.
std::int64_t known(Size size) { return size.is_known() ? std::int64_t{size} : 4096; }

// All leading axes of a are rows.
kernels::GemmArgs common_args(const Call& c) {
  const bool transposed = c.get<MatmulAttrs>().transpose_a;
  const Shape& a = c.shape(0);
  kernels::GemmArgs g;
  g.dtype = c.in[0].dtype;
  g.trans_a = transposed;
  g.k = known(transposed ? a[0] : a.back());
  g.m = known(transposed ? a[1] : a[0]);
  for (int i = 1; i + 1 < a.rank(); ++i) g.m *= known(a[i]);
  g.a = c.in[0].data;
  g.lda = known(a.back());
  return g;
}

SmallVector<kernels::Sibling, 4> siblings_of(const Call& c) {
  SmallVector<kernels::Sibling, 4> siblings;
  for (const View& b : c.in.subspan(1)) siblings.push_back({b.data, nullptr, b.shape->back()});
  return siblings;
}

void run(const KernelCall& c) {
  auto siblings = siblings_of(c);
  for (std::size_t i = 0; i < siblings.size(); ++i) siblings[i].c = c.out[i].data;
  kernels::gemm_siblings(common_args(c), siblings);
}

void infer(const Call& c, Avals& out) {
  const bool transposed = c.get<MatmulAttrs>().transpose_a;
  for (const View& b : c.in.subspan(1)) {
    Shape shape = c.shape(0);
    if (transposed) shape[0] = shape[1];
    shape[shape.rank() - 1] = b.shape->back();
    out.push_back({c.in[0].dtype, shape});
  }
}

const Op sibling_matmuls_op =
    internal({.name = "sibling_matmuls",
              .doc = "The matrix products of one array with several matrices.",
              .attrs = &attr_type<MatmulAttrs>(),
              .inputs = -1,
              .outputs = -1,
              .infer = infer,
              .kernel = run,
              .flops =
                  [](const Call& c) {
                    double columns = 0;
                    for (const View& b : c.in.subspan(1))
                      columns += static_cast<double>(b.shape->back());
                    return 2.0 * static_cast<double>(c.shape(0).num_elements()) * columns;
                  }},
             "it is made when a program is compiled");

}  // namespace

bool matmuls_gain_together(const Call& c) {
  const auto& p = c.get<MatmulAttrs>();
  if (p.transpose_b || (p.transpose_a && c.shape(0).rank() != 2)) return false;
  if (c.in[0].dtype != float32 && c.in[0].dtype != float64) return false;
  for (const View& b : c.in.subspan(1))
    if (b.shape->rank() != 2 || !b.shape->back().is_known()) return false;
  return kernels::are_joined(common_args(c), siblings_of(c));
}

Tensors sibling_matmuls(const void* attrs, std::span<const Tensor> in) {
  return sibling_matmuls_op.run(in, attrs);
}

}  // namespace gradus
