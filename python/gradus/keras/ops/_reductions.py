"""Sums, means, extremes, places and quantiles along axes, as NumPy has them."""
import builtins
import math

import gradus as tf

from ._op import floating as _floating
from ._op import op as _op
from ._op import tensor as _tensor
from ._op import together as _together


def _summed(x):
    x = _tensor(x)
    return tf.cast(x, "int32") if x.dtype == "bool" else x


@_op
def sum(x, axis=None, keepdims=False):  # noqa: A001
    """The sum over axes."""
    return tf.reduce_sum(_summed(x), axis, keepdims=keepdims)


@_op
def prod(x, axis=None, keepdims=False, dtype=None):
    """The product over axes."""
    x = _summed(x)
    return tf.reduce_prod(x if dtype is None else tf.cast(x, dtype), axis, keepdims=keepdims)


def between(at, low, high, method):
    """(number of the lower neighbour, of the upper one, part of the upper one) that a method takes at a place."""
    if method == "linear":
        return low, high, at - low
    if method == "midpoint":
        return low, high, 0.5 * (high - low)
    kinds = {"lower": low, "higher": high, "nearest": tf.round(at) if tf.is_tensor(at) else round(at)}
    if method not in kinds:
        raise ValueError(f"`method` must be one of 'linear', 'lower', 'higher', 'midpoint', 'nearest'. Received: "
                         f"method={method}")
    return kinds[method], kinds[method], 0.0


@_op
def mean(x, axis=None, keepdims=False):
    """The mean over axes."""
    return tf.reduce_mean(_floating(x), axis, keepdims=keepdims)


@_op
def var(x, axis=None, keepdims=False):
    """The mean squared distance from the mean."""
    return tf.math.reduce_variance(_floating(x), axis, keepdims=keepdims)


@_op
def std(x, axis=None, keepdims=False):
    """The root of the variance."""
    return tf.math.reduce_std(_floating(x), axis, keepdims=keepdims)


def _extreme(reduce, combine, x, axis, keepdims, initial):
    x = _tensor(x)
    if x.dtype == "bool":
        return tf.cast(_extreme(reduce, combine, tf.cast(x, "int32"), axis, keepdims, initial), "bool")
    y = reduce(x, axis, keepdims=keepdims)
    return y if initial is None else combine(y, tf.cast(initial, y.dtype))


@_op
def max(x, axis=None, keepdims=False, initial=None):  # noqa: A001
    """The largest element over axes."""
    return _extreme(tf.reduce_max, tf.maximum, x, axis, keepdims, initial)


@_op
def min(x, axis=None, keepdims=False, initial=None):  # noqa: A001
    """The smallest element over axes."""
    return _extreme(tf.reduce_min, tf.minimum, x, axis, keepdims, initial)


amax, amin = max, min


@_op
def all(x, axis=None, keepdims=False):  # noqa: A001
    """Whether all elements are true."""
    return tf.reduce_all(tf.cast(x, "bool"), axis, keepdims=keepdims)


@_op
def any(x, axis=None, keepdims=False):  # noqa: A001
    """Whether any element is true."""
    return tf.reduce_any(tf.cast(x, "bool"), axis, keepdims=keepdims)


@_op
def count_nonzero(x, axis=None):
    """How many elements are not 0."""
    return tf.cast(tf.math.count_nonzero(_tensor(x), axis), "int32")


def _position(function, x, axis, keepdims):
    x = _tensor(x)
    if axis is None:
        y = function(tf.reshape(x, [-1]), 0, "int32")
        return tf.reshape(y, [1] * len(x.shape)) if keepdims else y
    y = function(x, axis, "int32")
    return tf.expand_dims(y, axis) if keepdims else y


@_op
def argmax(x, axis=None, keepdims=False):
    """Where the largest element is."""
    return _position(tf.argmax, x, axis, keepdims)


@_op
def argmin(x, axis=None, keepdims=False):
    """Where the smallest element is."""
    return _position(tf.argmin, x, axis, keepdims)


def _along(function, x, axis):
    x = _summed(x)
    return function(tf.reshape(x, [-1]), axis=0) if axis is None else function(x, axis=axis)


@_op
def cumsum(x, axis=None, dtype=None):
    """Sums of the elements so far."""
    return _along(tf.cumsum, x if dtype is None else tf.cast(x, dtype), axis)


@_op
def cumprod(x, axis=None, dtype=None):
    """Products of the elements so far."""
    return _along(tf.math.cumprod, x if dtype is None else tf.cast(x, dtype), axis)


@_op
def average(x, axis=None, weights=None):
    """The mean, or a weighted one."""
    if weights is None:
        return tf.reduce_mean(_floating(x), axis)
    x, weights = map(_floating, _together(x, weights))
    if len(weights.shape) == 1 and len(x.shape) > 1 and axis is not None:
        weights = tf.reshape(weights, [-1 if i == axis % len(x.shape) else 1 for i in range(len(x.shape))])
    total = tf.reduce_sum(tf.broadcast_to(weights, tf.shape(x)), axis)
    return tf.reduce_sum(x * weights, axis) / total


@_op
def diff(a, n=1, axis=-1):
    """Each element minus the one before, n times."""
    a = _tensor(a)
    for _ in range(n):
        size = a.shape[axis]
        ahead, back = [builtins.slice(None)] * len(a.shape), [builtins.slice(None)] * len(a.shape)
        ahead[axis], back[axis] = builtins.slice(1, None), builtins.slice(0, size - 1)
        a = a[tuple(ahead)] - a[tuple(back)]
    return a


@_op
def median(x, axis=None, keepdims=False):
    """The middle element, or the mean of the two."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


@_op
def quantile(x, q, axis=None, method="linear", keepdims=False):
    """The element below which a part q lies; between neighbours as the method says."""
    x = _floating(x)
    rank = len(x.shape)
    if axis is None:
        y, axis = tf.reshape(x, [-1]), list(range(rank))
    else:
        axis = [a % rank for a in ([axis] if isinstance(axis, int) else axis)]
        others = [i for i in range(rank) if i not in axis]
        y = tf.reshape(tf.transpose(x, others + axis), [*(x.shape[i] for i in others), -1])
    y = tf.sort(y)
    parts, is_one = parts_of(q)
    results = []
    for part in parts:
        at = float(part) * (y.shape[-1] - 1)
        low, high, part_of_high = between(at, math.floor(at), math.ceil(at), method)
        if tf.is_tensor(part) and method == "linear":  # the result varies with it
            part_of_high = tf.cast(part, y.dtype) * (y.shape[-1] - 1) - low
        elif part_of_high == 0:
            results.append(y[..., low])
            continue
        results.append(y[..., low] * (1 - part_of_high) + y[..., high] * part_of_high)
    if keepdims:
        shape = [1 if i in axis else x.shape[i] for i in range(rank)]
        results = [tf.reshape(r, shape) for r in results]
    return results[0] if is_one else tf.stack(results)


def parts_of(q):
    """(a list of numbers, or of tensors that a tape may watch; whether one was given)."""
    is_one = isinstance(q, (int, float)) or getattr(q, "ndim", 1) == 0
    return [q] if is_one else tf.unstack(q) if tf.is_tensor(q) else list(q), is_one
