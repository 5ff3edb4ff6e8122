// Singular values.
#include <algorithm>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/svd.h"
#include "ops/numeric_records.h"
#include "ops/records.h"
#include "ops/undetermined.h"

namespace gradus {
namespace {

using linalg::matrix_transpose;

Size rows_of(const Shape& s) { return s[s.rank() - 2]; }
bool sizes_known(const Shape& s) { return rows_of(s).is_known() && s.back().is_known(); }

// What completes orthonormal columns to a square matrix stands to the right of them.
Tensor completed(const Tensor& columns) {
  const Shape& s = columns.shape();
  return rows_of(s) == s.back() ? columns : concat({columns, complement(columns)}, -1);
}

// What is known of pairs of singular values. Vectors i and j of both sides turn into each other
// together by the gap between their values, and against each other by the sum of these.
struct Pairs {
  Gaps together, against;
  Tensor inverse, zero;  // [..., 1, k], of single values, for what leaves the space of the vectors

  explicit Pairs(const Tensor& s) {
    const Tensor along = expand_dims(s, -2), down = expand_dims(s, -1), size = largest(s, true);
    together = gaps_between(along - down, size);
    against = gaps_between(along + down, size);
    const Gaps single = gaps_between(along, size);
    inverse = single.inverse;
    zero = single.none;
  }
};

// x / s for columns x outside the space of the vectors; `told` is what else tells zero values
// apart.
Tensor outside(const Tensor& x, const Pairs& pairs, const Tensor& size, const Tensor& told) {
  const Tensor zero = broadcast_to(pairs.zero, x.shape());
  const Tensor plain = x * pairs.inverse + undetermined(x, zero, size, false);
  return told.defined() ? plain + undetermined(broadcast_to(told, x.shape()), zero, size, false)
                        : plain;
}

void push_forward_svd(const Site& site, std::span<const Tensor> t, std::span<Tensor> out) {
  // P = U^T dA V: ds_i = P_ii. With dU = U X and dV = V Y, P off the diagonal is X S - S Y.
  const Tensor &s = site.out[0], &u = site.out[1], &v = site.out[2], &da = t[0];
  const Pairs pairs(s);
  const Tensor dav = matmul(da, v), p = matmul(u, dav, {.transpose_a = true});
  const Tensor back = matrix_transpose(p), even = 0.5 * (p + back), odd = 0.5 * (p - back);
  const Tensor size = largest(p, false);
  const Tensor sum = even * pairs.together.inverse + undetermined(even, pairs.together.none, size);
  const Tensor difference =
      odd * pairs.against.inverse + undetermined(odd, pairs.against.none, size);
  out[0] = linalg::diag_part(p);
  out[1] = matmul(u, sum + difference);
  out[2] = matmul(v, sum - difference);
  // The longer side also turns out of the space that its vectors span.
  const Shape& a = site.shape(0);
  const Tensor most = largest(da, false);
  if (rows_of(a) > a.back()) out[1] = out[1] + outside(dav - matmul(u, p), pairs, most, {});
  if (rows_of(a) < a.back()) {
    const Tensor dau = matmul(da, u, {.transpose_a = true});
    out[2] = out[2] + outside(dau - matmul(v, back), pairs, most, {});
  }
}

void pull_back_svd(const Site& site, std::span<const Tensor> cts, std::uint32_t,
                   std::span<Cotangent> grads) {
  const Tensor &s = site.out[0], &u = site.out[1], &v = site.out[2];
  const Tensor gs = cts[0].defined() ? cts[0] : zeros_like(s);
  Tensor inner = linalg::diag(gs);
  if (!cts[1].defined() && !cts[2].defined()) {  // values alone: equal ones are fine
    grads[0] = matmul(matmul(u, inner), v, {.transpose_b = true});
    return;
  }
  const Pairs pairs(s);
  const Tensor x = cts[1].defined() ? matmul(u, cts[1], {.transpose_a = true}) : zeros_like(inner);
  const Tensor y = cts[2].defined() ? matmul(v, cts[2], {.transpose_a = true}) : zeros_like(inner);
  const Tensor sum = x + y, difference = x - y;
  inner = inner + 0.5 * ((sum - matrix_transpose(sum)) * pairs.together.inverse) +
          0.5 * ((difference - matrix_transpose(difference)) * pairs.against.inverse) +
          told_apart(sum, gs, pairs.together.none, s) +
          told_apart(difference, gs, pairs.against.none, s);
  Tensor left = matmul(u, inner), g;
  const Shape& a = site.shape(0);
  const Tensor told = expand_dims(gs, -2);
  if (rows_of(a) > a.back() && cts[1].defined()) {
    const Tensor size = maximum(largest(cts[1], false), largest(gs, true));
    left = left + outside(cts[1] - matmul(u, x), pairs, size, told);
  }
  g = matmul(left, v, {.transpose_b = true});
  if (rows_of(a) < a.back() && cts[2].defined()) {
    const Tensor size = maximum(largest(cts[2], false), largest(gs, true));
    const Tensor right = outside(cts[2] - matmul(v, y), pairs, size, told);
    g = g + matmul(u, right, {.transpose_b = true});
  }
  grads[0] = g;
}

}  // namespace

const Op svd_op =
    general({.name = "svd",
             .doc = "Singular values, descending, and their left and right vectors (columns).",
             .dtypes = one_dtype(float32) | one_dtype(float64),
             .outputs = 3,
             .infer =
                 [](const Call& c, Avals& out) {
                   const Shape& a = c.shape(0);
                   const int rank = a.rank();
                   if (rank < 2)
                     fail<InvalidArgumentError>("[svd] got shape ", a, "; expected matrices");
                   if (!sizes_known(a)) {
                     fail<UnimplementedError>("[svd] got shape ", a,
                                              "; the sizes of the matrices must be known");
                   }
                   Shape s = a, u = a, v = a;
                   const Size k = std::min(rows_of(a), a.back());
                   s.erase(rank - 1);
                   s[rank - 2] = u[rank - 1] = v[rank - 1] = k;
                   v[rank - 2] = a.back();
                   for (const Shape& shape : {s, u, v}) out.push_back({c.in[0].dtype, shape});
                 },
             .kernel =
                 [](const KernelCall& c) {
                   const Shape& a = c.shape(0);
                   std::int64_t batch = 1;
                   for (int i = 0; i + 2 < a.rank(); ++i) batch *= a[i];
                   kernels::svd(c.in[0].dtype, c.in[0].data, batch, rows_of(a), a.back(),
                                c.out[0].data, c.out[1].data, c.out[2].data);
                 },
             .batch = batch_leading,
             .reads =
                 [](const void*, std::uint32_t) {
                   return Reads{0, 7};
                 },
             .samples =
                 [] {
                   return std::vector<Sample>{{{{{2, 4, 3}}}, nullptr},
                                              {{{{2, 3, 3}}}, nullptr},
                                              {{{{2, 2, 5}}}, nullptr},
                                              {{{{2, 1, 1}}}, nullptr},
                                              {{{{2, 3, 0}}}, nullptr}};
                 },
             .like = "numpy.linalg.svd"},
            push_forward_svd, pull_back_svd);

linalg::Svd linalg::svd(In tensor, bool full_matrices) {
  const Tensors out = svd_op.run({&tensor.tensor(), 1}, nullptr);
  if (!full_matrices) return {out[0], out[1], out[2]};
  return {out[0], completed(out[1]), completed(out[2])};
}

}  // namespace gradus
