"""Products of matrices and tensors, as NumPy has them."""
import gradus as tf

from ._op import op as _op
from ._op import together as _together


@_op
def matmul(x1, x2):
    """The matrix product; vectors are rows and columns."""
    x1, x2 = _together(x1, x2)
    a, b = len(x1.shape), len(x2.shape)
    if a > 1 and b > 1:
        return tf.matmul(x1, x2)
    if a == 1 and b == 1:
        return tf.tensordot(x1, x2, 1)
    if b == 1:
        return tf.squeeze(tf.matmul(x1, tf.expand_dims(x2, -1)), -1)
    return tf.squeeze(tf.matmul(tf.expand_dims(x1, 0), x2), -2)


@_op
def dot(x1, x2):
    """Sums of products over the last axis of one and the last but one of the other."""
    x1, x2 = _together(x1, x2)
    if not len(x1.shape) or not len(x2.shape):
        return x1 * x2
    return tf.tensordot(x1, x2, [[-1], [-1 if len(x2.shape) == 1 else -2]])


@_op
def tensordot(x1, x2, axes=2):
    """Sums of products over axes of both."""
    return tf.tensordot(*_together(x1, x2), axes)


@_op
def vdot(x1, x2):
    """The sum of products of all elements."""
    x1, x2 = _together(x1, x2)
    return tf.reduce_sum(tf.reshape(x1, [-1]) * tf.reshape(x2, [-1]))


@_op
def inner(x1, x2):
    """Sums of products over the last axes of both."""
    x1, x2 = _together(x1, x2)
    return x1 * x2 if not len(x1.shape) or not len(x2.shape) else tf.tensordot(x1, x2, [[-1], [-1]])


@_op
def outer(x1, x2):
    """All products of the elements."""
    x1, x2 = _together(x1, x2)
    return tf.reshape(x1, [-1, 1]) * tf.reshape(x2, [1, -1])


@_op
def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of three numbers along the last axis."""
    return tf.linalg.cross(*_together(x1, x2))


@_op
def einsum(subscripts, *operands):
    """Sums of products over named axes."""
    return tf.einsum(subscripts, *_together(*operands))
