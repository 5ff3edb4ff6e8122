"""The functions of NumPy, on tensors."""
import builtins
import math

import gradus as tf

from .._state import floatx as _floatx
from ._op import as_bools as _as_bools
from ._op import binary as _binary
from ._op import dtype_of as _dtype_of
from ._op import floating as _floating
from ._op import op as _op
from ._op import publish as _publish
from ._op import result_type as _result_type
from ._op import tensor as _tensor
from ._op import together as _together
from ._op import unary as _unary

_publish(globals(), [_unary(*pair, _floating) for pair in {
    "arccos": tf.acos, "arccosh": tf.acosh, "arcsin": tf.asin, "arcsinh": tf.asinh, "arctan": tf.atan,
    "arctanh": tf.atanh,
    "ceil": tf.math.ceil, "cos": tf.cos, "cosh": tf.cosh, "exp": tf.exp, "expm1": tf.math.expm1, "floor": tf.floor,
    "log": tf.math.log, "log1p": tf.math.log1p, "reciprocal": tf.math.reciprocal, "sin": tf.sin, "sinh": tf.sinh,
    "sqrt": tf.sqrt, "tan": tf.tan, "tanh": tf.tanh}.items()])
_publish(globals(), [_unary(*pair) for pair in {
    "absolute": tf.abs, "angle": tf.math.angle, "conjugate": tf.math.conj, "imag": tf.math.imag,
    "isfinite": tf.math.is_finite, "isinf": tf.math.is_inf, "isnan": tf.math.is_nan, "negative": tf.negative,
    "real": tf.math.real, "sign": tf.sign, "square": tf.square}.items()])
_publish(globals(), [_binary(*pair) for pair in {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
    "floor_divide": tf.math.floordiv, "mod": tf.math.floormod, "fmod": tf.truncatemod, "equal": tf.equal,
    "not_equal": tf.not_equal, "greater": tf.greater, "greater_equal": tf.greater_equal, "less": tf.less,
    "less_equal": tf.less_equal, "bitwise_and": tf.bitwise.bitwise_and, "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor, "left_shift": tf.bitwise.left_shift,
    "right_shift": tf.bitwise.right_shift}.items()])
_publish(globals(), [_binary(*pair, _as_bools) for pair in {
    "logical_and": tf.logical_and, "logical_or": tf.logical_or, "logical_xor": tf.math.logical_xor}.items()])
abs, conj = globals()["absolute"], globals()["conjugate"]  # noqa: A001
bitwise_left_shift, bitwise_right_shift = globals()["left_shift"], globals()["right_shift"]


@_op
def divide(x1, x2):
    """x1 / x2, of integers as floats."""
    x1, x2 = _together(x1, x2)
    return _floating(x1) / _floating(x2)


true_divide = divide


@_op
def divide_no_nan(x1, x2):
    """x1 / x2, and 0 where x2 is 0."""
    x1, x2 = _together(x1, x2)
    return tf.math.divide_no_nan(_floating(x1), _floating(x2))


@_op
def power(x1, x2):
    """x1 to the power x2."""
    return tf.pow(*_together(x1, x2))


@_op
def arctan2(x1, x2):
    """The angle of the point (x2, x1)."""
    x1, x2 = _together(x1, x2)
    return tf.atan2(_floating(x1), _floating(x2))


@_op
def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2))."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.maximum(x1, x2) + tf.math.log1p(tf.exp(-tf.abs(x1 - x2)))


@_op
def hypot(x1, x2):
    """sqrt(x1^2 + x2^2)."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.sqrt(tf.square(x1) + tf.square(x2))


@_op
def log2(x):
    """The logarithm to base 2."""
    return tf.math.log(_floating(x)) / math.log(2)


@_op
def log10(x):
    """The logarithm to base 10."""
    return tf.math.log(_floating(x)) / math.log(10)


@_op
def exp2(x):
    """2 to the power x."""
    return tf.exp(_floating(x) * math.log(2))


@_op
def deg2rad(x):
    """Degrees as radians."""
    return _floating(x) * (math.pi / 180)


@_op
def rad2deg(x):
    """Radians as degrees."""
    return _floating(x) * (180 / math.pi)


@_op
def round(x, decimals=0):  # noqa: A001
    """The nearest number with so many decimals, ties to even."""
    x = _tensor(x)
    if decimals == 0:
        return tf.round(x)
    factor = 10.0 ** decimals
    return tf.cast(tf.round(_floating(x) * factor) / factor, x.dtype)


@_op
def trunc(x):
    """x without its fraction."""
    x = _tensor(x)
    return x if x.dtype.is_integer else tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


@_op
def logical_not(x):
    """Not x."""
    return tf.logical_not(tf.cast(x, "bool"))


@_op
def clip(x, x_min, x_max):
    """x between two bounds."""
    x = _tensor(x)
    if x.dtype == "bool":
        x = tf.cast(x, "int32")
    x_min, x_max = (-math.inf if x_min is None else x_min), (math.inf if x_max is None else x_max)
    return tf.clip_by_value(x, tf.cast(x_min, x.dtype), tf.cast(x_max, x.dtype))


@_op
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """x with numbers in place of what is not finite."""
    x = _tensor(x)
    if x.dtype.is_integer:
        return x
    high, low = (x.dtype.max if posinf is None else posinf), (x.dtype.min if neginf is None else neginf)
    x = tf.where(tf.math.is_nan(x), tf.cast(nan, x.dtype), x)
    infinite = tf.math.is_inf(x)
    x = tf.where(tf.logical_and(infinite, x > 0), tf.cast(high, x.dtype), x)
    return tf.where(tf.logical_and(infinite, x < 0), tf.cast(low, x.dtype), x)


# Reductions.

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
    """The element below which a part q lies, between neighbours by linear interpolation."""
    if method != "linear":
        raise NotImplementedError(f"quantile(method='{method}') is not covered; 'linear' is")
    x = _floating(x)
    rank = len(x.shape)
    if axis is None:
        y, axis = tf.reshape(x, [-1]), list(range(rank))
    else:
        axis = [a % rank for a in ([axis] if isinstance(axis, int) else axis)]
        others = [i for i in range(rank) if i not in axis]
        y = tf.reshape(tf.transpose(x, others + axis), [*(x.shape[i] for i in others), -1])
    y = tf.sort(y)
    parts = [q] if isinstance(q, (int, float)) else list(tensor_to_list(q))
    results = []
    for part in parts:
        at = part * (y.shape[-1] - 1)
        low, high = math.floor(at), math.ceil(at)
        results.append(y[..., low] * (1 - (at - low)) + y[..., high] * (at - low) if high > low else y[..., low])
    if keepdims:
        shape = [1 if i in axis else x.shape[i] for i in range(rank)]
        results = [tf.reshape(r, shape) for r in results]
    return results[0] if isinstance(q, (int, float)) else tf.stack(results)


def tensor_to_list(q):
    """A small tensor as Python's numbers."""
    return _tensor(q).numpy().tolist()


# Shapes.

@_op
def reshape(x, newshape):
    """The elements under another shape."""
    return tf.reshape(_tensor(x), (newshape,) if isinstance(newshape, int) else tuple(newshape))


@_op
def transpose(x, axes=None):
    """The axes in another order, backwards if not said."""
    return tf.transpose(_tensor(x), axes)


@_op
def expand_dims(x, axis):
    """With axes of size 1."""
    x = _tensor(x)
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    rank = len(x.shape) + len(axis)
    for a in sorted(a % rank for a in axis):
        x = tf.expand_dims(x, a)
    return x


@_op
def squeeze(x, axis=None):
    """Without axes of size 1."""
    return tf.squeeze(_tensor(x), axis)


@_op
def ravel(x):
    """All elements along one axis."""
    return tf.reshape(_tensor(x), [-1])


@_op
def broadcast_to(x, shape):
    """Repeated to a shape."""
    return tf.broadcast_to(_tensor(x), shape)


@_op
def concatenate(xs, axis=0):
    """Tensors one behind the other."""
    return tf.concat(_together(*xs), axis)


@_op
def stack(x, axis=0):
    """Tensors along a new axis."""
    return tf.stack(_together(*x), axis)


@_op
def append(x1, x2, axis=None):
    """x1 with x2 behind it."""
    x1, x2 = _together(x1, x2)
    return tf.concat([tf.reshape(x1, [-1]), tf.reshape(x2, [-1])], 0) if axis is None else tf.concat([x1, x2], axis)


@_op
def hstack(xs):
    """Tensors side by side."""
    xs = [tf.reshape(x, [-1]) if len(x.shape) < 2 else x for x in _together(*xs)]
    return tf.concat(xs, 0 if len(xs[0].shape) == 1 else 1)


@_op
def vstack(xs):
    """Tensors above each other."""
    return tf.concat([tf.reshape(x, [1, -1]) if len(x.shape) < 2 else x for x in _together(*xs)], 0)


@_op
def split(x, indices_or_sections, axis=0):
    """Parts along an axis: so many, or cut at positions."""
    x = _tensor(x)
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    cuts = [0, *(int(i) for i in indices_or_sections), x.shape[axis]]
    return tf.split(x, [b - a for a, b in zip(cuts, cuts[1:])], axis)


@_op
def tile(x, repeats):
    """Repeated as a whole."""
    x = _tensor(x)
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    rank = builtins.max(len(x.shape), len(repeats))
    x = tf.reshape(x, [*[1] * (rank - len(x.shape)), *x.shape])
    return tf.tile(x, [*[1] * (rank - len(repeats)), *repeats])


@_op
def repeat(x, repeats, axis=None):
    """Each element (or slice) repeated."""
    x = _tensor(x)
    return tf.repeat(tf.reshape(x, [-1]), repeats, axis=0) if axis is None else tf.repeat(x, repeats, axis=axis)


@_op
def flip(x, axis=None):
    """Some axes backwards."""
    x = _tensor(x)
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


@_op
def roll(x, shift, axis=None):
    """Elements moved along axes, around the end."""
    x = _tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)


@_op
def moveaxis(x, source, destination):
    """Axes at other places."""
    x = _tensor(x)
    rank = len(x.shape)
    source = [s % rank for s in ([source] if isinstance(source, int) else source)]
    destination = [d % rank for d in ([destination] if isinstance(destination, int) else destination)]
    order = [i for i in range(rank) if i not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return tf.transpose(x, order)


@_op
def swapaxes(x, axis1, axis2):
    """Two axes exchanged."""
    x = _tensor(x)
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


@_op
def pad(x, pad_width, mode="constant", constant_values=None):
    """With elements before and after along axes."""
    x = _tensor(x)
    if isinstance(pad_width, int):
        pad_width = ((pad_width, pad_width),) * len(x.shape)
    else:
        pad_width = tuple((p, p) if isinstance(p, int) else tuple(p) for p in pad_width)
        if len(pad_width) == 1:
            pad_width = pad_width * len(x.shape)
    return tf.pad(x, pad_width, mode.upper(), constant_values=constant_values or 0)


@_op
def take(x, indices, axis=None):
    """Elements (or slices) by number; negative ones count from the end."""
    x, indices = _tensor(x), _tensor(indices)
    indices = indices if indices.dtype.is_integer else tf.cast(indices, "int32")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    size = x.shape[axis]
    if size is not None and not str(indices.dtype.name).startswith("u"):
        indices = tf.where(indices < 0, indices + size, indices)
    return tf.gather(x, indices, axis=axis)


@_op
def take_along_axis(x, indices, axis=None):
    """Elements by number within their line along an axis."""
    x, indices = _tensor(x), tf.cast(indices, "int32")
    if axis is None:
        return tf.gather(tf.reshape(x, [-1]), tf.reshape(indices, [-1]))
    rank = len(x.shape)
    axis %= rank
    order = [i for i in range(rank) if i != axis] + [axis]
    back = [order.index(i) for i in range(rank)]
    shape = [builtins.max(a, b) if i != axis else a for i, (a, b) in enumerate(zip(x.shape, indices.shape))]
    x = tf.transpose(tf.broadcast_to(x, shape), order)
    lines = [n if i != axis else indices.shape[axis] for i, n in enumerate(shape)]
    indices = tf.transpose(tf.broadcast_to(indices, lines), order)
    indices = tf.where(indices < 0, indices + x.shape[-1], indices)
    return tf.transpose(tf.gather(x, indices, axis=rank - 1, batch_dims=rank - 1), back)


@_op
def where(condition, x1=None, x2=None):
    """x1 where the condition holds, else x2; alone: where it holds."""
    if x1 is None:
        return nonzero(condition)
    x1, x2 = _together(x1, x2)
    return tf.where(tf.cast(condition, "bool"), x1, x2)


@_op
def nonzero(x):
    """The coordinates of what is not 0, one tensor for each axis."""
    return list(tf.unstack(tf.cast(tf.where(tf.cast(x, "bool")), "int32"), axis=1))


@_op
def diag(x, k=0):
    """The diagonal of a matrix, or a matrix with one."""
    x = _tensor(x)
    return tf.linalg.diag(x, k=k) if len(x.shape) == 1 else tf.linalg.diag_part(x, k=k)


@_op
def diagonal(x, offset=0, axis1=0, axis2=1):
    """Diagonals of matrices."""
    return tf.linalg.diag_part(moveaxis(x, (axis1, axis2), (-2, -1)), k=offset)


@_op
def trace(x, offset=0, axis1=0, axis2=1):
    """Sums of diagonals."""
    return tf.reduce_sum(diagonal(x, offset, axis1, axis2), -1)


def _triangle(x, k, lower):
    x = _tensor(x)
    rows, columns = tf.range(x.shape[-2])[:, None], tf.range(x.shape[-1])[None, :]
    kept = columns - rows <= k if lower else columns - rows >= k
    return tf.where(kept, x, tf.zeros([], x.dtype))


@_op
def tril(x, k=0):
    """The lower triangle."""
    return _triangle(x, k, True)


@_op
def triu(x, k=0):
    """The upper triangle."""
    return _triangle(x, k, False)


@_op
def sort(x, axis=-1):
    """The elements in order."""
    return tf.sort(tf.reshape(_tensor(x), [-1])) if axis is None else tf.sort(_tensor(x), axis)


@_op
def argsort(x, axis=-1):
    """The positions that put the elements in order."""
    x = _tensor(x)
    return tf.cast(tf.argsort(tf.reshape(x, [-1])) if axis is None else tf.argsort(x, axis), "int32")


@_op
def searchsorted(sorted_sequence, values, side="left"):
    """Where values belong in a sorted sequence."""
    sorted_sequence, values = _together(sorted_sequence, values)
    found = tf.searchsorted(sorted_sequence, tf.reshape(values, [-1]), side=side)
    return tf.cast(tf.reshape(found, tf.shape(values)), "int32")


@_op
def digitize(x, bins):
    """The number of the bin of each element."""
    x, bins = _together(x, bins)
    return tf.cast(tf.reshape(tf.searchsorted(bins, tf.reshape(x, [-1]), side="right"), tf.shape(x)), "int32")


@_op
def bincount(x, weights=None, minlength=0, sparse=False):
    """How often each number occurs."""
    return tf.math.bincount(tf.cast(x, "int32"), weights, minlength=minlength)


# Products.

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


@_op
def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether elements are nearly equal."""
    x1, x2 = map(_floating, _together(x1, x2))
    near = tf.logical_or(tf.abs(x1 - x2) <= atol + rtol * tf.abs(x2), tf.equal(x1, x2))
    return tf.logical_or(near, tf.logical_and(tf.math.is_nan(x1), tf.math.is_nan(x2))) if equal_nan else near


@_op
def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all are."""
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


# Makers.

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
    return tf.size(x) if None in tuple(x.shape) else math.prod(x.shape)
