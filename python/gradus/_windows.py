"""Convolutions and pools of tf.nn in one and three dimensions, and others that are made of those in two."""
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


_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}  # by the number of axes of space


def _channels_last(function, x, data_format):
    """function of x with the channels last, whichever axis they are."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    known = _FORMATS.get(x.shape.rank - 2, ())
    if data_format is not None and data_format not in known:
        raise tf.errors.InvalidArgumentError(None, None, f"got data_format {data_format!r} for shape {x.shape}; expected "
                                                         + " or ".join(known))
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


def _pooled(kind, n, input, ksize, strides, padding, data_format=None):  # noqa: A002
    if n not in _FORMATS or not isinstance(padding, str):
        raise ValueError(f"[{kind}_pool] got {n} axes of space and padding {padding!r}; expected 1 to 3 and 'SAME' or 'VALID'")
    last = not (data_format or "").startswith("NC")
    window, steps = _inner(ksize, n, last), _inner(strides, n, last)
    return _channels_last(lambda x: _pool(x, kind, window, steps, padding.lower()), input, data_format)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The largest of each window of sequences."""
    return _pooled("max", 1, input, ksize, strides, padding, data_format)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The largest of each window of volumes."""
    return _pooled("max", 3, input, ksize, strides, padding, data_format)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The mean of each window of sequences."""
    return _pooled("avg", 1, input, ksize, strides, padding, data_format)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The mean of each window of volumes."""
    return _pooled("avg", 3, input, ksize, strides, padding, data_format)


def max_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The largest of each window, in one, two or three dimensions."""
    x = _tf().convert_to_tensor(input)
    if x.shape.rank == 4:
        return _tf().nn.max_pool2d(x, ksize, strides, padding, data_format or "NHWC")
    return _pooled("max", x.shape.rank - 2, x, ksize, strides, padding, data_format)


def avg_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The mean of each window, in one, two or three dimensions."""
    x = _tf().convert_to_tensor(input)
    if x.shape.rank == 4:
        return _tf().nn.avg_pool2d(x, ksize, strides, padding, data_format or "NHWC")
    return _pooled("avg", x.shape.rank - 2, x, ksize, strides, padding, data_format)


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):  # noqa: A002
    """The largest ("MAX") or the mean ("AVG") of each window, in one, two or three dimensions."""
    tf = _tf()
    x = tf.convert_to_tensor(input)
    n, last = x.shape.rank - 2, not (data_format or "").startswith("NC")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"Invalid `pooling_type` for `nn.pool`: {pooling_type!r}; expected 'MAX' or 'AVG'")
    rates = _inner(1 if dilations is None else dilations, n, last)
    if all(r == 1 for r in rates):
        return _pooled(pooling_type.lower(), n, x, window_shape, 1 if strides is None else strides, padding, data_format)
    if padding != "VALID" or any(s != 1 for s in _inner(1 if strides is None else strides, n, last)):
        raise ValueError("[pool] got dilations with strides or padding 'SAME'; expected one of these only")
    return _channels_last(lambda y: _dilated(y, pooling_type, _inner(window_shape, n, last), rates), x, data_format)


def _dilated(x, pooling_type, window, rates):
    """Of windows that take every rate-th element: one axis of space after the other."""
    tf = _tf()
    for axis, (size, rate) in enumerate(zip(window, rates), 1):
        places = tf.range(x.shape[axis] - (size - 1) * rate)[:, None] + tf.range(size) * rate
        parts = tf.gather(x, places, axis=axis)
        x = tf.reduce_max(parts, axis + 1) if pooling_type == "MAX" else tf.reduce_mean(parts, axis + 1)
    return x


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype="int64",  # noqa: A002
                         include_batch_in_index=False, name=None):
    """(the largest of each window, its number among the elements of the image)."""
    tf = _tf()
    if data_format != "NHWC":
        raise ValueError(f"Data formats other than 'NHWC' are not yet supported. Received: data_format={data_format}.")
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
