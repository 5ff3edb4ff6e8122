"""Eigenvalues of matrices that need not be symmetric: the values are NumPy's, the derivatives are written with them.

A change dA of the matrix changes eigenvalue i by w_i dA v_i, with the rows w of the inverse of V, and turns v_j towards
v_i by w_i dA v_j / (e_j - e_i). Vectors of equal values are not determined: where that matters the derivative is NaN, as
that of values where there are too few vectors (docs/design/036).

A rule asks for the factors again, so that it has a rule in turn. Eagerly that ends by itself; a trace would not end, so
there derivatives beyond the second are NaN.
"""
import sys

import numpy as np

from ._kinds import is_traced


def _tf():
    return sys.modules["gradus"]


def _checked(tensor):
    tf = _tf()
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise tf.errors.InvalidArgumentError(None, None, f"Input matrix must be square, got the shape {tensor.shape}")
    return tensor, tf.complex128 if tensor.dtype in (tf.float64, tf.complex128) else tf.complex64


def _solve(matrix, rhs):
    """matrix^-1 rhs of complex matrices, as one of real ones twice as large."""
    tf = _tf()
    real, imag = tf.math.real(matrix), tf.math.imag(matrix)
    whole = tf.concat([tf.concat([real, -imag], -1), tf.concat([imag, real], -1)], -2)
    found = tf.linalg.solve(whole, tf.concat([tf.math.real(rhs), tf.math.imag(rhs)], -2))
    return tf.complex(*tf.split(found, 2, -2))


_TRACED_ORDERS = 2


def _is_last(x, order):
    return order >= _TRACED_ORDERS and is_traced(x)


def _pulled(tensor, inner, v):
    """V^-H inner V^H, real if the matrix is."""
    tf = _tf()
    adjoint = tf.linalg.adjoint(v)
    g = _solve(adjoint, tf.matmul(inner, adjoint))
    return g if tensor.dtype.is_complex else tf.cast(tf.math.real(g), tensor.dtype)


def _over_gaps(turn, e, v, g_values):
    """turn_ij / (e_j - e_i), without the diagonal. Where the gap is nothing but rounding: 0 if nothing tells the two
    apart, and NaN if something does: what arrives at their vectors or, if these are asked for or are one vector, at their
    values."""
    tf = _tf()
    rounding = 32 * float(np.finfo(e.dtype.as_numpy_dtype).eps)
    one, none, zero = (tf.constant(c, e.dtype) for c in (1, np.nan, 0))
    gap = tf.expand_dims(e, -2) - tf.expand_dims(e, -1)
    largest = tf.reduce_max(tf.abs(e), -1)[..., None, None]
    same = tf.cast(tf.eye(e.shape[-1]), tf.bool)
    close = (tf.abs(gap) <= rounding * largest) & ~same
    scale = tf.where(largest > 0, largest, tf.ones_like(largest))
    apart = tf.abs(tf.expand_dims(g_values, -2) - tf.expand_dims(g_values, -1)) * scale
    asked = tf.reduce_max(tf.abs(turn), [-2, -1], keepdims=True)
    size = tf.maximum(asked, tf.reduce_max(tf.abs(g_values), -1)[..., None, None] * scale)
    one_vector = tf.abs(tf.matmul(v, v, adjoint_a=True)) >= 1.0 - rounding
    matters = (tf.abs(turn) > rounding * size) | ((apart > rounding * size) & ((asked > 0) | one_vector))
    quotient = turn / tf.math.conj(tf.where(close | same, one, gap))
    return tf.where(close & matters, none, tf.where(close | same, zero, quotient))


def eigvals(tensor, name=None):
    """The eigenvalues, complex, of each matrix."""
    return _both(tensor, 0)[0]


def eig(tensor, name=None):
    """(eigenvalues, eigenvectors as columns), complex, of each matrix."""
    return _both(tensor, 0)


def _both(tensor, order):
    tf = _tf()
    tensor, kind = _checked(tensor)

    @tf.custom_gradient
    def both(x):
        found = tf.numpy_function(lambda m: [part.astype(kind.as_numpy_dtype) for part in np.linalg.eig(m)], [x],
                                  [tf.TensorSpec(x.shape[:-1], kind), tf.TensorSpec(x.shape, kind)])

        def back(g_values, g_vectors):
            if _is_last(x, order):
                return x * np.nan
            e, v = _both(x, order + 1)
            turn = tf.matmul(v, g_vectors, adjoint_a=True)
            length = tf.cast(tf.math.real(tf.linalg.diag_part(turn)), kind)  # vectors keep their length
            turn = turn - tf.matmul(v, v, adjoint_a=True) * tf.expand_dims(length, -2)
            return _pulled(x, tf.linalg.diag(g_values) + _over_gaps(turn, e, v, g_values), v)
        return tuple(found), back
    return tuple(both(tensor))
