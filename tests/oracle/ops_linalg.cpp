// Products, factorisations, solves and transforms.
#include "oracle/matrices.h"
#include "oracle/program.h"

namespace oracle {
namespace {

int like(Maker& m, int x, const Dims& dims) {
  return m.fitted(m.any([&](const Value& v) { return is_complex(v) == is_complex(m.value(x)); }),
                  dims);
}

// f(matrix ...) for each matrix of a batch of one axis.
template <class S, class F>
Array<S> for_each_matrix(const std::vector<Array<S>>& in, F f) {
  const Size batch = in[0].rank() == 3 ? in[0].dims[0] : 1;
  std::vector<Array<S>> results;
  for (Size b = 0; b < batch; ++b) {
    std::vector<Array<S>> parts;
    for (const Array<S>& x : in) {
      const Size size = x.size() / batch;
      Array<S> part(Dims(x.dims.end() - std::min<Size>(2, x.rank()), x.dims.end()));
      for (Size i = 0; i < size; ++i) part[i] = x[b * size + i];
      parts.push_back(part);
    }
    results.push_back(f(parts));
    if (in[0].rank() == 3) results.back().dims.insert(results.back().dims.begin(), 1);
  }
  return in[0].rank() == 3 ? joined(results, 0) : results[0];
}

void add_products(Table& t) {
  // ints: transpose_a, transpose_b
  t.push_back({"matmul",
               [](Maker& m, Node& n) {
                 n.ints = {m.coin(), m.coin()};
                 Dims a = {m.between(1, 3), m.between(1, 3)}, b = {a[1], m.between(1, 3)};
                 if (n.ints[0]) std::swap(a[0], a[1]);
                 if (n.ints[1]) std::swap(b[0], b[1]);
                 if (m.coin()) {
                   a.insert(a.begin(), 2);
                   b.insert(b.begin(), 2);
                 }
                 const int x = m.any();
                 n.in = {m.fitted(x, a), like(m, x, b)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::matmul(in[0], in[1],
                                   {.transpose_a = n.ints[0] != 0, .transpose_b = n.ints[1] != 0});
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return for_each_matrix(in, [&](const auto& p) {
                   return product(n.ints[0] ? transposed(p[0]) : p[0],
                                  n.ints[1] ? transposed(p[1]) : p[1]);
                 });
               })});
  t.push_back({"matmul_broadcast",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {2, 2, 3}), like(m, x, {3, 2})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::matmul(in[0], in[1]); },
               with_one_kind([](const Node&, const auto& in) {
                 return reshaped(product(reshaped(in[0], {4, 3}), in[1]), {2, 2, 2});
               })});
  t.push_back({"einsum_diagonal",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {2, 2}), like(m, x, {2, 3})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::einsum("ii,ij->j", in); },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({3});
                 for (Size i = 0; i < 2; ++i)
                   for (Size j = 0; j < 3; ++j) out[j] += in[0][3 * i] * in[1][3 * i + j];
                 return out;
               })});
  t.push_back({"einsum_three",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {2, 3}), like(m, x, {3, 2}), like(m, x, {2})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::einsum("ij,jk,k->ki", in); },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = transposed(product(in[0], in[1]));
                 for (Size k = 0; k < 2; ++k)
                   for (Size i = 0; i < 2; ++i) entry(out, k, i) *= in[2][k];
                 return out;
               })});
  t.push_back({"tensordot",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {2, 3}), like(m, x, {2, 3, 2})};
                 return true;
               },
               [](const Node&, const Tensors& in) {
                 return gd::tensordot(in[0], in[1], {0, 1}, {2, 1});
               },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({2});
                 for (Size k = 0; k < 2; ++k)
                   for (Size i = 0; i < 2; ++i)
                     for (Size j = 0; j < 3; ++j)
                       out[k] += in[0][3 * i + j] * in[1][k * 6 + j * 2 + i];
                 return out;
               })});
  t.push_back({"cross",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3}), m.real_of({2, 3})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::cross(in[0], in[1]); },
               with_reals([](const Node&, const auto& in) {
                 Reals out = in[0];
                 for (Size r = 0; r < 6; r += 3)
                   for (Size i = 0; i < 3; ++i)
                     out[r + i] = in[0][r + (i + 1) % 3] * in[1][r + (i + 2) % 3] -
                                  in[0][r + (i + 2) % 3] * in[1][r + (i + 1) % 3];
                 return out;
               })});
}

// Elements at pairs of coordinates.
void add_sparse(Table& t) {
  const auto coordinates = [](Maker& m) {
    Dims all;
    for (int i = 0; i < 4; ++i) all.insert(all.end(), {m.between(0, 2), m.between(0, 1)});
    return all;
  };
  t.push_back({"sparse_matmul",
               [coordinates](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {4}), like(m, x, {2, 2})};
                 n.ints = coordinates(m);
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::sparse_matmul(in[0], indices({4, 2}, n.ints), in[1], 3);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({3, 2});
                 for (Size e = 0; e < 4; ++e)
                   for (Size k = 0; k < 2; ++k)
                     out[n.ints[index(2 * e)] * 2 + k] +=
                         in[0][e] * in[1][n.ints[index(2 * e + 1)] * 2 + k];
                 return out;
               })});
  t.push_back({"sampled_matmul",
               [coordinates](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {3, 2}), like(m, x, {2, 2})};
                 n.ints = coordinates(m);
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::sampled_matmul(in[0], in[1], indices({4, 2}, n.ints));
               },
               with_one_kind([](const Node& n, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({4});
                 for (Size e = 0; e < 4; ++e)
                   for (Size k = 0; k < 2; ++k)
                     out[e] += in[0][n.ints[index(2 * e)] * 2 + k] *
                               in[1][n.ints[index(2 * e + 1)] * 2 + k];
                 return out;
               })});
}

void add_diagonals(Table& t) {
  // ints: which diagonal
  const auto of = [](const Dims& dims) {
    return [dims](Maker& m, Node& n) {
      n.in = {m.of(dims)};
      n.ints = {m.between(-1, 1)};
      return true;
    };
  };
  t.push_back({"diag", of({2, 2}),
               [](const Node& n, const Tensors& in) { return gd::linalg::diag(in[0], n.ints[0]); },
               with_one_kind([](const Node& n, const auto& in) {
                 const Size k = n.ints[0], size = 2 + std::abs(k);
                 return moved(in[0], {2, size, size}, [&](const Dims& at) {
                   const Size i = std::min(at[1], at[2]);
                   return at[2] - at[1] == k ? at[0] * 2 + i : -1;
                 });
               })});
  t.push_back(
      {"diag_part", of({2, 3, 3}),
       [](const Node& n, const Tensors& in) { return gd::linalg::diag_part(in[0], n.ints[0]); },
       with_one_kind([](const Node& n, const auto& in) {
         const Size k = n.ints[0];
         return moved(in[0], {2, 3 - std::abs(k)}, [&](const Dims& at) {
           return at[0] * 9 + (at[1] + std::max<Size>(0, -k)) * 3 + at[1] + std::max<Size>(0, k);
         });
       })});
  t.push_back({"set_diag",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {2, 2, 2}), like(m, x, {2, 2})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::linalg::set_diag(in[0], in[1]); },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = in[0];
                 for (Size b = 0; b < 2; ++b)
                   for (Size i = 0; i < 2; ++i) out[b * 4 + i * 3] = in[1][b * 2 + i];
                 return out;
               })});
  t.push_back(
      {"band_part", of({2, 3, 3}),
       [](const Node& n, const Tensors& in) { return gd::linalg::band_part(in[0], 0, n.ints[0]); },
       with_one_kind([](const Node& n, const auto& in) {
         return moved(in[0], in[0].dims, [&](const Dims& at) {
           const Size above = at[2] - at[1];
           const bool kept = above >= 0 && (n.ints[0] < 0 || above <= n.ints[0]);
           return kept ? flat(in[0].dims, at) : -1;
         });
       })});
  t.push_back({"tensor_diag", of({2, 2}),
               [](const Node&, const Tensors& in) { return gd::linalg::tensor_diag(in[0]); },
               with_one_kind([](const Node&, const auto& in) {
                 return moved(in[0], {2, 2, 2, 2}, [&](const Dims& at) {
                   return at[0] == at[2] && at[1] == at[3] ? at[0] * 2 + at[1] : -1;
                 });
               })});
  t.push_back(
      {"tensor_diag_part", of({2, 2, 2, 2}),
       [](const Node&, const Tensors& in) { return gd::linalg::tensor_diag_part(in[0]); },
       with_one_kind([](const Node&, const auto& in) {
         return moved(in[0], {2, 2}, [&](const Dims& at) { return (at[0] * 2 + at[1]) * 5; });
       })});
  t.push_back({"trace", of({2, 3, 3}),
               [](const Node&, const Tensors& in) { return gd::linalg::trace(in[0]); },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({2});
                 for (Size b = 0; b < 2; ++b)
                   for (Size i = 0; i < 3; ++i) out[b] += in[0][b * 9 + i * 4];
                 return out;
               })});
  t.push_back({"adjoint", of({2, 3}),
               [](const Node&, const Tensors& in) { return gd::linalg::adjoint(in[0]); },
               with_one_kind([](const Node&, const auto& in) {
                 auto out = transposed(in[0]);
                 for (auto& z : out.data) z = conj(z);
                 return out;
               })});
  t.push_back({"matrix_transpose", of({2, 3}),
               [](const Node&, const Tensors& in) { return gd::linalg::matrix_transpose(in[0]); },
               with_one_kind([](const Node&, const auto& in) { return transposed(in[0]); })});
}

// Matrices that are far from singular: x + shift on the diagonal, symmetric if asked. The engine's
// and the oracle's are made in the same way, as part of the op.
gd::Tensor shifted(const gd::Tensor& x, double shift) {
  const gd::Shape& sizes = x.shape();
  const gd::Tensor one = gd::eye(sizes[sizes.rank() - 2], sizes.back(), {}, x.dtype());
  return x + gd::cast(gd::Tensor(shift), x.dtype()) * one;
}
gd::Tensor definite(const gd::Tensor& x) {
  return shifted(gd::matmul(x, x, {.transpose_b = true}), 1);
}
gd::Tensor symmetric(const gd::Tensor& x) { return x + gd::linalg::matrix_transpose(x); }
Reals shifted(Reals x, Real shift) {
  for (Size i = 0; i < std::min(x.dims[0], x.dims[1]); ++i) entry(x, i, i) += Nil(shift);
  return x;
}
Reals definite(const Reals& x) { return shifted(product(x, transposed(x)), 1); }
Reals symmetric(const Reals& x) {
  const Reals y = transposed(x);
  return map(x, y, [](const Nil& a, const Nil& b) { return a + b; });
}
Reals lower(Reals x) {
  for (Size i = 0; i < x.dims[0]; ++i)
    for (Size k = i + 1; k < x.dims[1]; ++k) entry(x, i, k) = 0;
  return x;
}

// ints: which result
template <class E, class O>
void matrix_op(Table& t, const char* name, Dims dims, int results, E engine, O oracle) {
  t.push_back({name,
               [dims, results](Maker& m, Node& n) {
                 Dims shape = dims;
                 if (m.coin()) shape.insert(shape.begin(), m.between(1, 2));
                 n.in = {m.real_of(shape, -2, 2)};
                 n.ints = {results > 1 ? m.between(-1, results - 1) : 0};
                 return true;
               },
               [engine](const Node& n, const Tensors& in) {
                 return pick(Tensors(engine(in[0])), n.ints[0]);
               },
               with_reals([oracle](const Node& n, const auto& in) {
                 // Results of each matrix are joined result by result, as the engine's are.
                 std::vector<std::vector<Reals>> of_each;
                 for_each_matrix(in, [&](const auto& p) {
                   of_each.push_back(oracle(p[0]));
                   return p[0];
                 });
                 std::vector<Reals> all;
                 for (std::size_t r = 0; r < of_each[0].size(); ++r) {
                   std::vector<Reals> parts;
                   for (auto& results : of_each) {
                     parts.push_back(results[r]);
                     if (in[0].rank() == 3) parts.back().dims.insert(parts.back().dims.begin(), 1);
                   }
                   all.push_back(in[0].rank() == 3 ? joined(parts, 0) : parts[0]);
                 }
                 return pick(all, n.ints[0]);
               })});
}
using Results = std::vector<Reals>;
Reals scalar(const Nil& x) { return Reals({}, x); }

void add_solvers(Table& t) {
  matrix_op(
      t, "cholesky", {3, 3}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::cholesky(definite(x))}; },
      [](const Reals& x) { return Results{cholesky(definite(x))}; });
  matrix_op(
      t, "inv", {3, 3}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::inv(shifted(x, 4))}; },
      [](const Reals& x) { return Results{solve(shifted(x, 4), identity<Nil>(3)).x}; });
  matrix_op(
      t, "det", {3, 3}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::det(shifted(x, 2))}; },
      [](const Reals& x) { return Results{scalar(solve(shifted(x, 2), identity<Nil>(3)).det)}; });
  matrix_op(
      t, "logdet", {3, 3}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::logdet(definite(x))}; },
      [](const Reals& x) {
        return Results{scalar(log(solve(definite(x), identity<Nil>(3)).det))};
      });
  matrix_op(
      t, "slogdet", {2, 2}, 2,
      [](const gd::Tensor& x) {
        const auto [sign, log] = gd::linalg::slogdet(shifted(x, -3));
        return Tensors{sign, log};
      },
      [](const Reals& x) {
        const Nil det = solve(shifted(x, -3), identity<Nil>(2)).det;
        return Results{scalar(det.base() < 0 ? -1 : 1), scalar(log(abs(det)))};
      });
  matrix_op(
      t, "pinv", {3, 2}, 1, [](const gd::Tensor& x) { return Tensors{gd::linalg::pinv(x)}; },
      [](const Reals& x) {
        const Reals y = transposed(x);
        return Results{solve(product(y, x), y).x};
      });
  matrix_op(
      t, "expm", {2, 2}, 1, [](const gd::Tensor& x) { return Tensors{gd::linalg::expm(x)}; },
      [](const Reals& x) { return Results{expm(x)}; });
  matrix_op(
      t, "expm_large", {3, 3}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::expm(x * 0.7)}; },
      [](const Reals& x) {
        return Results{expm(map(x, [](const Nil& a) { return a * Nil(0.7); }))};
      });
  // ints: adjoint, lower
  const auto system = [&](const char* name, auto engine, auto oracle) {
    t.push_back({name,
                 [](Maker& m, Node& n) {
                   const bool batched = m.coin();
                   n.in = {m.real_of(batched ? Dims{2, 2, 2} : Dims{3, 3}),
                           m.real_of(batched ? Dims{2, 2, 1} : Dims{3, 2})};
                   n.ints = {m.coin(), m.coin()};
                   return true;
                 },
                 engine, with_reals([oracle](const Node& n, const auto& in) {
                   return for_each_matrix(in, [&](const auto& p) { return oracle(n, p[0], p[1]); });
                 })});
  };
  system(
      "solve",
      [](const Node& n, const Tensors& in) {
        return gd::linalg::solve(shifted(in[0], 4), in[1], n.ints[0]);
      },
      [](const Node& n, const Reals& a, const Reals& b) {
        const Reals m = shifted(a, 4);
        return solve(n.ints[0] ? transposed(m) : m, b).x;
      });
  system(
      "triangular_solve",
      [](const Node& n, const Tensors& in) {
        return gd::linalg::triangular_solve(shifted(in[0], 4), in[1], n.ints[1], n.ints[0]);
      },
      [](const Node& n, const Reals& a, const Reals& b) {
        const Reals whole = shifted(a, 4);
        const Reals m = n.ints[1] ? lower(whole) : transposed(lower(transposed(whole)));
        return solve(n.ints[0] ? transposed(m) : m, b).x;
      });
  system(
      "cholesky_solve",
      [](const Node&, const Tensors& in) {
        return gd::linalg::cholesky_solve(gd::linalg::cholesky(definite(in[0])), in[1]);
      },
      [](const Node&, const Reals& a, const Reals& b) { return solve(definite(a), b).x; });
}

void add_factors(Table& t) {
  matrix_op(
      t, "eigh", {3, 3}, 2,
      [](const gd::Tensor& x) {
        const auto [e, v] = gd::linalg::eigh(symmetric(x));
        return Tensors{e, v};
      },
      [](const Reals& x) {
        const Eigen e = eigh(symmetric(x));
        return Results{e.values, e.vectors};
      });
  matrix_op(
      t, "eigvalsh", {2, 2}, 1,
      [](const gd::Tensor& x) { return Tensors{gd::linalg::eigvalsh(symmetric(x))}; },
      [](const Reals& x) { return Results{eigh(symmetric(x)).values}; });
  const auto add_qr = [&](const char* name, const Dims& dims) {
    matrix_op(
        t, name, dims, 2,
        [](const gd::Tensor& x) {
          const auto [q, r] = gd::linalg::qr(x);
          return Tensors{q, r};
        },
        [](const Reals& x) {
          const Qr f = qr(x);
          return Results{f.q, f.r};
        });
  };
  add_qr("qr", {3, 3});
  add_qr("qr_tall", {3, 2});
  add_qr("qr_wide", {2, 3});
  // The column that completes two others to a basis, times itself: its sign is the kernel's choice.
  matrix_op(
      t, "qr_full", {3, 2}, 1,
      [](const gd::Tensor& x) {
        const gd::Tensor q = gd::linalg::qr(shifted(x, 4), /*full_matrices=*/true).q;
        const gd::Tensor n = gd::index(q, {gd::ellipsis, gd::Slice{.begin = 2}});
        return Tensors{gd::matmul(n, n, {.transpose_b = true})};
      },
      [](const Reals& from) {
        const Reals x = shifted(from, 4);
        auto n = matrix<Nil>(3, 1);
        for (Size i = 0; i < 3; ++i)
          n[i] = entry(x, (i + 1) % 3, 0) * entry(x, (i + 2) % 3, 1) -
                 entry(x, (i + 2) % 3, 0) * entry(x, (i + 1) % 3, 1);
        const Nil square = product(transposed(n), n)[0];
        require(square.base() > 4, "nearly dependent columns");
        auto out = product(n, transposed(n));
        for (Nil& e : out.data) e = e / square;
        return Results{out};
      });
  const auto add_svd = [&](const char* name, const Dims& dims) {
    matrix_op(
        t, name, dims, 3,
        [](const gd::Tensor& x) {
          const auto [s, u, v] = gd::linalg::svd(x);
          return Tensors{s, u, v};
        },
        [](const Reals& x) {
          const Svd f = svd(x);
          return Results{f.s, f.u, f.v};
        });
  };
  add_svd("svd", {2, 2});
  add_svd("svd_tall", {3, 2});
}

// The sum of x[j] exp(-+ 2 pi i j k / n).
std::vector<Complex> transform(const std::vector<Complex>& row, int sign) {
  std::vector<Complex> out;
  const auto n = static_cast<Real>(row.size());
  for (std::size_t k = 0; k < row.size(); ++k) {
    Complex sum;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const Real angle = 2 * kPi * static_cast<Real>(sign) * static_cast<Real>(j * k) / n;
      sum += row[j] * Complex(Nil(std::cos(angle)), Nil(std::sin(angle)));
    }
    out.push_back(sum);
  }
  return out;
}

void add_fourier(Table& t) {
  const auto complex_rows = [](Maker& m, Node& n) {
    n.in = {m.fitted(m.any([](const Value& v) { return is_complex(v); }), {2, m.between(1, 4)})};
    return true;
  };
  t.push_back({"fft", complex_rows,
               [](const Node&, const Tensors& in) { return gd::signal::fft(in[0]); },
               [](const Node&, const Values& in) -> Value {
                 const auto& x = std::get<Complexes>(in[0]);
                 return along(x, 1, x.last(), [](const auto& row) { return transform(row, -1); });
               }});
  t.push_back({"ifft", complex_rows,
               [](const Node&, const Tensors& in) { return gd::signal::ifft(in[0]); },
               [](const Node&, const Values& in) -> Value {
                 const auto& x = std::get<Complexes>(in[0]);
                 return along(x, 1, x.last(), [](const auto& row) {
                   auto out = transform(row, 1);
                   for (Complex& z : out) z *= Complex(1 / static_cast<Real>(row.size()));
                   return out;
                 });
               }});
  t.push_back(
      {"rfft",
       [](Maker& m, Node& n) {
         n.in = {m.real_of({2, m.between(1, 4)})};
         return true;
       },
       [](const Node&, const Tensors& in) {
         return gd::signal::rfft(in[0], {in[0].shape().back()});
       },
       [](const Node&, const Values& in) -> Value {
         const auto x = map(std::get<Reals>(in[0]), [](const Nil& a) { return Complex(a); });
         return along(x, 1, x.last() / 2 + 1, [](const auto& row) { return transform(row, -1); });
       }});
  // ints: the length
  t.push_back(
      {"irfft",
       [](Maker& m, Node& n) {
         n.ints = {m.between(2, 4)};
         n.in = {
             m.fitted(m.any([](const Value& v) { return is_complex(v); }), {2, n.ints[0] / 2 + 1})};
         return true;
       },
       [](const Node& n, const Tensors& in) { return gd::signal::irfft(in[0], {n.ints[0]}); },
       [](const Node& n, const Values& in) -> Value {
         const Size size = n.ints[0];
         const auto whole = along(std::get<Complexes>(in[0]), 1, size, [&](auto row) {
           // The imaginary parts of the first number and the middle one do not count.
           row[0].im = 0;
           if (size % 2 == 0) row.back().im = 0;
           std::vector<Complex> all = row;
           for (Size k = size / 2 + 1; k < size; ++k) all.push_back(conj(row[index(size - k)]));
           auto out = transform(all, 1);
           for (Complex& z : out) z *= Complex(1 / static_cast<Real>(size));
           return out;
         });
         return map(whole, [](const Complex& z) { return z.re; });
       }});
}

}  // namespace

void add_linalg(Table& table) {
  add_products(table);
  add_sparse(table);
  add_diagonals(table);
  add_solvers(table);
  add_factors(table);
  add_fourier(table);
}

}  // namespace oracle
