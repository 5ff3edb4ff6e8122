"""Matrices: factors, solutions, norms."""
import math

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
    rank = len(x.shape)
    axes = [a % rank for a in (range(rank) if axis is None else [axis] if isinstance(axis, int) else axis)]
    if ord is None or ord == "fro" and len(axes) == 2:
        return tf.math.reduce_euclidean_norm(x, axes, keepdims=keepdims)
    if len(axes) == 1 and not isinstance(ord, str):
        return _norm_of_vectors(x, ord, axes[0], keepdims)
    if len(axes) != 2 or ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f"Invalid `ord` argument for the norm over axis={axis}. Received: ord={ord}")
    if ord in ("nuc", 2, -2):
        rows = tf.linalg.svd(tf.transpose(x, [i for i in range(rank) if i not in axes] + axes), compute_uv=False)
        values = {"nuc": tf.reduce_sum, 2: tf.reduce_max, -2: tf.reduce_min}[ord](rows, -1)
    else:
        inner, outer = axes if abs(ord) == 1 else axes[::-1]
        sums = tf.reduce_sum(tf.abs(x), inner, keepdims=True)
        values = (tf.reduce_max if ord > 0 else tf.reduce_min)(tf.squeeze(sums, inner), outer - (outer > inner))
    return tf.reshape(values, [1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else values


def _norm_of_vectors(x, order, axis, keepdims):
    if order in (math.inf, -math.inf):
        return (tf.reduce_max if order > 0 else tf.reduce_min)(tf.abs(x), axis, keepdims=keepdims)
    if order == 0:
        return tf.reduce_sum(tf.cast(tf.not_equal(x, 0), x.dtype), axis, keepdims=keepdims)
    if order == 2:
        return tf.math.reduce_euclidean_norm(x, axis, keepdims=keepdims)
    return tf.pow(tf.reduce_sum(tf.pow(tf.abs(x), order), axis, keepdims=keepdims), 1.0 / order)


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
