"""Functions of the module that few programs use: loaded when first used."""
import math
import sys
import time

import numpy as np

from ._effects import found_rows
from ._kinds import is_traced, size_of
from ._protobuf_tensor import make_ndarray, make_tensor_proto  # noqa: F401
from .debugging import assert_equal, assert_greater, assert_less, assert_rank  # noqa: F401
from .strings import as_string  # noqa: F401


def _tf():
    return sys.modules["gradus"]


def saturate_cast(value, dtype, name=None):
    """The value in another dtype; what is outside of its range becomes its nearest number."""
    tf = _tf()
    value, dtype = tf.convert_to_tensor(value), tf.as_dtype(dtype)
    if dtype.is_complex or value.dtype.is_complex or dtype.is_bool or value.dtype.is_bool:
        return tf.cast(value, dtype)
    low, high = max(value.dtype.min, dtype.min), min(value.dtype.max, dtype.max)
    if low <= high and (low, high) != (value.dtype.min, value.dtype.max):
        if value.dtype.is_floating and dtype.is_integer:  # the limit itself may not be a number of the dtype
            kind = value.dtype.as_numpy_dtype
            high = float(np.nextafter(kind(high), kind(0))) if float(kind(high)) > high else high
        value = tf.clip_by_value(value, tf.constant(low, value.dtype), tf.constant(high, value.dtype))
    return tf.cast(value, dtype)


def scalar_mul(scalar, x, name=None):
    """A number times a tensor or IndexedSlices."""
    tf = _tf()
    if isinstance(x, tf.IndexedSlices):
        return tf.IndexedSlices(tf.cast(scalar, x.dtype) * x.values, x.indices, x.dense_shape)
    scalar = tf.convert_to_tensor(scalar, tf.convert_to_tensor(x).dtype)
    if scalar.shape.rank != 0:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    return tf.multiply(scalar, x)


def realdiv(x, y, name=None):
    """x / y of real numbers, in their own dtype."""
    return _tf().divide(x, y)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of one shape."""
    tf = _tf()
    if not isinstance(inputs, (list, tuple)) or not inputs or any(isinstance(t, tf.IndexedSlices) for t in inputs):
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    inputs = [tf.convert_to_tensor(t) for t in inputs]
    if tensor_dtype is not None and any(t.dtype != tf.as_dtype(tensor_dtype) for t in inputs):
        raise TypeError(f"tensor_dtype is {tf.as_dtype(tensor_dtype)}, but input is of type {inputs[0].dtype}")
    if shape is not None and any(not t.shape.is_compatible_with(shape) for t in inputs):
        raise ValueError(f"Shapes {inputs[0].shape} and {shape} are not compatible")
    return tf.add_n(inputs)


def invert_permutation(x, name=None):
    """The permutation that undoes x."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    return tf.scatter_nd(tf.expand_dims(x, 1), tf.range(tf.shape(x)[0], dtype=x.dtype), tf.shape(x, out_type=x.dtype))


def lbeta(x, name=None):
    """The logarithm of the beta function of the numbers along the last axis."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    return tf.reduce_sum(tf.math.lgamma(x), -1) - tf.math.lgamma(tf.reduce_sum(x, -1))


def nextafter(x1, x2, name=None):
    """The number next to x1 on the way to x2."""
    tf = _tf()
    x1 = tf.convert_to_tensor(x1)

    @tf.custom_gradient
    def next_number(x1, x2):
        found = tf.numpy_function(np.nextafter, [x1, x2], tf.TensorSpec(tf.broadcast_static_shape(x1.shape, x2.shape), x1.dtype))
        return found, lambda g: (tf.reshape(_summed(g, x1.shape), x1.shape), tf.zeros_like(x2))
    return next_number(x1, tf.convert_to_tensor(x2, x1.dtype))


def _summed(g, shape):
    """A gradient summed over the axes along which a tensor of this shape was repeated."""
    tf = _tf()
    axes = [i for i in range(g.shape.rank) if i < g.shape.rank - shape.rank
            or shape[i - g.shape.rank + shape.rank] != g.shape[i]]
    return tf.reduce_sum(g, axes) if axes else g


def polyval(coeffs, x, name=None):
    """The polynomial with these coefficients, the highest first, at x."""
    tf = _tf()
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = tf.convert_to_tensor(x)
    if not coeffs:
        return tf.zeros_like(x)
    value = tf.convert_to_tensor(coeffs[0], x.dtype)
    for c in coeffs[1:]:
        value = tf.convert_to_tensor(c, x.dtype) + value * x
    return value


def zero_fraction(value, name=None):
    """Which part of the elements is zero."""
    tf = _tf()
    value = tf.convert_to_tensor(value)
    return tf.reduce_mean(tf.cast(tf.equal(value, tf.zeros([], value.dtype)), tf.float32))


def unravel_index(indices, dims, name=None):
    """Numbers of elements as coordinates: [dimensions, ...]."""
    tf = _tf()
    indices = tf.convert_to_tensor(indices)
    dims = tf.convert_to_tensor(dims, indices.dtype)
    strides = tf.math.cumprod(dims, exclusive=True, reverse=True)
    shape = [-1] + [1] * indices.shape.rank
    return tf.expand_dims(indices, 0) // tf.reshape(strides, shape) % tf.reshape(dims, shape)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype="int32", name=None):
    """The number of the bin of each value; what is outside belongs to the first or last one."""
    tf = _tf()
    values = tf.convert_to_tensor(values)
    low, high = tf.unstack(tf.cast(value_range, values.dtype))
    place = tf.floor(tf.cast(nbins, values.dtype) * ((values - low) / (high - low)))
    return tf.cast(tf.clip_by_value(place, tf.zeros([], values.dtype), tf.cast(nbins - 1, values.dtype)), dtype)


def histogram_fixed_width(values, value_range, nbins=100, dtype="int32", name=None):
    """How many values each bin has."""
    tf = _tf()
    places = tf.reshape(histogram_fixed_width_bins(values, value_range, nbins), [-1])
    return tf.math.unsorted_segment_sum(tf.ones_like(places, tf.as_dtype(dtype)), places, nbins)


def identity_n(input, name=None):  # noqa: A002
    """Each tensor itself."""
    return [_tf().identity(t) for t in input]


def space_to_batch_nd(input, block_shape, paddings, name=None):  # noqa: A002
    """Blocks of the axes behind the first one become entries of the batch."""
    tf = _tf()
    x, block, paddings = tf.convert_to_tensor(input), _numbers(block_shape), _numbers(paddings)
    n, rest = len(block), x.shape.rank - 1 - len(block)
    x = tf.pad(x, [[0, 0], *paddings, *[[0, 0]] * rest])
    batch, *sizes = (size_of(x, i) for i in range(x.shape.rank))
    split = [batch] + [part for size, b in zip(sizes, block) for part in (size // b, b)] + sizes[n:]
    order = [2 + 2 * i for i in range(n)] + [0] + [1 + 2 * i for i in range(n)] + list(range(1 + 2 * n, 1 + 2 * n + rest))
    return tf.reshape(tf.transpose(tf.reshape(x, split), order),
                      [batch * math.prod(block), *(s // b for s, b in zip(sizes, block)), *sizes[n:]])


space_to_batch = space_to_batch_nd


def batch_to_space(input, block_shape, crops, name=None):  # noqa: A002
    """The inverse of space_to_batch, with crops for its paddings."""
    tf = _tf()
    x, block, crops = tf.convert_to_tensor(input), _numbers(block_shape), _numbers(crops)
    n = len(block)
    batch, *sizes = (size_of(x, i) for i in range(x.shape.rank))
    batch, rest = batch // math.prod(block), len(sizes) - n
    order = [n] + [at for i in range(n) for at in (n + 1 + i, i)] + list(range(2 * n + 1, 2 * n + 1 + rest))
    x = tf.transpose(tf.reshape(x, [*block, batch, *sizes]), order)
    x = tf.reshape(x, [batch, *(s * b for s, b in zip(sizes, block)), *sizes[n:]])
    return x[(slice(None), *(slice(before, size_of(x, 1 + i) - after) for i, (before, after) in enumerate(crops)))]


def _numbers(value):
    """A list of numbers, or of lists of them; scalars of the program where only that will know them."""
    tf = _tf()
    value = tf.convert_to_tensor(value)
    if not is_traced(value):
        return value.numpy().tolist()
    return [_numbers(part) if part.shape.rank else part for part in tf.unstack(value)]


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Levenshtein's distance of the sequences along the last axis of sparse tensors, by default over the length of the truth."""
    tf = _tf()
    shape = tf.maximum(hypothesis.dense_shape, truth.dense_shape)[:-1]

    def distances(shape, *parts):
        mine, theirs = _sequences(*parts[:2]), _sequences(*parts[2:])
        return [[_distance(mine.get(at, []), theirs.get(at, []), normalize) for at in np.ndindex(*shape)]]
    parts = [hypothesis.indices, hypothesis.values, truth.indices, truth.values]
    found, = found_rows("edit_distance", distances, [shape, *parts], tf.reduce_prod(shape), [(tf.float32, [])])
    return tf.reshape(found, shape)


def _sequences(indices, values):
    found = {}
    for index, value in zip(indices.tolist(), values.tolist()):
        found.setdefault(tuple(index[:-1]), []).append(value)
    return found


def _distance(ours, true, normalize):
    distance = _levenshtein(ours, true)
    if not normalize:
        return distance
    return distance / len(true) if true else (np.inf if ours else 0.0)


def _levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def timestamp(name=None):
    """Seconds since 1970, a float64."""
    return _tf().constant(time.time(), "float64")


def get_logger():
    """Python's logger with the name TensorFlow's has."""
    import logging
    return logging.getLogger("tensorflow")


def get_current_name_scope():
    """The names of the open name scopes, joined."""
    from ._scope import current_scope
    return current_scope().removesuffix("/")


def type_spec_from_value(value):
    """The spec that describes a value."""
    from .data._structure import spec_of
    return spec_of(value)
