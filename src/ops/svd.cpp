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

namespace gradus {
namespace {

using linalg::matrix_transpose;

std::int64_t rows_of(const Shape& s) { return s[s.rank() - 2]; }
bool sizes_known(const Shape& s) { return !is_symbol(rows_of(s)) && !is_symbol(s.back()); }

// What completes orthonormal columns to a square matrix stands to the right of them.
Tensor completed(const Tensor& columns) {
  const Shape& s = columns.shape();
  if (rows_of(s) == s.back()) return columns;
  const Tensor all = linalg::qr(stop_gradient(columns), true).q;
  return concat({columns, split(all, {s.back(), rows_of(s) - s.back()}, -1)[1]}, -1);
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
                   const std::int64_t k = std::min(rows_of(a), a.back());
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
            [](const Site& site, std::span<const Tensor> t, std::span<Tensor> out) {
              // With P = U^T dA V: ds_i = P_ii, and vectors of one side turn towards each other by
              // what the gaps between the squares of their values allow. Equal values do not say
              // where.
              const Tensor &s = site.out[0], &u = site.out[1], &v = site.out[2], &da = t[0];
              const Tensor along = expand_dims(s, -2), down = expand_dims(s, -1);
              const Tensor gaps = reciprocal_no_nan((along - down) * (along + down));
              const Tensor dav = matmul(da, v), p = matmul(u, dav, {.transpose_a = true});
              const Tensor right = p * along, left = p * down;
              out[0] = linalg::diag_part(p);
              out[1] = matmul(u, gaps * (right + matrix_transpose(right)));
              out[2] = matmul(v, gaps * (left + matrix_transpose(left)));
              // The longer side also turns out of the space that its vectors span.
              const Shape& a = site.shape(0);
              if (rows_of(a) == a.back()) return;
              const Tensor inverse = reciprocal_no_nan(along);
              if (rows_of(a) > a.back()) {
                out[1] = out[1] + (dav - matmul(u, p)) * inverse;
              } else {
                const Tensor dau = matmul(da, u, {.transpose_a = true});
                out[2] = out[2] + (dau - matmul(v, p, {.transpose_b = true})) * inverse;
              }
            });

linalg::Svd linalg::svd(In tensor, bool full_matrices) {
  const Tensors out = svd_op.run({&tensor.tensor(), 1}, nullptr);
  if (!full_matrices) return {out[0], out[1], out[2]};
  return {out[0], completed(out[1]), completed(out[2])};
}

}  // namespace gradus
