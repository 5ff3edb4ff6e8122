// Matrices: tf.linalg.
#include <cmath>
#include <limits>

#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/sparse_matmul.h"

namespace gradus::python {
namespace {

Tensor adjoint_if(bool yes, const Tensor& t) { return yes && is_complex(t.dtype()) ? conj(t) : t; }

// Whether a matrix is transposed, by one of two flags.
bool is_turned(const Arguments& a, int transpose, int adjoint, const char* which) {
  if (a.boolean(transpose) && a.boolean(adjoint))
    raise(PyExc_ValueError, "Only one of `transpose_%s` and `adjoint_%s` can be True.", which,
          which);
  return a.boolean(transpose) || a.boolean(adjoint);
}

// Products of bytes may be summed as int32; otherwise the result has the dtype of the matrices.
std::pair<Tensor, Tensor> as_output_type(std::pair<Tensor, Tensor> both,
                                         std::optional<DType> output) {
  const DType dtype = both.first.dtype();
  if (!output || *output == dtype) return both;
  if (*output != int32 || size_of(dtype) != 1 || !is_integer(dtype))
    throw NotFoundError(std::string("[matmul] got output_type ") + name_of(*output) +
                        " for matrices of dtype " + name_of(dtype) +
                        "; expected their own dtype, or int32 for int8 and uint8; cast them first");
  return {cast(both.first, int32), cast(both.second, int32)};
}

PyObject* product(const Arguments& a) {
  const auto both = as_output_type(to_pair(a[0], a[1]), a.dtype(8));
  const MatmulOptions options{is_turned(a, 2, 4, "a"), is_turned(a, 3, 5, "b")};
  const Tensor x = adjoint_if(a.boolean(4), both.first), y = adjoint_if(a.boolean(5), both.second);
  if ((a.boolean(6) || a.boolean(7)) && (x.rank() != 2 || y.rank() != 2))
    throw InvalidArgumentError("[matmul] a_is_sparse and b_is_sparse are for two matrices");
  return wrap(on_large(x, y, [&] { return matmul(x, y, options); }));
}

PyObject* vector_product(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  const MatmulOptions options{.transpose_a = is_turned(a, 2, 3, "a")};
  const Tensor matrix = adjoint_if(a.boolean(3), both.first), column = expand_dims(both.second, -1);
  return wrap(on_large(matrix, [&] { return squeeze(matmul(matrix, column, options), {-1}); }));
}

PyObject* dotted(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  if (PyLong_Check(a[2])) return wrap(tensordot(both.first, both.second, a.small(2)));
  const Ref axes = Ref::own(PySequence_Tuple(a[2]));
  if (PyTuple_GET_SIZE(axes.get()) != 2)
    raise(PyExc_ValueError, "`axes` must be an integer or have length 2, got %R", a[2]);
  return wrap(tensordot(both.first, both.second, to_shape(PyTuple_GET_ITEM(axes.get(), 0)),
                        to_shape(PyTuple_GET_ITEM(axes.get(), 1))));
}

// Over two axes, for the orders of TensorFlow: the largest sum of a column (1) or of a row
// (infinity), the largest singular value (2).
Tensor matrix_norm(const Tensor& x, double ord, const Shape& axes, bool keepdims) {
  const std::int64_t rank = x.rank();
  const std::int64_t row = axes[0] < 0 ? axes[0] + rank : axes[0];
  const std::int64_t column = axes[1] < 0 ? axes[1] + rank : axes[1];
  Tensor largest;  // with both axes
  if (ord == 1 || std::isinf(ord)) {
    largest = reduce_max(reduce_sum(abs(x), {ord == 1 ? row : column}, true), {row, column}, true);
  } else {
    Shape order, back = x.shape();
    for (std::int64_t i = 0; i < rank; ++i)
      if (i != row && i != column) order.push_back(i);
    order.push_back(row);
    order.push_back(column);
    for (int i = 0; i < order.rank(); ++i) back[static_cast<int>(order[i])] = i;
    const Tensor values = linalg::svd(transpose(x, order)).s;
    largest = transpose(expand_dims(reduce_max(values, {-1}, true), -1), back);
  }
  return keepdims ? largest : squeeze(largest, {row, column});
}

PyObject* norm_of(const Arguments& a) {
  const Tensor x = a.tensor(0);
  double ord = 2;
  if (PyUnicode_Check(a[1])) {
    const bool of_vector = a.is_none(2) || PyLong_Check(a[2]);
    if (a.string(1) != "euclidean" && (of_vector || a.string(1) != "fro"))
      raise(PyExc_ValueError, "'ord' must be a supported %s norm, got %R",
            of_vector ? "vector" : "matrix", a[1]);
  } else {
    ord = a.real(1);
  }
  if (a.is_none(2) && !a.boolean(3)) return wrap(norm(x, ord));
  Shape axes;
  if (a.is_none(2))
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  else
    axes = a.shape(2);
  const bool is_matrix = !a.is_none(2) && !PyLong_Check(a[2]) && axes.rank() == 2;
  if (is_matrix && !PyUnicode_Check(a[1])) {
    if (ord != 1 && ord != 2 && ord != std::numeric_limits<double>::infinity())
      raise(PyExc_ValueError,
            "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got %R",
            a[1]);
    return wrap(matrix_norm(x, ord, axes, a.boolean(3)));
  }
  return wrap(norm(x, ord, axes, a.boolean(3)));
}

PyObject* solve_system(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  return wrap(on_large(both.first, [&, adjoint = a.boolean(2)] {
    return linalg::solve(both.first, both.second, adjoint);
  }));
}

PyObject* solve_triangle(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  return wrap(on_large(both.first, [&, lower = a.boolean(2), adjoint = a.boolean(3)] {
    return linalg::triangular_solve(both.first, both.second, lower, adjoint);
  }));
}

PyObject* sign_and_log(const Arguments& a) {
  const auto found = linalg::slogdet(a.tensor(0));
  const Ref sign = Ref::own(wrap(found.first)), log = Ref::own(wrap(found.second));
  return PyObject_CallFunctionObjArgs(imported("gradus._results", "LogMatrixDeterminant"),
                                      sign.get(), log.get(), nullptr);
}

constexpr const char* kMatmul =
    "a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, "
    "a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, "
    "name=None";
constexpr const char* kMatmulUnused =
    "grad_a: it tells TensorFlow's kernels whom the product is for; "
    "grad_b: it tells TensorFlow's kernels whom the product is for";
constexpr const char* kMatvecUnused =
    "a_is_sparse: a wish about speed, the product is the same; "
    "b_is_sparse: a wish about speed, the product is the same";

const FunctionEntry entries[] = {
    {"matmul linalg.matmul", kMatmul, "The product of matrices, over the last two axes.", product,
     kMatmulUnused},
    {"linalg.matvec",
     "a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None",
     "A matrix times a vector.", vector_product, kMatvecUnused},
    {"_einsum", "equation, inputs", "Sums of products.",
     [](const Arguments& a) {
       const std::string equation = a.string(0);
       const std::vector<Tensor> in = a.tensors(1, "einsum");
       std::int64_t count = 0;
       for (const Tensor& t : in) count += elements_now(t);
       return wrap(count >= kManyElements ? long_work([&] { return einsum(equation, in); })
                                          : einsum(equation, in));
     }},
    {"tensordot linalg.tensordot", "a, b, axes, name=None", "Products summed over given axes.",
     dotted},
    {"norm linalg.norm", "tensor, ord='euclidean', axis=None, keepdims=None, name=None",
     "The norm of all elements, or over axes.", norm_of},
    {"linalg.band_part", "input, num_lower, num_upper, name=None",
     "Zeros outside a band around the diagonal.",
     [](const Arguments& a) {
       return wrap(linalg::band_part(a.tensor(0), a.integer(1), a.integer(2)));
     }},
    {"linalg.tensor_diag", "diagonal, name=None", "A diagonal of all axes.",
     unary<linalg::tensor_diag>},
    {"linalg.tensor_diag_part", "input, name=None", "The diagonal of all axes.",
     unary<linalg::tensor_diag_part>},
    {"linalg.trace", "x, name=None", "The sum of the diagonal.", unary<linalg::trace>},
    {"linalg.matrix_transpose", "a, name='matrix_transpose', conjugate=False",
     "The last two axes swapped.",
     [](const Arguments& a) {
       return wrap(linalg::matrix_transpose(adjoint_if(a.boolean(2), a.tensor(0))));
     }},
    {"linalg.adjoint", "matrix, name=None", "Transposed and conjugated.", unary<linalg::adjoint>},
    {"linalg.cholesky", "input, name=None", "The lower triangular L with L L^T = input.",
     unary<linalg::cholesky>},
    {"linalg.cholesky_solve", "chol, rhs, name=None", "Solves A x = rhs, given A's factor.",
     binary<linalg::cholesky_solve>},
    {"linalg.triangular_solve", "matrix, rhs, lower=True, adjoint=False, name=None",
     "Solves a triangular system.", solve_triangle},
    {"linalg.solve", "matrix, rhs, adjoint=False, name=None", "Solves matrix x = rhs.",
     solve_system},
    {"linalg.eigh", "tensor, name=None", "Eigenvalues and eigenvectors of symmetric matrices.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const auto found = on_large(x, [&] { return linalg::eigh(x); });
       const Ref e = Ref::own(wrap(found.e)), v = Ref::own(wrap(found.v));
       return PyTuple_Pack(2, e.get(), v.get());
     }},
    {"linalg.eigvalsh", "tensor, name=None", "Eigenvalues of symmetric matrices.",
     unary<linalg::eigvalsh>},
    {"linalg.qr", "input, full_matrices=False, name=None", "Orthonormal columns and a triangle.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const auto found = on_large(x, [&, full = a.boolean(1)] { return linalg::qr(x, full); });
       const Ref q = Ref::own(wrap(found.q)), r = Ref::own(wrap(found.r));
       return PyObject_CallFunctionObjArgs(imported("gradus._results", "Qr"), q.get(), r.get(),
                                           nullptr);
     }},
    {"linalg.svd", "tensor, full_matrices=False, compute_uv=True, name=None",
     "Singular values; and vectors as columns, u diag(s) v^T.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const auto found = on_large(x, [&, full = a.boolean(1)] { return linalg::svd(x, full); });
       if (!a.boolean(2)) return wrap(found.s);
       const Ref s = Ref::own(wrap(found.s)), u = Ref::own(wrap(found.u)),
                 v = Ref::own(wrap(found.v));
       return PyTuple_Pack(3, s.get(), u.get(), v.get());
     }},
    {"linalg.expm", "input, name=None", "The exponential of square matrices.", unary<linalg::expm>},
    {"_pinv", "a, rcond", "The pseudo-inverse.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), rcond = a.tensor(1, x.dtype());
       return wrap(on_large(x, [&] { return linalg::pinv(x, rcond); }));
     }},
    {"linalg.inv", "input, adjoint=False, name=None", "The inverse.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       return wrap(on_large(x, [&, adjoint = a.boolean(1)] {
         return linalg::inv(adjoint ? linalg::adjoint(x) : x);
       }));
     }},
    {"_sparse_matmul", "values, coordinates, dense, rows, transpose",
     "A sparse matrix times dense ones.",
     [](const Arguments& a) {
       const auto [values, dense] = to_pair(a[0], a[2]);
       const Tensor coordinates = a.tensor(1);
       const std::vector<Size> rows = a.sizes(3);
       if (rows.size() != 1) raise(PyExc_ValueError, "expected the number of rows, got %R", a[3]);
       return wrap(on_large(values, dense, [&, transpose = a.boolean(4)] {
         return sparse_matmul(values, coordinates, dense, rows[0], {transpose});
       }));
     }},
    {"linalg.cross", "a, b, name=None", "The cross product of vectors.", binary<cross>},
    {"linalg.det", "input, name=None", "The determinant.", unary<linalg::det>},
    {"linalg.logdet", "matrix, name=None", "log(det) of positive definite matrices.",
     unary<linalg::logdet>},
    {"linalg.slogdet", "input, name=None", "Sign and log(|det|).", sign_and_log},
};

}  // namespace

void add_linalg_functions() { add_functions(entries); }

}  // namespace gradus::python
