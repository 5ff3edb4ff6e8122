"""Products of matrices and tensors, as NumPy has them."""
import gradus as tf

from ._op import op as _op
from ._op import together as _together
from ._shapes import moveaxis as _moveaxis


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
    if not getattr(x1, "shape", ()) or not getattr(x2, "shape", ()):
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
    """The cross product of vectors of three numbers, or of two, whose third is 0; `axis` says all three places at once."""
    x1, x2 = _together(x1, x2)
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    x1, x2 = _moveaxis(x1, axisa, -1), _moveaxis(x2, axisb, -1)
    sizes = x1.shape[-1], x2.shape[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError("`x1`'s dim on `axis={axisa}` must be either 2 or 3, and `x2`'s dim on `axis={axisb}` must be "
                         f"either 2 or 3. Received: {sizes}")
    shape = tf.broadcast_static_shape(x1.shape[:-1], x2.shape[:-1]).as_list()
    x1, x2 = (tf.broadcast_to(tf.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, 3 - n]]), [*shape, 3])
              for x, n in zip((x1, x2), sizes))
    product = tf.linalg.cross(x1, x2)
    return product[..., 2] if sizes == (2, 2) else _moveaxis(product, -1, axisc)


@_op
def einsum(subscripts, *operands):
    """Sums of products over named axes."""
    return tf.einsum(subscripts, *_together(*operands))
