// Cholesky and LU factorisations, and what is solved with them. Rules are written with the same
// solves, and a matrix is factorised once: the factors travel along as operands that have no
// derivative of their own, so that values, gradients and gradients of gradients share them.
#include <cmath>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/dispatch.h"
#include "graph/symbols.h"
#include "kernels/linalg.h"
#include "kernels/scratch.h"
#include "ops/checks.h"
#include "ops/numeric_records.h"
#include "ops/records.h"

namespace gradus {
namespace {

constexpr DTypes kSolvable = one_dtype(float32) | one_dtype(float64);

struct TriangleAttrs {
  bool lower = true, adjoint = false;
  static auto fields() {
    return attr_fields(attr("lower", &TriangleAttrs::lower),
                       attr("adjoint", &TriangleAttrs::adjoint));
  }
};

struct AdjointAttrs {
  bool adjoint = false;
  static auto fields() { return attr_fields(attr("adjoint", &AdjointAttrs::adjoint)); }
};

std::int64_t size_of_matrix(const Shape& s) { return s.back(); }
std::int64_t batch_of(const Shape& s) {
  std::int64_t n = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) n *= s[i];
  return n;
}

void check_square(const char* op, const Shape& s) {
  if (s.rank() < 2 || !sizes_agree(s[s.rank() - 2], s.back())) {
    fail<InvalidArgumentError>("[", op, "] got shape ", s,
                               "; square matrices (the last two axes) were expected");
  }
}

void infer_square(const Call& c, Avals& out) {
  check_square(c.op.name(), c.shape(0));
  out.push_back({c.in[0].dtype, c.shape(0)});
}

// (matrix, ..., right-hand sides): the result has the shape of the latter.
void infer_solve(const char* op, const Call& c, Avals& out) {
  const Shape &a = c.shape(0), &b = *c.in.back().shape;
  check_square(op, a);
  bool fits = a.rank() == b.rank() && c.in[0].dtype == c.in.back().dtype;
  for (int i = 0; fits && i + 1 < a.rank(); ++i) fits = sizes_agree(a[i], b[i]);
  if (!fits) {
    fail<InvalidArgumentError>("[", op, "] got matrices of shape ", a, " and dtype ",
                               name_of(c.in[0].dtype), " and right-hand sides of shape ", b,
                               " and dtype ", name_of(c.in.back().dtype),
                               "; the number of rows and the dtype must agree");
  }
  out.push_back({c.in[0].dtype, b});
}

Tensor triangle(const Tensor& x, bool lower) {
  return lower ? linalg::band_part(x, -1, 0) : linalg::band_part(x, 0, -1);
}

Tensor solve_triangle(const Tensor& a, const Tensor& b, const TriangleAttrs& attrs);
Tensor solve_factored(std::span<const Tensor> matrix, const Tensor& b, bool adjoint);

SampleArg well_conditioned(const Shape& shape) { return {shape, -1, 1, Fill::positive_definite}; }

}  // namespace

const Op cholesky_op =
    general({.name = "cholesky",
             .doc = "The lower triangular L with L L^T = x; NaN where x is not positive definite.",
             .dtypes = kSolvable,
             .infer = infer_square,
             .kernel =
                 [](const KernelCall& c) {
                   const Shape& s = c.shape(0);
                   kernels::cholesky(c.in[0].dtype, c.in[0].data, batch_of(s), size_of_matrix(s),
                                     c.out[0].data);
                 },
             .batch = batch_leading,
             .reads =
                 [](const void*, std::uint32_t) {
                   return Reads{0, 1};
                 },
             .samples =
                 [] {
                   return std::vector<Sample>{{{well_conditioned({3, 3})}, nullptr},
                                              {{well_conditioned({2, 4, 4})}, nullptr},
                                              {{well_conditioned({1, 1})}, nullptr}};
                 },
             .like = "numpy.linalg.cholesky"},
            [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
              // dL = L * lower half of (L^-1 dA L^-T).
              const Tensor& l = s.out[0];
              const Tensor symmetric = 0.5 * (t[0] + linalg::matrix_transpose(t[0]));
              const Tensor half = solve_triangle(l, symmetric, {});
              const Tensor both = solve_triangle(l, linalg::matrix_transpose(half), {});
              const Tensor lower = triangle(both, true);
              out[0] = matmul(l, linalg::set_diag(lower, 0.5 * linalg::diag_part(lower)));
            });

const Op triangular_solve_op = general(
    {.name = "triangular_solve",
     .doc = "The x with a x = b (or a^T x = b), for triangular a.",
     .dtypes = kSolvable,
     .attrs = &attr_type<TriangleAttrs>(),
     .inputs = 2,
     .infer = [](const Call& c, Avals& out) { infer_solve("triangular_solve", c, out); },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<TriangleAttrs>();
           kernels::triangular_solve(c.in[0].dtype, {p.lower, p.adjoint, false}, c.in[0].data,
                                     c.in[1].data, batch_of(c.shape(0)), size_of_matrix(c.shape(0)),
                                     c.shape(1).back(), c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t wanted) {
           return Reads{1, wanted & 1};
         },
     .samples =
         [] {
           const SampleArg a{{3, 3}, -1, 1, Fill::triangular};
           const SampleArg two{{2, 2, 2}, -1, 1, Fill::triangular};
           return std::vector<Sample>{sample<TriangleAttrs>({a, {{3, 2}}}, {true, false}),
                                      sample<TriangleAttrs>({a, {{3, 1}}}, {true, true}),
                                      sample<TriangleAttrs>({two, {{2, 2, 3}}}, {false, false}),
                                      sample<TriangleAttrs>({a, {{3, 0}}}, {false, true})};
         },
     .like = "scipy.linalg.solve_triangular"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<TriangleAttrs>();
      Tensor b = t[1];
      if (t[0].defined()) {
        const Tensor moved = matmul(triangle(t[0], p.lower), s.out[0], {.transpose_a = p.adjoint});
        b = b.defined() ? b - moved : -moved;
      }
      out[0] = solve_triangle(s.in[0], b, p);
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      const auto& p = s.get<TriangleAttrs>();
      const Tensor g = solve_triangle(s.in[0], cts[0], {p.lower, !p.adjoint});
      if (wanted & 2) grads[1] = g;
      if (wanted & 1) {
        const Tensor& x = s.out[0];
        const Tensor product =
            p.adjoint ? matmul(x, g, {.transpose_b = true}) : matmul(g, x, {.transpose_b = true});
        grads[0] = -triangle(product, p.lower);
      }
    });

// The factors hold no derivatives: whoever uses them has the matrix itself as an operand too.
const Op lu_op = not_differentiable(
    {.name = "lu_factors",
     .doc = "L and U in one matrix, and the order of the rows that they are for.",
     .dtypes = kSolvable,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           infer_square(c, out);
           Shape rows = c.shape(0);
           rows.erase(rows.rank() - 1);
           out.push_back({int32, rows});
         },
     .kernel =
         [](const KernelCall& c) {
           kernels::lu(c.in[0].dtype, c.in[0].data, batch_of(c.shape(0)),
                       size_of_matrix(c.shape(0)), c.out[0].data, c.out[1].as<std::int32_t>());
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{{{{{3, 3}}}, nullptr}, {{{{2, 2, 2}}}, nullptr}};
         },
     .like = "scipy.linalg.lu_factor"},
    "solve, inv, det and slogdet carry the derivative");

namespace {

// Ops on (matrix, factors, permutation, ...): random arguments are not made for each other, unless
// the matrices are empty. What they do is tested through solve(), inv(), det() and slogdet().
std::vector<Sample> empty_matrices() {
  return {{{{{2, 0, 0}}, {{2, 0, 0}}, {{2, 0}, 0, 1, Fill::integer}}, nullptr}};
}

template <class F>
void for_each_diagonal(const View& factors, F&& f) {
  const std::int64_t n = factors.shape->back(), count = batch_of(*factors.shape);
  visit_dtype(factors.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      for (std::int64_t b = 0; b < count; ++b) f(b, n, factors.as<T>() + b * n * n);
    }
  });
}

void check_regular(const View& factors) {
  for_each_diagonal(factors, [&](std::int64_t b, std::int64_t n, auto* p) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (p[i * n + i] != 0) continue;
      fail<InvalidArgumentError>("[solve] matrix ", b, " of shape ", *factors.shape,
                                 " is singular: it has no inverse");
    }
  });
}

void check_orders(const Call& c, const View& orders) {
  const std::int64_t n = orders.shape->back();
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (std::int64_t i = 0, count = orders.count(); i < count; ++i) {
    if (i % n == 0) seen.assign(seen.size(), false);
    const auto row = static_cast<std::size_t>(orders.as<std::int32_t>()[i]);
    if (row >= seen.size() || seen[row])
      fail<InvalidArgumentError>("[", c.op.name(), "] got factors that lu_factors did not make");
    seen[row] = true;
  }
}

// Whether an order of rows is an odd number of swaps.
bool is_odd(const std::int32_t* order, std::int64_t n) {
  std::vector<bool> seen(static_cast<std::size_t>(n));
  bool odd = false;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t length = 0;
    for (auto k = static_cast<std::size_t>(i); !seen[k]; k = static_cast<std::size_t>(order[k])) {
      seen[k] = true;
      ++length;
    }
    odd ^= length > 0 && length % 2 == 0;
  }
  return odd;
}

void check_factors(const Call& c) {
  check_square(c.op.name(), c.shape(0));
  Shape rows = c.shape(0);
  rows.erase(rows.rank() - 1);
  check_operand_shape(c, 1, c.shape(0));
  check_operand_shape(c, 2, rows);
  if (c.in[1].dtype != c.in[0].dtype || c.in[2].dtype != int32)
    fail<InvalidArgumentError>("[", c.op.name(), "] got factors that lu_factors did not make");
}

void infer_scalars(const Call& c, Avals& out) {
  check_factors(c);
  Shape batch = c.shape(0);
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  for (int i = 0; i < c.op.info.outputs; ++i) out.push_back({c.in[0].dtype, batch});
}

OpInfo factored(const char* name, const char* doc) {
  return {.name = name,
          .doc = doc,
          .dtypes = kSolvable,
          .inputs = 3,
          .differentiable = 1,
          .infer = infer_scalars,
          .batch = batch_leading,
          .samples = empty_matrices};
}

// trace(A^-1 dA), the change of log(det A).
Tensor relative_change(const Site& s, const Tensor& t) {
  return linalg::trace(solve_factored(s.in, t, false));
}

}  // namespace

const Op lu_solve_op = general(
    {.name = "lu_solve",
     .doc = "The x with a x = b (or a^T x = b), given the factors of a.",
     .dtypes = kSolvable,
     .attrs = &attr_type<AdjointAttrs>(),
     .inputs = 4,
     .differentiable = 9,
     .infer =
         [](const Call& c, Avals& out) {
           check_factors(c);
           infer_solve("solve", c, out);
         },
     .kernel =
         [](const KernelCall& c) {
           check_orders(c, c.in[2]);
           check_regular(c.in[1]);
           kernels::lu_solve(c.in[0].dtype, c.in[1].data, c.in[2].as<std::int32_t>(),
                             c.get<AdjointAttrs>().adjoint, c.in[3].data, batch_of(c.shape(0)),
                             size_of_matrix(c.shape(0)), c.shape(3).back(), c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t wanted) {
           return Reads{7, wanted & 1};
         },
     .samples =
         [] {
           std::vector<SampleArg> in = empty_matrices()[0].in;
           in.push_back({{2, 0, 3}});
           return std::vector<Sample>{sample<AdjointAttrs>(in, {})};
         },
     .like = "scipy.linalg.lu_solve"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const bool adjoint = s.get<AdjointAttrs>().adjoint;
      Tensor b = t[3];
      if (t[0].defined()) {
        const Tensor moved = matmul(t[0], s.out[0], {.transpose_a = adjoint});
        b = b.defined() ? b - moved : -moved;
      }
      out[0] = solve_factored(s.in, b, adjoint);
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      const bool adjoint = s.get<AdjointAttrs>().adjoint;
      const Tensor g = solve_factored(s.in, cts[0], !adjoint);
      if (wanted & 8) grads[3] = g;
      if (wanted & 1) {
        const Tensor& x = s.out[0];
        grads[0] =
            -(adjoint ? matmul(x, g, {.transpose_b = true}) : matmul(g, x, {.transpose_b = true}));
      }
    });

const Op det_op = general(
    [] {
      OpInfo info = factored("det", "The determinant of square matrices, given their factors.");
      info.reads = [](const void*, std::uint32_t) { return Reads{1, 0}; };
      info.kernel = [](const KernelCall& c) {
        check_orders(c, c.in[2]);
        for_each_diagonal(c.in[1], [&](std::int64_t b, std::int64_t n, auto* p) {
          using T = std::remove_reference_t<decltype(*p)>;
          T product = is_odd(c.in[2].as<std::int32_t>() + b * n, n) ? -1 : 1;
          for (std::int64_t i = 0; i < n; ++i) product *= p[i * n + i];
          c.out[0].as<T>()[b] = product;
        });
      };
      return info;
    }(),
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = reduce_sum(cofactors_op(s.in[0]) * t[0], {-2, -1});
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[0] = expand_dims(expand_dims(cts[0], -1), -1) * cofactors_op(s.in[0]);
    });

const Op slogdet_op = general(
    [] {
      OpInfo info = factored("slogdet", "Sign and log(|det|) of square matrices with factors.");
      info.outputs = 2;
      info.kernel = [](const KernelCall& c) {
        check_orders(c, c.in[2]);
        for_each_diagonal(c.in[1], [&](std::int64_t b, std::int64_t n, auto* p) {
          using T = std::remove_reference_t<decltype(*p)>;
          T sign = is_odd(c.in[2].as<std::int32_t>() + b * n, n) ? -1 : 1;
          double sum = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const T x = p[i * n + i];
            sign *= static_cast<T>((x > 0) - (x < 0));
            sum += std::log(std::abs(static_cast<double>(x)));
          }
          c.out[0].as<T>()[b] = sign;
          c.out[1].as<T>()[b] = static_cast<T>(sum);
        });
      };
      return info;
    }(),
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[1] = relative_change(s, t[0]);
    });

namespace {

Tensor solve_triangle(const Tensor& a, const Tensor& b, const TriangleAttrs& attrs) {
  return triangular_solve_op({a, b}, attrs);
}
Tensor solve_factored(std::span<const Tensor> matrix, const Tensor& b, bool adjoint) {
  return lu_solve_op({matrix[0], matrix[1], matrix[2], b}, AdjointAttrs{adjoint});
}

// The operands of the ops above.
Tensors with_factors(const char* op, const Tensor& a) {
  check_square(op, a.shape());
  Tensors factors = lu_op.run({&a, 1}, nullptr);
  return {a, factors[0], factors[1]};
}

// Leading axes of matrices and right-hand sides broadcast against each other.
std::pair<Tensor, Tensor> same_batch(const char* op, const Tensor& a, const Tensor& b) {
  if (a.rank() < 2 || b.rank() < 2) {
    fail<InvalidArgumentError>("[", op, "] got shapes ", a.shape(), " and ", b.shape(),
                               "; both need at least two axes, add one with expand_dims");
  }
  const auto leading = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
  const Shape batch = broadcast_shapes(op, leading(a.shape()), leading(b.shape()));
  const auto spread = [&](const Tensor& x) {
    Shape shape = batch;
    shape.push_back(x.shape()[x.rank() - 2]);
    shape.push_back(x.shape().back());
    return broadcast_to(x, shape);
  };
  return {spread(a), spread(b)};
}

}  // namespace

namespace linalg {

Tensor cholesky(In input) { return cholesky_op(input); }

Tensor triangular_solve(In matrix, In rhs, bool lower, bool adjoint) {
  const auto [a, b] = same_batch("triangular_solve", matrix, rhs);
  return solve_triangle(a, b, {lower, adjoint});
}

Tensor cholesky_solve(In chol, In rhs) {
  return triangular_solve(chol, triangular_solve(chol, rhs), true, true);
}

Tensor solve(In matrix, In rhs, bool adjoint) {
  const auto [a, b] = same_batch("solve", matrix, rhs);
  return solve_factored(with_factors("solve", a), b, adjoint);
}

Tensor inv(In input) {
  check_square("inv", input->shape());
  Shape batch = input->shape();
  const std::int64_t n = batch.back();
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  return solve_factored(with_factors("inv", input), eye(n, n, batch, input->dtype()), false);
}

Tensor det(In input) { return det_op.run_one(with_factors("det", input), nullptr); }

std::pair<Tensor, Tensor> slogdet(In input) {
  const Tensors out = slogdet_op.run(with_factors("slogdet", input), nullptr);
  return {out[0], out[1]};
}

Tensor logdet(In matrix) { return 2.0 * reduce_sum(log(diag_part(cholesky(matrix))), {-1}); }

}  // namespace linalg
}  // namespace gradus
