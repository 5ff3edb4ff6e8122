"""Functions that move, choose, sort and count elements, as NumPy has them."""
import builtins

import gradus as tf

from ._op import op as _op
from ._op import tensor as _tensor
from ._op import together as _together


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
    if not str(indices.dtype.name).startswith("u"):
        size = tf.cast(tf.shape(x)[axis], indices.dtype) if x.shape[axis] is None else x.shape[axis]
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
    """How often each number occurs, or the sums of their weights; of a matrix, in each row by itself."""
    x = tf.cast(x, "int32")
    if len(x.shape) < 2:
        counts = tf.math.bincount(x, weights, minlength=minlength)
    else:
        rows = x.shape[0]
        count = tf.maximum(tf.reduce_max(tf.concat([tf.reshape(x, [-1]), [-1]], 0)) + 1, minlength)
        ones = tf.ones_like(x) if weights is None else _tensor(weights)
        places = x + tf.range(rows)[:, None] * count
        counts = tf.reshape(tf.math.unsorted_segment_sum(ones, places, rows * count), [rows, count])
    return tf.sparse.from_dense(counts) if sparse else counts
