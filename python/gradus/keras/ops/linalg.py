"""Matrices: factors, solutions, norms."""
import gradus as tf

from ._op import floating as _floating
from ._op import op as _op
from ._op import together as _together


@_op
def cholesky(x, upper=False):
    """The triangular factor L with L L^T = x."""
    y = tf.linalg.cholesky(_floating(x))
    return tf.linalg.matrix_transpose(y) if upper else y


@_op
def det(x):
    """The determinant."""
    return tf.linalg.det(_floating(x))


@_op
def inv(x):
    """The inverse."""
    return tf.linalg.inv(_floating(x))


@_op
def slogdet(x):
    """Sign and logarithm of the determinant."""
    return tuple(tf.linalg.slogdet(_floating(x)))


@_op
def logdet(x):
    """The logarithm of the determinant of a positive definite matrix."""
    return tf.linalg.logdet(_floating(x))


@_op
def qr(x, mode="reduced"):
    """Orthonormal columns times an upper triangle."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"`mode` argument value not supported. Expected one of {{'reduced', 'complete'}}. Received: mode={mode}")
    return tuple(tf.linalg.qr(_floating(x), full_matrices=mode == "complete"))


@_op
def eigh(x):
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return tuple(tf.linalg.eigh(_floating(x)))


@_op
def solve(a, b):
    """The x with a x = b."""
    a, b = map(_floating, _together(a, b))
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.solve(a, tf.expand_dims(b, -1)), -1)
    return tf.linalg.solve(a, b)


@_op
def solve_triangular(a, b, lower=False):
    """The same for a triangle a."""
    a, b = map(_floating, _together(a, b))
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.triangular_solve(a, tf.expand_dims(b, -1), lower=lower), -1)
    return tf.linalg.triangular_solve(a, b, lower=lower)


@_op
def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """The norm of vectors or matrices."""
    x = _floating(x)
    if ord is None:
        axes = list(range(len(x.shape))) if axis is None else axis
        return tf.math.reduce_euclidean_norm(x, axes, keepdims=keepdims)
    return tf.norm(x, "euclidean" if ord == "fro" else ord, axis, keepdims)


@_op
def svd(x, full_matrices=True, compute_uv=True):
    """u, s and v^T with u diag(s) v^T = x."""
    x = _floating(x)
    if not compute_uv:
        return tf.linalg.svd(x, compute_uv=False)
    s, u, v = tf.linalg.svd(x, full_matrices=full_matrices)
    return u, s, tf.linalg.matrix_transpose(v)


@_op
def lstsq(a, b, rcond=None):
    """The shortest x that brings a x nearest to b."""
    a, b = map(_floating, _together(a, b))
    column = len(b.shape) == 1
    x = tf.matmul(tf.linalg.pinv(a, rcond), tf.expand_dims(b, -1) if column else b)
    return tf.squeeze(x, -1) if column else x
