"""Convolutions and pools of tf.nn in one and three dimensions, and others that are made of those in two."""
import functools
import sys

from .keras.layers.convolution import convolve
from .keras.layers.pooling import pool as _pool


def _tf():
    return sys.modules["gradus"]


def _inner(value, n, channels_last):
    """A size per spatial axis, from one number, n numbers, or one per axis of the input."""
    value = [value] if isinstance(value, int) else [int(v) for v in value]
    if len(value) == n + 2:
        value = value[1:-1] if channels_last else value[2:]
    return tuple(value * n if len(value) == 1 else value)


def _channels_last(function, x, data_format):
    """function of x with the channels last, whichever axis they are."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    if not data_format or not data_format.startswith("NC"):
        return function(x)
    rank = x.shape.rank
    result = function(tf.transpose(x, [0, *range(2, rank), 1]))
    return tf.transpose(result, [0, rank - 1, *range(1, rank - 1)])


def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):  # noqa: A002
    """Convolution in one, two or three dimensions."""
    filters = _tf().convert_to_tensor(filters)
    n, last = filters.shape.rank - 2, not (data_format or "").startswith("NC")
    strides, dilations = (_inner(v or 1, n, last) for v in (strides, dilations))
    return _channels_last(lambda x: convolve(x, filters, strides, padding.lower(), dilations), input, data_format)


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):  # noqa: A002
    """Convolution in three dimensions."""
    return convolution(input, filters, strides, padding, data_format, dilations)


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):  # noqa: A002
    """The transpose of a convolution: filters are [..., channels of the output, channels of the input]."""
    tf = _tf()
    input = tf.convert_to_tensor(input)  # noqa: A001
    shape = output_shape.numpy().tolist() if hasattr(output_shape, "numpy") else [int(s) for s in output_shape]
    if len(shape) == input.shape.rank - 2:
        outer = input.shape.as_list()[0], filters.shape[-2]
        shape = [*outer, *shape] if (data_format or "").startswith("NC") else [outer[0], *shape, outer[1]]
    _, pull = tf.vjp(lambda x: convolution(x, filters, strides, padding, data_format, dilations), tf.zeros(shape, input.dtype))
    return pull(input)


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None):  # noqa: A002
    """The transpose of conv1d."""
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


def conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None):  # noqa: A002
    """The transpose of conv3d."""
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d of every rate-th element."""
    return convolution(value, filters, 1, padding, None, rate)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    return conv_transpose(value, filters, output_shape, 1, padding, None, rate)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None):  # noqa: A002
    """Convolution of each channel by itself, then a product over channels."""
    def run(x):
        tf = _tf()
        steps = [strides[0], *strides[2:], strides[1]] if (data_format or "").startswith("NC") else strides
        each = tf.nn.depthwise_conv2d(x, depthwise_filter, steps, padding, dilations=dilations)
        return tf.nn.conv2d(each, pointwise_filter, 1, "VALID")
    return _channels_last(run, input, data_format)


def _pooled(kind, n, input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    last = not (data_format or "").startswith("NC")
    window, steps = _inner(ksize, n, last), _inner(strides, n, last)
    return _channels_last(lambda x: _pool(x, kind, window, steps, padding.lower()), input, data_format)


def _pool_of(kind, n, name, doc):
    function = functools.partial(_pooled, kind, n)

    def run(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
        return function(input, ksize, strides, padding, data_format)
    run.__name__, run.__doc__ = name, doc
    return run


max_pool1d = _pool_of("max", 1, "max_pool1d", "The largest of each window.")
max_pool3d = _pool_of("max", 3, "max_pool3d", "The largest of each window.")
avg_pool1d = _pool_of("avg", 1, "avg_pool1d", "The mean of each window.")
avg_pool3d = _pool_of("avg", 3, "avg_pool3d", "The mean of each window.")


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):  # noqa: A002
    """The largest ("MAX") or the mean ("AVG") of each window, in one, two or three dimensions."""
    n = _tf().convert_to_tensor(input).shape.rank - 2
    if dilations is not None and any(d != 1 for d in _inner(dilations, n, True)):
        raise NotImplementedError("pool with dilations is not covered")
    return _pooled(pooling_type.lower(), n, input, window_shape, strides or 1, padding, data_format)


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype="int64",  # noqa: A002
                         include_batch_in_index=False, name=None):
    """(the largest of each window, its number among the elements of the image)."""
    tf = _tf()
    x = tf.convert_to_tensor(input)
    batch, height, width, channels = x.shape.as_list()
    (kh, kw), (sh, sw) = _inner(ksize, 2, True), _inner(strides, 2, True)
    above = left = 0
    if padding == "SAME":
        rows, columns = max((-(-height // sh) - 1) * sh + kh - height, 0), max((-(-width // sw) - 1) * sw + kw - width, 0)
        above, left = rows // 2, columns // 2
        x = tf.pad(x, [[0, 0], [above, rows - above], [left, columns - left], [0, 0]], constant_values=x.dtype.min)
    y = (tf.range((x.shape[1] - kh) // sh + 1) * sh)[:, None] + tf.range(kh)
    z = (tf.range((x.shape[2] - kw) // sw + 1) * sw)[:, None] + tf.range(kw)
    patches = tf.transpose(tf.gather(tf.gather(x, y, axis=1), z, axis=3), [0, 1, 3, 2, 4, 5])
    patches = tf.reshape(patches, [batch, y.shape[0], z.shape[0], kh * kw, channels])
    best = tf.argmax(patches, 3, output_type=tf.int64)
    row = best // kw + tf.cast(y[:, 0] - above, tf.int64)[:, None, None]
    column = best % kw + tf.cast(z[:, 0] - left, tf.int64)[:, None]
    place = (row * width + column) * channels + tf.range(channels, dtype=tf.int64)
    if include_batch_in_index:
        place += tf.reshape(tf.range(batch, dtype=tf.int64) * (height * width * channels), [-1, 1, 1, 1])
    return tf.reduce_max(patches, 3), tf.cast(place, output_dtype)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):  # noqa: A002
    """Each element over a power of the sum of squares of its neighbours among the channels."""
    tf = _tf()
    x = tf.convert_to_tensor(input)
    channels = x.shape[-1]
    near = tf.abs(tf.range(channels)[:, None] - tf.range(channels)) <= depth_radius
    sums = tf.tensordot(tf.square(x), tf.cast(near, x.dtype), 1)
    return x / tf.pow(bias + alpha * sums, beta)


lrn = local_response_normalization
