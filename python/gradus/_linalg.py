"""What tf.linalg makes of factorisations."""
import sys

from . import _core


def _tf():
    return sys.modules["gradus"]


def _epsilon(dtype):
    import numpy as np
    return float(np.finfo(dtype.as_numpy_dtype).eps)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse; singular values below rcond times the largest count as zero."""
    tf = _tf()
    a = tf.convert_to_tensor(a)
    if not a.dtype.is_floating:
        raise TypeError("Input `a` must have `float`-like `dtype`.")
    if a.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions. Saw: {a.shape.rank}.")
    rcond = tf.convert_to_tensor(
        10.0 * max(a.shape[-2], a.shape[-1]) * _epsilon(a.dtype) if rcond is None else rcond, a.dtype)
    if rcond.shape.rank > a.shape.rank - 2:
        raise ValueError(f"[pinv] got rcond of shape {rcond.shape} for matrices of shape {a.shape}; expected one number for "
                         "each matrix")
    return _core._pinv(a, rcond)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The number of singular values above tol."""
    tf = _tf()
    a = tf.convert_to_tensor(a)
    s = tf.linalg.svd(a, compute_uv=False)
    if tol is None:
        tol = _epsilon(a.dtype) * max(a.shape[-2], a.shape[-1]) * tf.reduce_max(s, -1, keepdims=True)
    return tf.reduce_sum(tf.cast(s > tol, tf.int32), -1)


def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The x that brings matrix x nearest to rhs; the shortest one if there are many."""
    tf = _tf()
    matrix = tf.convert_to_tensor(matrix)
    rhs = tf.convert_to_tensor(rhs, matrix.dtype)
    if not fast:
        return tf.matmul(pinv(matrix), rhs)
    rows, columns = matrix.shape[-2:]
    high = rows >= columns
    gram = tf.matmul(matrix, matrix, transpose_a=high, transpose_b=not high)
    gram = gram + tf.cast(l2_regularizer, matrix.dtype) * tf.eye(min(rows, columns), dtype=matrix.dtype)
    factor = tf.linalg.cholesky(gram)
    if high:
        return tf.linalg.cholesky_solve(factor, tf.matmul(matrix, rhs, transpose_a=True))
    return tf.matmul(matrix, tf.linalg.cholesky_solve(factor, rhs), transpose_a=True)


def publish(namespace):
    """Puts these functions where TensorFlow has them."""
    linalg = namespace("linalg")
    linalg.pinv, linalg.matrix_rank, linalg.lstsq = pinv, matrix_rank, lstsq
