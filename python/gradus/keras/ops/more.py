"""Functions of NumPy that programs rarely use."""
import math

import gradus as tf

from .._state import floatx as _floatx
from . import numpy as _np
from ._op import floating as _floating
from ._op import op as _op
from ._op import tensor as _tensor
from ._op import together as _together


@_op
def fabs(x):
    """|x| of floats."""
    return tf.abs(_floating(x))


@_op
def cbrt(x):
    """The cube root."""
    x = _floating(x)
    return tf.sign(x) * tf.pow(tf.abs(x), 1.0 / 3.0)


@_op
def fmax(x1, x2):
    """The larger one, and the other where one is NaN."""
    x1, x2 = _together(x1, x2)
    return tf.where(tf.math.is_nan(x1), x2, tf.where(tf.math.is_nan(x2), x1, tf.maximum(x1, x2)))


@_op
def fmin(x1, x2):
    """The smaller one, and the other where one is NaN."""
    x1, x2 = _together(x1, x2)
    return tf.where(tf.math.is_nan(x1), x2, tf.where(tf.math.is_nan(x2), x1, tf.minimum(x1, x2)))


@_op
def heaviside(x1, x2):
    """0 below 0, 1 above, x2 at 0."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.where(tf.equal(x1, 0.0), x2, tf.cast(x1 > 0, x1.dtype))


@_op
def logaddexp2(x1, x2):
    """log2(2^x1 + 2^x2)."""
    two = math.log(2)
    x1, x2 = map(_floating, _together(x1, x2))
    return _np.logaddexp(x1 * two, x2 * two) / two


@_op
def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0."""
    x = _floating(x) * math.pi
    safe = tf.where(tf.equal(x, 0.0), tf.ones_like(x), x)
    return tf.where(tf.equal(x, 0.0), tf.ones_like(x), tf.sin(safe) / safe)


@_op
def isposinf(x):
    """Whether elements are infinite and positive."""
    x = _floating(x)
    return tf.logical_and(tf.math.is_inf(x), x > 0)


@_op
def isneginf(x):
    """Whether elements are infinite and negative."""
    x = _floating(x)
    return tf.logical_and(tf.math.is_inf(x), x < 0)


@_op
def isin(x1, x2, assume_unique=False, invert=False):
    """Whether elements are among others."""
    x1, x2 = _together(x1, x2)
    found = tf.reduce_any(tf.equal(tf.expand_dims(x1, -1), tf.reshape(x2, [-1])), -1)
    return tf.logical_not(found) if invert else found


@_op
def bitwise_not(x):
    """All bits turned."""
    return tf.bitwise.invert(_tensor(x))


bitwise_invert = bitwise_not


@_op
def ptp(x, axis=None, keepdims=False):
    """The largest minus the smallest element."""
    return _np.max(x, axis, keepdims) - _np.min(x, axis, keepdims)


@_op
def percentile(x, q, axis=None, method="linear", keepdims=False):
    """The element below which q percent lie."""
    q = q / 100.0 if isinstance(q, (int, float)) else [v / 100.0 for v in _np.tensor_to_list(q)]
    return _np.quantile(x, q, axis, method, keepdims)


def _without_nan(x, value):
    x = _tensor(x)
    return tf.where(tf.math.is_nan(x), tf.cast(value, x.dtype), x) if x.dtype.is_floating else x


def _counted(x, axis, keepdims):
    x = _floating(x)
    return tf.reduce_sum(tf.cast(tf.logical_not(tf.math.is_nan(x)), x.dtype), axis, keepdims=keepdims)


@_op
def nansum(x, axis=None, keepdims=False):
    """The sum without NaN."""
    return _np.sum(_without_nan(x, 0), axis, keepdims)


@_op
def nanprod(x, axis=None, keepdims=False):
    """The product without NaN."""
    return _np.prod(_without_nan(x, 1), axis, keepdims)


@_op
def nanmax(x, axis=None, keepdims=False):
    """The largest without NaN."""
    return _np.max(_without_nan(x, -math.inf), axis, keepdims)


@_op
def nanmin(x, axis=None, keepdims=False):
    """The smallest without NaN."""
    return _np.min(_without_nan(x, math.inf), axis, keepdims)


@_op
def nanmean(x, axis=None, keepdims=False):
    """The mean without NaN."""
    return _np.sum(_floating(_without_nan(x, 0)), axis, keepdims) / _counted(x, axis, keepdims)


@_op
def nanvar(x, axis=None, keepdims=False):
    """The variance without NaN."""
    x = _floating(x)
    apart = _without_nan(x - nanmean(x, axis, True), 0)
    return tf.reduce_sum(tf.square(apart), axis, keepdims=keepdims) / _counted(x, axis, keepdims)


@_op
def nanstd(x, axis=None, keepdims=False):
    """The deviation without NaN."""
    return tf.sqrt(nanvar(x, axis, keepdims))


@_op
def fliplr(x):
    """The second axis backwards."""
    return tf.reverse(_tensor(x), [1])


@_op
def flipud(x):
    """The first axis backwards."""
    return tf.reverse(_tensor(x), [0])


@_op
def rot90(array, k=1, axes=(0, 1)):
    """Quarter turns in the plane of two axes."""
    x, (a, b) = _tensor(array), axes
    for _ in range(k % 4):
        x = tf.reverse(_np.swapaxes(x, a, b), [a])
    return x


@_op
def array_split(x, indices_or_sections, axis=0):
    """Parts along an axis, nearly equal ones."""
    if not isinstance(indices_or_sections, int):
        return _np.split(x, indices_or_sections, axis)
    size, parts = x.shape[axis], indices_or_sections
    return tf.split(_tensor(x), [size // parts + (i < size % parts) for i in range(parts)], axis)


@_op
def hsplit(x, indices_or_sections):
    """Parts along the second axis."""
    return _np.split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


@_op
def vsplit(x, indices_or_sections):
    """Parts along the first axis."""
    return _np.split(x, indices_or_sections, 0)


@_op
def dstack(xs):
    """Tensors behind each other along the third axis."""
    return tf.concat([tf.reshape(x, [1, -1, 1]) if len(x.shape) < 2 else x[..., None] if len(x.shape) == 2 else x
                      for x in _together(*xs)], 2)


@_op
def diagflat(x, k=0):
    """A matrix with these elements on a diagonal."""
    return tf.linalg.diag(tf.reshape(_tensor(x), [-1]), k=k)


@_op
def kron(x1, x2):
    """The Kronecker product of matrices."""
    x1, x2 = _together(x1, x2)
    (a, b), (c, d) = x1.shape, x2.shape
    return tf.reshape(x1[:, None, :, None] * x2[None, :, None, :], [a * c, b * d])


@_op
def vander(x, N=None, increasing=False):  # noqa: N803
    """Powers of the elements as columns."""
    x = _tensor(x)
    powers = tf.range(x.shape[0] if N is None else N, dtype=x.dtype)
    out = tf.pow(x[:, None], powers[None, :])
    return out if increasing else tf.reverse(out, [1])


@_op
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    y = _np.moveaxis(_floating(y), axis, -1)
    width = dx if x is None else _np.diff(_floating(x))
    return tf.reduce_sum(width * (y[..., 1:] + y[..., :-1]) / 2, -1)


@_op
def select(condlist, choicelist, default=0):
    """The first choice whose condition holds."""
    out = _together(choicelist[0], default)[1]
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        out = _np.where(condition, choice, out)
    return out


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    """Powers of a base whose exponents are evenly spaced."""
    values = tf.pow(float(base), _np.linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else tf.cast(values, dtype)


def _window(x, *terms):
    n = int(x)
    if n < 2:
        return tf.ones([max(n, 0)], _floatx())
    angle = tf.range(n, dtype=_floatx()) * (2 * math.pi / (n - 1))
    return sum((a * tf.cos(i * angle) for i, a in enumerate(terms)), tf.zeros([n], _floatx()))


def hanning(x):
    """The Hann window."""
    return _window(x, 0.5, -0.5)


def hamming(x):
    """The Hamming window."""
    return _window(x, 0.54, -0.46)


def blackman(x):
    """The Blackman window."""
    return _window(x, 0.42, -0.5, 0.08)


def bartlett(x):
    """The triangular window."""
    n = int(x)
    if n < 2:
        return tf.ones([max(n, 0)], _floatx())
    return 1 - tf.abs(tf.range(n, dtype=_floatx()) * (2 / (n - 1)) - 1)


@_op
def psnr(x1, x2, max_val):
    """The ratio of peak to noise, in decibels."""
    x1, x2 = map(_floating, _together(x1, x2))
    return 20 * _np.log10(float(max_val)) - 10 * _np.log10(tf.reduce_mean(tf.square(x1 - x2)))


@_op
def cdist(x, y):
    """Distances between all rows of two matrices."""
    x, y = map(_floating, _together(x, y))
    return tf.math.reduce_euclidean_norm(x[..., :, None, :] - y[..., None, :, :], -1)


def unravel_index(indices, shape):
    """Flat positions as coordinates."""
    indices, out = _tensor(indices), []
    for n in reversed(shape):
        out.append(tf.math.floormod(indices, n))
        indices = tf.math.floordiv(indices, n)
    return tuple(reversed(out))


def jvp(fun, primals, tangents, has_aux=False):
    """Values and directional derivatives of a function."""
    if has_aux:
        raise NotImplementedError("jvp(has_aux=True) is not covered")
    return tf.jvp(fun, primals, tangents)
