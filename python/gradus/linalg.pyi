# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def adjoint(matrix: _Any, name: str | None = None) -> Tensor:
    """Transposed and conjugated."""
def band_part(input: _Any, num_lower: _Any, num_upper: _Any, name: str | None = None) -> Tensor:
    """Zeros outside a band around the diagonal."""
def cholesky(input: _Any, name: str | None = None) -> Tensor:
    """The lower triangular L with L L^T = input."""
def cholesky_solve(chol: _Any, rhs: _Any, name: str | None = None) -> Tensor:
    """Solves A x = rhs, given A's factor."""
def cross(a: _Any, b: _Any, name: str | None = None) -> Tensor:
    """The cross product of vectors."""
def det(input: _Any, name: str | None = None) -> Tensor:
    """The determinant."""
def diag(diagonal: _Any, name: str | None = 'diag', k: _Any = 0, num_rows: _Any = -1, num_cols: _Any = -1, padding_value: _Any = 0, align: str = 'RIGHT_LEFT') -> Tensor:
    """Matrices with given diagonals."""
def diag_part(input: _Any, name: str | None = 'diag_part', k: _Any = 0, padding_value: _Any = 0, align: str = 'RIGHT_LEFT') -> Tensor:
    """The diagonals."""
def eig(tensor: _Any, name: _Any = ...) -> _Any:
    """(eigenvalues, eigenvectors as columns), complex, of each matrix."""
def eigh(tensor: _Any, name: str | None = None) -> Tensor:
    """Eigenvalues and eigenvectors of symmetric matrices."""
def eigvals(tensor: _Any, name: _Any = ...) -> _Any:
    """The eigenvalues, complex, of each matrix."""
def eigvalsh(tensor: _Any, name: str | None = None) -> Tensor:
    """Eigenvalues of symmetric matrices."""
def einsum(equation: _Any, *inputs: _Any, **kwargs: _Any) -> _Any:
    """Sums of products over named axes: einsum("ij,jk->ik", a, b) is a matrix product."""
def expm(input: _Any, name: str | None = None) -> Tensor:
    """The exponential of square matrices."""
def eye(num_rows: _Any, num_columns: _Any = None, batch_shape: _Any = None, dtype: _DTypeLike | None = 'float32', name: str | None = None) -> Tensor:
    """The identity matrix."""
def global_norm(t_list: _Any, name: str | None = None) -> Tensor:
    """The root of the sum of all squares."""
def inv(input: _Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse."""
def l2_normalize(x: _Any, axis: _Axis | None = None, epsilon: _Any = 1e-12, name: str | None = None, dim: _Any = None) -> Tensor:
    """x divided by its norm."""
def logdet(matrix: _Any, name: str | None = None) -> Tensor:
    """log(det) of positive definite matrices."""
def lstsq(matrix: _Any, rhs: _Any, l2_regularizer: _Any = ..., fast: _Any = ..., name: _Any = ...) -> _Any:
    """The x that brings matrix x nearest to rhs; the shortest one if there are many."""
def matmul(a: _Any, b: _Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: _DTypeLike | None = None, grad_a: bool = False, grad_b: bool = False, name: str | None = None) -> Tensor:
    """The product of matrices, over the last two axes."""
def matrix_rank(a: _Any, tol: _Any = ..., validate_args: _Any = ..., name: _Any = ...) -> _Any:
    """The number of singular values above tol."""
def matrix_transpose(a: _Any, name: str | None = 'matrix_transpose', conjugate: bool = False) -> Tensor:
    """The last two axes swapped."""
def matvec(a: _Any, b: _Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """A matrix times a vector."""
def norm(tensor: _Any, ord: str = 'euclidean', axis: _Axis | None = None, keepdims: bool | None = None, name: str | None = None) -> Tensor:
    """The norm of all elements, or over axes."""
def normalize(tensor: _Any, ord: _Any = ..., axis: _Any = ..., name: _Any = ...) -> _Any:
    """The tensor divided by its norm, and the norm."""
def pinv(a: _Any, rcond: _Any = ..., validate_args: _Any = ..., name: _Any = ...) -> _Any:
    """The pseudo-inverse; singular values below rcond times the largest count as zero."""
def qr(input: _Any, full_matrices: bool = False, name: str | None = None) -> Tensor:
    """Orthonormal columns and a triangle."""
def set_diag(input: _Any, diagonal: _Any, name: str | None = 'set_diag', k: _Any = 0, align: str = 'RIGHT_LEFT') -> Tensor:
    """Other diagonals."""
def slogdet(input: _Any, name: str | None = None) -> _Any:
    """Sign and log(|det|)."""
def solve(matrix: _Any, rhs: _Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves matrix x = rhs."""
def svd(tensor: _Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Tensor:
    """Singular values; and vectors as columns, u diag(s) v^T."""
def tensor_diag(diagonal: _Any, name: str | None = None) -> Tensor:
    """A diagonal of all axes."""
def tensor_diag_part(input: _Any, name: str | None = None) -> Tensor:
    """The diagonal of all axes."""
def tensordot(a: _Any, b: _Any, axes: _Any, name: str | None = None) -> Tensor:
    """Products summed over given axes."""
def trace(x: _Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal."""
def triangular_solve(matrix: _Any, rhs: _Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves a triangular system."""
