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

Tensor divided_by(const Tensor& x, const Tensor& r) {  // x r^-1 for an upper triangle r
  return matrix_transpose(linalg::triangular_solve(r, matrix_transpose(x), false, true));
}

Shape turns_of(const Tensor& columns) {  // what says how columns turn into each other
  Shape s = columns.shape();
  s[s.rank() - 2] = s.back();
  return s;
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
               ((q[rank - 2]).is_known() && q.back().is_known() && q[rank - 2] < q.back())) {
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
      const Tensor b = divided_by(t[0], r);
      const Tensor c = matmul(q, b, {.transpose_a = true});
      const Tensor below = c - linalg::band_part(c, 0, -1);
      const Tensor turn = below - matrix_transpose(below);
      out[0] = b - matmul(q, c - turn);
      out[1] = matmul(c - turn, r);
    });

// N with N^T A = 0 changes by -Q R^-T dA^T N, which keeps N^T A, and by turning in its own space,
// N K. A single column cannot turn; of several, K is the kernel's choice.
const Op complement_op = general(
    {.name = "complement",
     .doc = "Orthonormal columns that complete those of a matrix, higher than wide, to a basis.",
     .dtypes = kWide,
     .infer =
         [](const Call& c, Avals& out) {
           Shape n = c.shape(0);
           const int rank = n.rank();
           if (rank < 2 || n[rank - 2] < n.back())
             fail<InvalidArgumentError>("[complement] got shape ", n,
                                        "; expected matrices with more rows than columns");
           n[rank - 1] = n[rank - 2] - n.back();
           out.push_back({c.in[0].dtype, n});
         },
     .kernel =
         [](const KernelCall& c) {
           const Shape& s = c.shape(0);
           kernels::complement(c.in[0].dtype, c.in[0].data, batch_of(s), s[s.rank() - 2], s.back(),
                               c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{1, 1};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               {{{{1, 4, 3}}}, nullptr}, {{{{2, 3, 2}}}, nullptr}, {{{{2, 3, 0}}}, nullptr}};
         },
     .like = "scipy.linalg.null_space"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const Tensor& n = s.out[0];
      const linalg::Qr a = linalg::qr(s.in[0]);
      const Tensor b = divided_by(t[0], independent(a.r)), size = largest(t[0], false);
      const Tensor all = broadcast_to(size, turns_of(n));
      out[0] = matmul(n, undetermined(all, ones(all.shape(), bool_), size)) -
               matmul(a.q, matmul(b, n, {.transpose_a = true}));
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const Tensor& n = s.out[0];
      const linalg::Qr a = linalg::qr(s.in[0]);
      const Tensor x = matmul(n, cts[0], {.transpose_a = true}), turn = x - matrix_transpose(x);
      const Tensor told = undetermined(turn, ones(turn.shape(), bool_), largest(cts[0], false));
      const Tensor along = matmul(cts[0], a.q, {.transpose_a = true});
      const Tensor b = matmul(n, matmul(told, ones_like(along)) - along);
      grads[0] = matrix_transpose(linalg::triangular_solve(independent(a.r), matrix_transpose(b),
                                                           /*lower=*/false));
    });

Tensor complement(const Tensor& a) { return complement_op(a); }

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
  const bool known = rank >= 2 && (shape[rank - 2]).is_known() && shape.back().is_known();
  if (known && shape[rank - 2] < shape.back()) {
    // The reflections follow from the first columns; the others are only carried along.
    const std::vector<Tensor> parts =
        split(x, {shape[rank - 2], shape.back() - shape[rank - 2]}, -1);
    const Qr first = qr(parts[0]);
    return {first.q, concat({first.r, matmul(first.q, parts[1], {.transpose_a = true})}, -1)};
  }
  const Tensors out = qr_op.run({&x, 1}, nullptr);
  if (!full_matrices || (known && shape[rank - 2] == shape.back())) return {out[0], out[1]};
  if (!known) {
    fail<UnimplementedError>("[qr] got shape ", shape,
                             "; with full_matrices the sizes of the matrices must be known");
  }
  Shape below = shape;
  below[rank - 2] -= shape.back();
  return {concat({out[0], complement(x)}, -1), concat({out[1], zeros(below, x.dtype())}, -2)};
}

}  // namespace linalg
}  // namespace gradus
