// Matrices and Fourier transforms.
#include "agree/call.h"

namespace agree {
namespace {

void add_products(Table& table) {
  table["matmul"] = calls([](const Call& c) {
    return gd::matmul(c.t(0), c.t(1),
                      {.transpose_a = c.b("transpose_a"), .transpose_b = c.b("transpose_b")});
  });
  table["einsum"] = calls([](const Call& c) { return gd::einsum(c.s("equation", ""), c.list(0)); });
  table["tensordot"] = calls([](const Call& c) {
    return c.has("axes_a") ? gd::tensordot(c.t(0), c.t(1), c.shape("axes_a"), c.shape("axes_b"))
                           : gd::tensordot(c.t(0), c.t(1), c.small("axes", 1));
  });
  table["norm"] = calls([](const Call& c) {
    const double ord = c.d("ord", 2);
    return c.has("axis") ? gd::norm(c.t(0), ord, c.shape("axis"), c.b("keepdims"))
                         : gd::norm(c.t(0), ord);
  });
  table["cross"] = two(gd::cross);
  table["sparse_matmul"] = calls([](const Call& c) {
    return gd::sparse_matmul(c.t(0), c.t(1), c.t(2), c.i("rows", 1),
                             {.transpose = c.b("transpose")});
  });
  table["sampled_matmul"] = three(gd::sampled_matmul);
}

void add_diagonals(Table& table) {
  table["linalg.diag"] = calls([](const Call& c) {
    return gd::linalg::diag(c.t(0), c.i("k", 0), c.i("num_rows", -1), c.i("num_cols", -1));
  });
  table["linalg.diag_part"] =
      calls([](const Call& c) { return gd::linalg::diag_part(c.t(0), c.i("k", 0)); });
  table["linalg.set_diag"] =
      calls([](const Call& c) { return gd::linalg::set_diag(c.t(0), c.t(1), c.i("k", 0)); });
  table["linalg.band_part"] = calls([](const Call& c) {
    return gd::linalg::band_part(c.t(0), c.i("num_lower", 0), c.i("num_upper", 0));
  });
  table["linalg.tensor_diag"] = one(gd::linalg::tensor_diag);
  table["linalg.tensor_diag_part"] = one(gd::linalg::tensor_diag_part);
  table["linalg.trace"] = one(gd::linalg::trace);
  table["linalg.matrix_transpose"] = one(gd::linalg::matrix_transpose);
  table["linalg.adjoint"] = one(gd::linalg::adjoint);
}

void add_solvers(Table& table) {
  table["linalg.cholesky"] = one(gd::linalg::cholesky);
  table["linalg.cholesky_solve"] = two(gd::linalg::cholesky_solve);
  table["linalg.triangular_solve"] = calls([](const Call& c) {
    return gd::linalg::triangular_solve(c.t(0), c.t(1), c.b("lower", true), c.b("adjoint"));
  });
  table["linalg.solve"] =
      calls([](const Call& c) { return gd::linalg::solve(c.t(0), c.t(1), c.b("adjoint")); });
  table["linalg.inv"] = one(gd::linalg::inv);
  table["linalg.pinv"] = one([](gd::In x) { return gd::linalg::pinv(x); });
  table["linalg.det"] = one(gd::linalg::det);
  table["linalg.logdet"] = one(gd::linalg::logdet);
  table["linalg.slogdet"] = calls([](const Call& c) -> Tensors {
    const auto [sign, log] = gd::linalg::slogdet(c.t(0));
    return {sign, log};
  });
  table["linalg.eigh"] = calls([](const Call& c) -> Tensors {
    const gd::linalg::Eigh r = gd::linalg::eigh(c.t(0));
    return {r.e, r.v};
  });
  table["linalg.eigvalsh"] = one(gd::linalg::eigvalsh);
  table["linalg.qr"] = calls([](const Call& c) -> Tensors {
    const gd::linalg::Qr r = gd::linalg::qr(c.t(0), c.b("full_matrices"));
    return {r.q, r.r};
  });
  table["linalg.svd"] = calls([](const Call& c) -> Tensors {
    const gd::linalg::Svd r = gd::linalg::svd(c.t(0), c.b("full_matrices"));
    return {r.s, r.u, r.v};
  });
  table["linalg.expm"] = one(gd::linalg::expm);
}

void add_fourier(Table& table) {
  table["signal.fft"] =
      calls([](const Call& c) { return gd::signal::fft(c.t(0), c.small("axes", 1)); });
  table["signal.ifft"] =
      calls([](const Call& c) { return gd::signal::ifft(c.t(0), c.small("axes", 1)); });
  table["signal.rfft"] =
      calls([](const Call& c) { return gd::signal::rfft(c.t(0), c.shape("fft_length")); });
  table["signal.irfft"] =
      calls([](const Call& c) { return gd::signal::irfft(c.t(0), c.shape("fft_length")); });
}

}  // namespace

void add_linalg(Table& table) {
  add_products(table);
  add_diagonals(table);
  add_solvers(table);
  add_fourier(table);
}

}  // namespace agree
