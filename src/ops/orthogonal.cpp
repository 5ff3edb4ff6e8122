// Eigenvalues of symmetric matrices, and QR.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/orthogonal.h"
#include "ops/records.h"
#include "ops/undetermined.h"

namespace gradus {
namespace {

using linalg::matrix_transpose;

constexpr DTypes kWide = one_dtype(float32) | one_dtype(float64);

std::int64_t batch_of(const Shape& s) {
  std::int64_t n = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) n *= s[i];
  return n;
}

Reads reads_factors(const void*, std::uint32_t) { return {0, 3}; }

Gaps gaps_of(const Tensor& e) {
  return gaps_between(expand_dims(e, -2) - expand_dims(e, -1), largest(e, true));
}

// r with NaN on the diagonal where a column depends on those before it.
Tensor independent(const Tensor& r) {
  const Tensor diagonal = linalg::diag_part(r);
  const Tensor none = gaps_between(diagonal, reduce_max(abs(stop_gradient(r)), {-2})).none;
  return linalg::set_diag(r, where(none, std::numeric_limits<double>::quiet_NaN(), diagonal));
}

}  // namespace

const Op eigh_op = general(
    {.name = "eigh",
     .doc = "Eigenvalues, ascending, and eigenvectors (columns) of symmetric matrices.",
     .dtypes = kWide,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           Shape shape = c.shape(0);
           if (shape.rank() < 2 || !sizes_agree(shape[shape.rank() - 2], shape.back())) {
             fail<InvalidArgumentError>("[eigh] got shape ", shape,
                                        "; square matrices (the last two axes) were expected");
           }
           shape.erase(shape.rank() - 1);
           out.push_back({c.in[0].dtype, shape});
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           kernels::eigh(c.in[0].dtype, c.in[0].data, batch_of(c.shape(0)), c.shape(0).back(),
                         c.out[0].data, c.out[1].data);
         },
     .batch = batch_leading,
     .reads = reads_factors,
     .samples =
         [] {
           const auto symmetric = [](const Shape& s) {
             return SampleArg{s, -1, 1, Fill::positive_definite};
           };
           return std::vector<Sample>{{{symmetric({3, 3})}, nullptr},
                                      {{symmetric({2, 4, 4})}, nullptr},
                                      {{symmetric({1, 1})}, nullptr},
                                      {{symmetric({2, 0, 0})}, nullptr}};
         },
     .like = "numpy.linalg.eigh"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      // With M = V^T dA V: de_i = M_ii, and v_j turns towards v_i by M_ij / (e_j - e_i).
      const Tensor &e = s.out[0], &v = s.out[1];
      const Tensor change = 0.5 * (t[0] + matrix_transpose(t[0]));
      const Tensor m = matmul(matmul(v, change, {.transpose_a = true}), v);
      const Gaps gaps = gaps_of(e);
      out[0] = linalg::diag_part(m);
      out[1] = matmul(v, m * gaps.inverse + undetermined(m, gaps.none, largest(m, false)));
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Tensor &e = s.out[0], &v = s.out[1];
      const Tensor ge = cts[0].defined() ? cts[0] : zeros_like(e);
      Tensor inner = linalg::diag(ge);
      if (cts[1].defined()) {  // without vectors, only their space matters: equal values are fine
        const Tensor x = matmul(v, cts[1], {.transpose_a = true});
        const Gaps gaps = gaps_of(e);
        inner = inner + 0.5 * ((x - matrix_transpose(x)) * gaps.inverse) +
                told_apart(x, ge, gaps.none, e);
      }
      grads[0] = matmul(matmul(v, inner), v, {.transpose_b = true});
    });

const Op qr_op = general(
    {.name = "qr",
     .doc = "Orthonormal columns times an upper triangle, for matrices at least as high as wide.",
     .dtypes = kWide,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           Shape q = c.shape(0), r = q;
           const int rank = q.rank();
           if (rank < 2 ||
               (!is_symbol(q[rank - 2]) && !is_symbol(q.back()) && q[rank - 2] < q.back())) {
             fail<InvalidArgumentError>("[qr] got shape ", q,
                                        "; matrices (the last two axes) with at least as many "
                                        "rows as columns were expected");
           }
           r[rank - 2] = q.back();
           out.push_back({c.in[0].dtype, q});
           out.push_back({c.in[0].dtype, r});
         },
     .kernel =
         [](const KernelCall& c) {
           const Shape& s = c.shape(0);
           kernels::qr(c.in[0].dtype, c.in[0].data, batch_of(s), s[s.rank() - 2], s.back(),
                       s.back(), c.out[0].data, c.out[1].data);
         },
     .batch = batch_leading,
     .reads = reads_factors,
     .samples =
         [] {
           return std::vector<Sample>{{{{{4, 3}}}, nullptr},
                                      {{{{2, 3, 3}}}, nullptr},
                                      {{{{2, 1}}}, nullptr},
                                      {{{{2, 3, 0}}}, nullptr}};
         },
     .like = "numpy.linalg.qr"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      // dA R^-1 = dQ + Q dR R^-1: the part of Q^T dA R^-1 below the diagonal is all of dQ's.
      const Tensor &q = s.out[0], r = independent(s.out[1]);
      const Tensor b =
          matrix_transpose(linalg::triangular_solve(r, matrix_transpose(t[0]), false, true));
      const Tensor c = matmul(q, b, {.transpose_a = true});
      const Tensor below = c - linalg::band_part(c, 0, -1);
      const Tensor turn = below - matrix_transpose(below);
      out[0] = b - matmul(q, c - turn);
      out[1] = matmul(c - turn, r);
    });

const Op qr_full_op = not_differentiable(
    {.name = "qr_full",
     .doc = "qr with a square orthogonal matrix, for matrices higher than wide.",
     .dtypes = kWide,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           Shape q = c.shape(0);
           const int rank = q.rank();
           if (rank < 2) fail<InvalidArgumentError>("[qr] got shape ", q, "; expected matrices");
           q[rank - 1] = q[rank - 2];
           out.push_back({c.in[0].dtype, q});
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           const Shape& s = c.shape(0);
           const std::int64_t m = s[s.rank() - 2];
           kernels::qr(c.in[0].dtype, c.in[0].data, batch_of(s), m, s.back(), m, c.out[0].data,
                       c.out[1].data);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{{{{{4, 2}}}, nullptr}, {{{{2, 3, 0}}}, nullptr}};
         },
     .like = "numpy.linalg.qr"},
    "the matrix does not say which columns complete its own");

namespace linalg {

Eigh eigh(In tensor) {
  const Tensors out = eigh_op.run({&tensor.tensor(), 1}, nullptr);
  return {out[0], out[1]};
}
Tensor eigvalsh(In tensor) { return eigh(tensor).e; }

Qr qr(In input, bool full_matrices) {
  const Tensor& x = input;
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  const bool known = rank >= 2 && !is_symbol(shape[rank - 2]) && !is_symbol(shape.back());
  if (known && shape[rank - 2] < shape.back()) {
    // The reflections follow from the first columns; the others are only carried along.
    const std::vector<Tensor> parts =
        split(x, {shape[rank - 2], shape.back() - shape[rank - 2]}, -1);
    const Qr first = qr(parts[0]);
    return {first.q, concat({first.r, matmul(first.q, parts[1], {.transpose_a = true})}, -1)};
  }
  const bool high = known && shape[rank - 2] > shape.back();
  const Tensors out = (full_matrices && high ? qr_full_op : qr_op).run({&x, 1}, nullptr);
  return {out[0], out[1]};
}

}  // namespace linalg
}  // namespace gradus
