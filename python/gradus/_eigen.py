"""Eigenvalues of matrices that need not be symmetric: computed by NumPy, without derivatives."""
import sys

import numpy as np


def _tf():
    return sys.modules["gradus"]


def _checked(tensor):
    tf = _tf()
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise tf.errors.InvalidArgumentError(None, None, f"Input matrix must be square, got the shape {tensor.shape}")
    return tensor, tf.complex128 if tensor.dtype in (tf.float64, tf.complex128) else tf.complex64


def eigvals(tensor, name=None):
    """The eigenvalues, complex, of each matrix."""
    tf = _tf()
    tensor, kind = _checked(tensor)
    return tf.numpy_function(lambda m: np.linalg.eigvals(m).astype(kind.as_numpy_dtype), [tensor],
                             tf.TensorSpec(tensor.shape[:-1], kind))


def eig(tensor, name=None):
    """(eigenvalues, eigenvectors as columns), complex, of each matrix."""
    tf = _tf()
    tensor, kind = _checked(tensor)
    return tuple(tf.numpy_function(lambda m: [part.astype(kind.as_numpy_dtype) for part in np.linalg.eig(m)], [tensor],
                                   [tf.TensorSpec(tensor.shape[:-1], kind), tf.TensorSpec(tensor.shape, kind)]))
