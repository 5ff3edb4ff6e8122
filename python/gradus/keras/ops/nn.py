"""Activations, convolutions, losses and what else networks are made of."""
import functools
import math

import gradus as tf

from .. import _logits, activations
from .._state import epsilon, image_data_format
from ..layers.adaptive_pooling import adaptive_pool
from ..layers.convolution import convolve, to_channels_first, to_channels_last
from ..layers.pooling import pool
from ..losses._ctc import ctc_loss as _ctc_loss
from ._op import floating as _floating
from ._op import op as _op
from ._op import tensor as _tensor
from ._op import together as _together



def _activation(function):
    @_op
    @functools.wraps(function)
    def run(x, *args, **kwargs):
        return function(_floating(x), *args, **kwargs)
    run.__module__ = __name__
    return run


for _name in ("celu elu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid "
              "log_softmax relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus "
              "sparse_sigmoid sparsemax squareplus swish tanh_shrink threshold").split():
    globals()[_name] = _activation(getattr(activations, _name))
del _name


@_op
def gelu(x, approximate=True):
    """x times the normal distribution's part below x, or by default nearly that, with a tanh."""
    return activations.gelu(_floating(x), approximate)


def _numbers(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def _last(function, x, data_format):
    """function of x with the channels last."""
    x = _tensor(x)
    if (data_format or image_data_format()) == "channels_last":
        return function(x)
    return to_channels_first(function(to_channels_last(x)))


@_op
def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolution in one, two or three dimensions."""
    n = len(kernel.shape) - 2
    return _last(lambda x: convolve(x, kernel, _numbers(strides, n), padding.lower(), _numbers(dilation_rate, n)),
                 inputs, data_format)


@_op
def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolution of each channel by itself."""
    *window, channels, multiplier = kernel.shape
    grouped = tf.reshape(kernel, [*window, 1, channels * multiplier])
    n = len(window)
    return _last(lambda x: convolve(x, grouped, _numbers(strides, n), padding.lower(), _numbers(dilation_rate, n)),
                 inputs, data_format)


@_op
def separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None,
                   dilation_rate=1):
    """Convolution of each channel by itself, then a product over channels."""
    x = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(x, pointwise_kernel, 1, "valid", data_format)


@_op
def conv_transpose(inputs, kernel, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1):
    """The transpose of a convolution in one, two or three dimensions."""
    from ..layers.convolution import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
    layer = (Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)[len(kernel.shape) - 3]
    made = layer(kernel.shape[-2], tuple(kernel.shape[:-2]), strides, padding, output_padding=output_padding,
                 data_format=data_format, dilation_rate=dilation_rate, use_bias=False)
    made.kernel = kernel
    return made.call(_tensor(inputs))


@_op
def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The largest of each window."""
    return _pooled("max", inputs, pool_size, strides, padding, data_format)


@_op
def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The mean of each window."""
    return _pooled("avg", inputs, pool_size, strides, padding, data_format)


def _pooled(how, inputs, pool_size, strides, padding, data_format):
    n = len(inputs.shape) - 2
    window = _numbers(pool_size, n)
    steps = window if strides is None else _numbers(strides, n)
    return _last(lambda x: pool(x, how, window, steps, padding.lower()), inputs, data_format)


@_op
def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the number of the class, 0 elsewhere."""
    hot = tf.one_hot(tf.cast(x, "int32"), num_classes, axis=axis, dtype=dtype or "float32")
    return tf.sparse.from_dense(hot) if sparse else hot


@_op
def multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, **kwargs):
    """1 at the numbers of the classes along an axis."""
    num_classes = kwargs.pop("num_tokens", num_classes)
    if kwargs:
        raise TypeError(f"multi_hot() got unexpected keyword arguments: {sorted(kwargs)}")
    hot = tf.one_hot(tf.cast(inputs, "int32"), num_classes, axis=axis, dtype=dtype or "float32")
    hot = tf.reduce_max(hot, 1 if len(inputs.shape) > 1 else 0)
    return tf.sparse.from_dense(hot) if sparse else hot


@_op
def moments(x, axes, keepdims=False, synchronized=False):
    """Mean and variance over axes."""
    x = _floating(x)
    return tf.reduce_mean(x, axes, keepdims=keepdims), tf.math.reduce_variance(x, axes, keepdims=keepdims)


@_op
def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset along an axis."""
    x = _tensor(x)
    shape = [1] * len(x.shape)
    shape[axis] = -1
    given = (mean, variance, offset, scale)
    mean, variance, offset, scale = (None if v is None else tf.reshape(v, shape) for v in given)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)


@_op
def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs):
    """Each line along an axis with mean 0 and variance 1; rms_scaling: divided by its deviation only, as Keras did."""
    given, small = _floating(x), 1e-7 if epsilon is None else epsilon
    only_scales = kwargs.pop("rms_scaling", False)
    if kwargs:
        raise TypeError(f"layer_normalization() got unexpected keyword arguments: {sorted(kwargs)}")
    x = _widened(given)
    rank = len(x.shape)
    axes = sorted(a % rank for a in ([axis] if isinstance(axis, int) else axis))

    def along(weight):
        """A weight of these axes, with axes of size 1 for the others."""
        weight = tf.cast(weight, x.dtype)
        if len(weight.shape) == rank or axes == [rank - 1]:
            return weight
        return tf.reshape(weight, [x.shape[i] if i in axes else 1 for i in range(rank)])
    y = x if only_scales else x - tf.reduce_mean(x, axes, keepdims=True)
    y = y * tf.math.rsqrt(tf.math.reduce_variance(x, axes, keepdims=True) + small)
    y = y if gamma is None else y * along(gamma)
    return tf.cast(y if beta is None or only_scales else y + along(beta), given.dtype)


def _widened(x):
    """Halves as float32, in which sums of them are right."""
    return tf.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x


@_op
def rms_normalization(x, scale=None, axis=-1, epsilon=None):
    """Each line along an axis divided by the root of its mean square."""
    given = _floating(x)
    x = _widened(given)
    mean_square = tf.reduce_mean(tf.square(x), axis, keepdims=True)
    y = x * tf.math.rsqrt(mean_square + (1e-7 if epsilon is None else epsilon))
    return tf.cast(y if scale is None else y * tf.cast(scale, x.dtype), given.dtype)


@_op
def normalize(x, axis=-1, order=2, epsilon=None):
    """x divided by its norm along an axis."""
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"Argument `order` must be an int >= 1. Received: order={order}")
    x, epsilon_ = _floating(x), 1e-7 if epsilon is None else epsilon
    if order == 2:
        return x * tf.math.rsqrt(tf.maximum(tf.reduce_sum(tf.square(x), axis, keepdims=True), epsilon_ ** 2))
    return x / tf.maximum(tf.norm(x, order, axis, True), epsilon_)


@_op
def binary_crossentropy(target, output, from_logits=False):
    """-t log(o) - (1 - t) log(1 - o), elementwise."""
    target, output = _together(target, output)
    logits = output if from_logits else _logits.logits_of(output, "sigmoid")
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, logits)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -(target * tf.math.log(output) + (1 - target) * tf.math.log(1 - output))


@_op
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """-sum(t log(o)) along an axis."""
    target, output = _together(target, output)
    last = axis in (-1, len(output.shape) - 1)
    logits = output if from_logits else _logits.logits_of(output, "softmax") if last else None
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits(target, logits, axis=axis)
    output = output / tf.reduce_sum(output, axis, keepdims=True)
    return -tf.reduce_sum(target * tf.math.log(tf.clip_by_value(output, epsilon(), 1.0 - epsilon())), axis)


@_op
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The same of class numbers."""
    target, output = tf.cast(target, "int64"), _floating(output)
    if len(target.shape) == len(output.shape) and target.shape[-1] == 1:
        target = tf.squeeze(target, -1)
    if axis not in (-1, len(output.shape) - 1):
        raise ValueError("sparse_categorical_crossentropy: only the last axis can hold the classes")
    logits = output if from_logits else _logits.logits_of(output, "softmax")
    if logits is None:
        logits = tf.math.log(tf.clip_by_value(output, epsilon(), 1.0 - epsilon()))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)


@_op
def dot_product_attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
                          attn_logits_soft_cap=None):
    """softmax(query key^T * scale) value, of tensors [batch, length, heads, size]."""
    from ..layers.attention import causal_mask
    if attn_logits_soft_cap is not None:
        raise ValueError("attn_logits_soft_cap is only supported for JAX on TPU. Set attn_logits_soft_cap=None when not "
                         "using JAX on TPU.")
    if flash_attention:
        raise ValueError("Flash attention is not supported here; leave out flash_attention=True: the numbers are the same")
    query, key, value = (tf.transpose(_tensor(t), (0, 2, 1, 3)) for t in (query, key, value))
    if key.shape[1] != query.shape[1]:  # heads that several queries share
        key, value = (tf.repeat(t, query.shape[1] // t.shape[1], axis=1) for t in (key, value))
    scores = tf.matmul(query, key, transpose_b=True) * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if bias is not None:
        scores = scores + tf.cast(bias, scores.dtype)
    if mask is not None:
        scores = tf.where(tf.cast(mask, "bool"), scores, tf.cast(scores.dtype.min, scores.dtype))
    if is_causal:
        allowed = tf.expand_dims(causal_mask(query.shape[2], key.shape[2]), 0)
        scores = tf.where(allowed, scores, tf.cast(scores.dtype.min, scores.dtype))
    return tf.transpose(tf.matmul(tf.nn.softmax(scores), value), (0, 2, 1, 3))


@_op
def space_to_depth(x, block_size, data_format="channels_last"):
    """Blocks of pixels as channels."""
    return _last(lambda t: tf.nn.space_to_depth(t, block_size), x, data_format)


@_op
def depth_to_space(x, block_size, data_format="channels_last"):
    """Channels as blocks of pixels."""
    return _last(lambda t: tf.nn.depth_to_space(t, block_size), x, data_format)


def _spatial_sizes(inputs, output_size):
    rank = len(inputs.shape) - 2
    return (output_size,) * rank if isinstance(output_size, int) else tuple(output_size)


@_op
def adaptive_average_pool(inputs, output_size, data_format=None):
    """Means over a given number of windows along each spatial axis."""
    inputs = _tensor(inputs)
    first = 1 if (data_format or image_data_format()) == "channels_last" else 2
    return adaptive_pool(inputs, _spatial_sizes(inputs, output_size), "average", first)


@_op
def adaptive_max_pool(inputs, output_size, data_format=None):
    """The largest elements of a given number of windows along each spatial axis."""
    inputs = _tensor(inputs)
    first = 1 if (data_format or image_data_format()) == "channels_last" else 2
    return adaptive_pool(inputs, _spatial_sizes(inputs, output_size), "max", first)


@_op
def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Minus the log probability of sequences of labels, given logits [batch, time, classes]."""
    return _ctc_loss(target, output, target_length, output_length, mask_index)


def ctc_decode(inputs, sequence_lengths, strategy="greedy", beam_width=100, top_paths=1, merge_repeated=True,
               mask_index=0):
    """(labels [paths, batch, time] filled up with -1, scores): the likeliest class of each time without blanks, or
    (strategy="beam_search") the top_paths likeliest sequences of labels."""
    if strategy == "beam_search":
        from ..losses._ctc_beams import beam_search
        logits = _floating(inputs)
        return tuple(tf.numpy_function(lambda x, n: beam_search(x, n, beam_width, top_paths, mask_index),
                                       [logits, tf.cast(sequence_lengths, "int32")], ["int32", logits.dtype]))
    if strategy != "greedy":
        raise ValueError(f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'.")
    logits, lengths = _tensor(inputs), tf.cast(sequence_lengths, "int32")
    best = tf.cast(tf.argmax(logits, -1), "int32")
    inside = tf.expand_dims(tf.range(best.shape[1]), 0) < tf.expand_dims(lengths, 1)
    before = tf.pad(best, [[0, 0], [1, 0]], constant_values=-1)[:, :-1]
    kept = (best != mask_index) & inside & ((best != before) | (not merge_repeated))
    order = tf.argsort(tf.cast(tf.logical_not(kept), "int32"), axis=1, stable=True)
    labels = tf.gather(tf.where(kept, best, -1), order, axis=1, batch_dims=1)
    scores = -tf.reduce_sum(tf.where(inside, tf.reduce_max(logits, -1), 0.0), 1, keepdims=True)
    return tf.expand_dims(labels, 0), scores


@_op
def psnr(x1, x2, max_val):
    """The ratio of the largest signal to the error, in decibels."""
    x1, x2 = map(_floating, _together(x1, x2))
    error = tf.reduce_mean(tf.math.squared_difference(x1, x2))
    return 20.0 * math.log10(max_val) - 10.0 * tf.math.log(error) / math.log(10.0)


@_op
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images [batch, channels, height, width] as columns [batch, channels * window, count]."""
    x, pair = _tensor(x), lambda v: (v, v) if isinstance(v, int) else tuple(v)
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(pair, (kernel_size, dilation, padding, stride))
    x = tf.pad(x, [[0, 0], [0, 0], [ph, ph], [pw, pw]])
    rows, columns = (x.shape[2] - (kh - 1) * dh - 1) // sh + 1, (x.shape[3] - (kw - 1) * dw - 1) // sw + 1
    taps = [x[:, :, i * dh:i * dh + (rows - 1) * sh + 1:sh, j * dw:j * dw + (columns - 1) * sw + 1:sw]
            for i in range(kh) for j in range(kw)]
    return tf.reshape(tf.stack(taps, 2), [-1, x.shape[1] * kh * kw, rows * columns])
