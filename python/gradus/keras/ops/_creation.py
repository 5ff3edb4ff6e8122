"""Tensors made of nothing, or like others, as NumPy has them."""
import math

import gradus as tf

from .._operation import KerasTensor
from .._state import floatx as _floatx
from ._op import dtype_of as _dtype_of
from ._op import floating as _floating
from ._op import op as _op
from ._op import result_type as _result_type
from ._op import tensor as _tensor
from ._op import together as _together


def arange(start, stop=None, step=None, dtype=None):
    """Numbers from start (0) to below stop."""
    start, stop = (0, start) if stop is None else (start, stop)
    step = 1 if step is None else step
    dtype = dtype or _result_type(*(_dtype_of(v) for v in (start, stop, step)))
    return tf.range(start, stop, step, dtype=dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """num numbers from start to stop."""
    start, stop = map(_floating, _together(start, stop))
    step = (stop - start) / (num - 1 if endpoint else num)
    values = tf.linspace(start, stop if endpoint else stop - step, num, axis=axis)
    values = values if dtype is None else tf.cast(values, dtype)
    return (values, step) if retstep else values


def zeros(shape, dtype=None):
    """Zeros."""
    return tf.zeros(shape, dtype or _floatx())


def ones(shape, dtype=None):
    """Ones."""
    return tf.ones(shape, dtype or _floatx())


def empty(shape, dtype=None):
    """Zeros."""
    return tf.zeros(shape, dtype or _floatx())


def full(shape, fill_value, dtype=None):
    """One value everywhere."""
    return tf.broadcast_to(tf.cast(fill_value, dtype or _floatx()), shape)


def eye(N, M=None, k=0, dtype=None):  # noqa: N803
    """The identity matrix, or one with ones on another diagonal."""
    rows, columns = tf.range(N)[:, None], tf.range(N if M is None else M)[None, :]
    return tf.cast(tf.equal(columns - rows, k), dtype or _floatx())


def identity(n, dtype=None):
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):  # noqa: N803
    """Ones below the diagonal."""
    return tf.cast(tf.range(N if M is None else M)[None, :] - tf.range(N)[:, None] <= k, dtype or _floatx())


@_op
def zeros_like(x, dtype=None):
    """Zeros of its shape."""
    return tf.zeros_like(_tensor(x), dtype=dtype)


@_op
def ones_like(x, dtype=None):
    """Ones of its shape."""
    return tf.ones_like(_tensor(x), dtype=dtype)


@_op
def full_like(x, fill_value, dtype=None):
    """One value in its shape."""
    x = _tensor(x)
    return tf.broadcast_to(tf.cast(fill_value, dtype or x.dtype), tf.shape(x))


empty_like = zeros_like


@_op
def meshgrid(*x, indexing="xy"):
    """The coordinates of a grid."""
    return tf.meshgrid(*x, indexing=indexing)


def array(x, dtype=None):
    """x as a tensor."""
    return tf.cast(x, dtype) if dtype is not None else _tensor(x)


@_op
def copy(x):
    """x."""
    return tf.identity(_tensor(x))


@_op
def get_item(x, key):
    """x[key]."""
    return x[key]


def ndim(x):
    """The number of axes."""
    return len(x.shape)


def size(x):
    """The number of elements."""
    return math.prod(x.shape) if isinstance(x, KerasTensor) and None not in tuple(x.shape) else tf.size(x)
