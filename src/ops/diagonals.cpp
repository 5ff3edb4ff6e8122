// Diagonals and bands of matrices (the last two axes).
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/checks.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct DiagonalAttrs {
  std::int64_t k = 0;  // above the main diagonal, below it if negative
  static auto fields() { return attr_fields(attr("k", &DiagonalAttrs::k)); }
};

struct MatrixDiagAttrs {
  std::int64_t k = 0;
  Shape matrix;  // rows and columns
  static auto fields() {
    return attr_fields(attr("k", &MatrixDiagAttrs::k), attr("matrix", &MatrixDiagAttrs::matrix));
  }
};

struct BandAttrs {
  std::int64_t num_lower = 0, num_upper = 0;
  static auto fields() {
    return attr_fields(attr("num_lower", &BandAttrs::num_lower),
                       attr("num_upper", &BandAttrs::num_upper));
  }
};

// Further from the main diagonal than any matrix has elements, whatever the sign.
constexpr std::int64_t kFar = std::int64_t{1} << 31;

void check_matrix(const char* op, const Shape& shape) {
  if (shape.rank() < 2) {
    fail<InvalidArgumentError>("[", op, "] got shape ", shape, "; at least two axes expected");
  }
}

Size rows_of(const Shape& s) { return s[s.rank() - 2]; }

// How many elements diagonal k has.
Size diagonal_size(const char* op, const Shape& matrix, std::int64_t k) {
  const Size rows = rows_of(matrix), columns = matrix.back();
  if (k <= -kFar || k >= kFar) fail<InvalidArgumentError>("[", op, "] there is no diagonal ", k);
  if (rows == columns) {
    const Size both = columns.is_known() ? columns : rows;
    if (both.is_known() && std::abs(k) > std::max<Size>(both - 1, 0)) {
      fail<InvalidArgumentError>("[", op, "] matrices of shape ", matrix, " have no diagonal ", k);
    }
    return k == 0 ? both : both - std::abs(k);
  }
  const Size n =
      std::min<Size>(rows + std::min<std::int64_t>(k, 0), columns - std::max<std::int64_t>(k, 0));
  if (n < 0 || (n == 0 && k != 0)) {
    fail<InvalidArgumentError>("[", op, "] matrices of shape ", matrix, " have no diagonal ", k);
  }
  return n;
}

Shape diagonal_shape(const char* op, const Shape& matrix, std::int64_t k) {
  check_matrix(op, matrix);
  const Size n = diagonal_size(op, matrix, k);
  Shape shape = matrix;
  shape.erase(matrix.rank() - 1);
  shape[shape.rank() - 1] = n;
  return shape;
}

// Copies a diagonal of each matrix out of it or into it.
void copy_diagonals(std::size_t item_size, const void* from, void* to, const Shape& matrix,
                    std::int64_t k, std::int64_t n, bool into_matrix) {
  const auto item = static_cast<std::int64_t>(item_size);
  const std::int64_t columns = matrix.back(), each = rows_of(matrix) * columns;
  std::int64_t batch = 1;
  for (int i = 0; i + 2 < matrix.rank(); ++i) batch *= matrix[i];
  const std::int64_t first = (k >= 0 ? k : -k * columns) * item;
  kernels::CopyAxis axes[] = {{batch, each * item, n * item}, {n, (columns + 1) * item, item}};
  if (n == 0 || batch == 0) return;
  if (into_matrix) {
    for (kernels::CopyAxis& a : axes) std::swap(a.in_step, a.out_step);
    kernels::strided_copy(item_size, from, static_cast<char*>(to) + first, axes, 2);
  } else {
    kernels::strided_copy(item_size, static_cast<const char*>(from) + first, to, axes, 2);
  }
}

}  // namespace

const Op matrix_diag_part_op = linear(
    {.name = "matrix_diag_part",
     .doc = "A diagonal of each matrix.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<DiagonalAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           out.push_back({c.in[0].dtype, diagonal_shape("matrix_diag_part", c.shape(0),
                                                        c.get<DiagonalAttrs>().k)});
         },
     .kernel =
         [](const KernelCall& c) {
           copy_diagonals(size_of(c.in[0].dtype), c.in[0].data, c.out[0].data, c.shape(0),
                          c.get<DiagonalAttrs>().k, c.out[0].shape->back(), false);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{
               sample<DiagonalAttrs>({{{2, 3, 3}}}, {0}), sample<DiagonalAttrs>({{{2, 3, 4}}}, {1}),
               sample<DiagonalAttrs>({{{2, 4, 3}}}, {-2}), sample<DiagonalAttrs>({{{0, 0}}}, {0})};
         },
     .like = "numpy.diagonal"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      const Shape& shape = s.shape(0);
      return linalg::diag(ct, s.get<DiagonalAttrs>().k, rows_of(shape), shape.back());
    });

namespace {

void write_diagonals(const KernelCall& c, std::int64_t k) {
  const auto bytes = static_cast<std::size_t>(c.out[0].count()) * size_of(c.out[0].dtype);
  if (bytes > 0) std::memset(c.out[0].data, 0, bytes);
  copy_diagonals(size_of(c.in[0].dtype), c.in[0].data, c.out[0].data, *c.out[0].shape, k,
                 c.shape(0).back(), true);
}

}  // namespace

const Op diagonal_seed_op = linear(
    {.name = "diagonal_seed",
     .doc = "Cotangents of a Jacobian that have one element each: beside the diagonals "
            "there is nothing, where matrix_diag has zeros.",
     .dtypes = kAnyDType,
     .infer =
         [](const Call& c, Avals& out) {
           Shape shape = c.shape(0);
           check_axis(c, shape.rank() - 1, shape.rank());
           shape.push_back(shape.back());
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel = [](const KernelCall& c) { write_diagonals(c, 0); },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{{{{{2, 3}}}, nullptr}, {{{{0}}}, nullptr}};
         },
     .is_marker = true},
    [](const Site&, int, const Tensor& ct) -> Cotangent { return linalg::diag_part(ct, 0); });

const Op matrix_diag_op =
    linear({.name = "matrix_diag",
            .doc = "Matrices with a given diagonal and zeros elsewhere.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<MatrixDiagAttrs>(),
            .infer =
                [](const Call& c, Avals& out) {
                  const auto& p = c.get<MatrixDiagAttrs>();
                  Shape shape = c.shape(0);
                  check_axis(c, shape.rank() - 1, shape.rank());
                  check_numbers(c, "the size of the matrix", p.matrix, 2, 0);
                  // A diagonal that does not reach a border may have been meant for another one.
                  if (!sizes_agree(diagonal_size("diag", p.matrix, p.k), shape.back())) {
                    fail<InvalidArgumentError>("[diag] a diagonal of length ", shape.back(),
                                               " is not diagonal ", p.k, " of a matrix of shape ",
                                               p.matrix);
                  }
                  shape[shape.rank() - 1] = p.matrix[0];
                  shape.push_back(p.matrix[1]);
                  out.push_back({c.in[0].dtype, shape});
                },
            .kernel = [](const KernelCall& c) { write_diagonals(c, c.get<MatrixDiagAttrs>().k); },
            .batch = batch_leading,
            .samples =
                [] {
                  return std::vector<Sample>{sample<MatrixDiagAttrs>({{{2, 3}}}, {0, {3, 3}}),
                                             sample<MatrixDiagAttrs>({{{2}}}, {1, {4, 3}}),
                                             sample<MatrixDiagAttrs>({{{2}}}, {-1, {3, 4}})};
                },
            .like = "tensorflow.linalg.diag"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             return linalg::diag_part(ct, s.get<MatrixDiagAttrs>().k);
           });

const Op matrix_set_diag_op = linear(
    {.name = "matrix_set_diag",
     .doc = "Matrices with another diagonal.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<DiagonalAttrs>(),
     .inputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           const Shape want =
               diagonal_shape("matrix_set_diag", c.shape(0), c.get<DiagonalAttrs>().k);
           if (!shapes_agree(want, c.shape(1)) || c.in[0].dtype != c.in[1].dtype) {
             fail<InvalidArgumentError>("[matrix_set_diag] got a diagonal of shape ", c.shape(1),
                                        " and dtype ", name_of(c.in[1].dtype), "; shape ", want,
                                        " and dtype ", name_of(c.in[0].dtype), " were expected");
           }
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto bytes = static_cast<std::size_t>(c.out[0].count()) * size_of(c.out[0].dtype);
           if (bytes > 0) std::memcpy(c.out[0].data, c.in[0].data, bytes);
           copy_diagonals(size_of(c.in[0].dtype), c.in[1].data, c.out[0].data, c.shape(0),
                          c.get<DiagonalAttrs>().k, c.shape(1).back(), true);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{sample<DiagonalAttrs>({{{2, 3, 3}}, {{2, 3}}}, {0}),
                                      sample<DiagonalAttrs>({{{2, 2, 4}}, {{2, 2}}}, {1})};
         },
     .like = "tensorflow.linalg.set_diag"},
    [](const Site& s, int input, const Tensor& ct) -> Cotangent {
      const std::int64_t k = s.get<DiagonalAttrs>().k;
      if (input == 1) return linalg::diag_part(ct, k);
      return linalg::set_diag(ct, zeros(s.shape(1), ct.dtype()), k);
    });

const Op band_part_op =
    linear({.name = "band_part",
            .doc = "Matrices with zeros outside of a band around the main diagonal.",
            .dtypes = kAnyDType,
            .attrs = &attr_type<BandAttrs>(),
            .infer =
                [](const Call& c, Avals& out) {
                  check_matrix("band_part", c.shape(0));
                  out.push_back({c.in[0].dtype, c.shape(0)});
                },
            .kernel =
                [](const KernelCall& c) {
                  const auto& p = c.get<BandAttrs>();
                  const Shape& shape = c.shape(0);
                  const std::int64_t each = rows_of(shape) * shape.back();
                  kernels::band_part(size_of(c.in[0].dtype), c.in[0].data,
                                     each ? c.in[0].count() / each : 0, rows_of(shape),
                                     shape.back(), std::min(p.num_lower, kFar),
                                     std::min(p.num_upper, kFar), c.out[0].data);
                },
            .batch = batch_leading,
            .samples =
                [] {
                  return std::vector<Sample>{sample<BandAttrs>({{{3, 4}}}, {1, 0}),
                                             sample<BandAttrs>({{{2, 3, 3}}}, {-1, 1}),
                                             sample<BandAttrs>({{{0, 2}}}, {0, 0})};
                },
            .like = "tensorflow.linalg.band_part"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             const auto& p = s.get<BandAttrs>();
             return linalg::band_part(ct, p.num_lower, p.num_upper);
           });

namespace linalg {

Tensor diag(In diagonal, std::int64_t k, Size num_rows, Size num_cols) {
  if (diagonal->rank() == 0) fail<InvalidArgumentError>("[diag] got a scalar; a vector expected");
  const Size n = diagonal->shape().back(), size = k == 0 ? n : n + std::abs(k);
  return matrix_diag_op(
      {diagonal},
      MatrixDiagAttrs{k, {num_rows == -1 ? size : num_rows, num_cols == -1 ? size : num_cols}});
}

Tensor diag_part(In input, std::int64_t k) {
  return matrix_diag_part_op({input}, DiagonalAttrs{k});
}
Tensor set_diag(In input, In diagonal, std::int64_t k) {
  return matrix_set_diag_op({input, diagonal}, DiagonalAttrs{k});
}

Tensor band_part(In input, std::int64_t num_lower, std::int64_t num_upper) {
  check_matrix("band_part", input->shape());
  const Size rows = rows_of(input->shape()), columns = input->shape().back();
  if ((num_lower > rows && rows.is_known()) || (num_upper > columns && columns.is_known())) {
    fail<InvalidArgumentError>("[band_part] num_lower ", num_lower, " and num_upper ", num_upper,
                               " exceed matrices of shape ", input->shape());
  }
  return band_part_op({input}, BandAttrs{num_lower, num_upper});
}

Tensor tensor_diag(In diagonal) {
  Shape shape = diagonal->shape();
  for (const Size n : diagonal->shape()) shape.push_back(n);
  return reshape(diag(reshape(diagonal, {num_elements(diagonal->shape())})), shape);
}

Tensor tensor_diag_part(In input) {
  const Shape& shape = input->shape();
  Shape first, second;
  for (int i = 0; i < shape.rank(); ++i)
    (2 * i < shape.rank() ? first : second).push_back(shape[i]);
  if (shape.rank() == 0 || !(first == second)) {
    fail<InvalidArgumentError>("[tensor_diag_part] shape ", shape,
                               " is not some sizes and then the same sizes again");
  }
  const Size n = num_elements(first);
  return reshape(diag_part(reshape(input, {n, n})), first);
}

Tensor trace(In x) { return reduce_sum(diag_part(x), {-1}); }

Tensor matrix_transpose(In a) {
  check_matrix("matrix_transpose", a->shape());
  Ints order;
  for (int i = 0; i + 2 < a->rank(); ++i) order.push_back(i);
  order.push_back(a->rank() - 1);
  order.push_back(a->rank() - 2);
  return transpose(a, order);
}

Tensor adjoint(In matrix) { return conj(matrix_transpose(matrix)); }

}  // namespace linalg
}  // namespace gradus
