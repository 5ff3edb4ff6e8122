"""tf.nn with the signatures of TensorFlow 1."""
import gradus as tf

from ._functions import in_graph


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC",  # noqa: A002
           dilations=None, name=None, filters=None):
    """Convolution of images."""
    return tf.nn.conv2d(input, filters if filter is None else filter, strides, padding, data_format, dilations)


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format="NWC", name=None,
           input=None, dilations=None):  # noqa: A002
    """Convolution of sequences."""
    return tf.nn.conv1d(input if value is None else value, filters, stride, padding, data_format or "NWC", dilations)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME",  # noqa: A002
                     data_format="NHWC", name=None, input=None, filters=None, dilations=None):  # noqa: A002
    """The transpose of conv2d in its input."""
    return tf.nn.conv2d_transpose(input if value is None else value, filters if filter is None else filter,
                                  output_shape, strides, padding, data_format, dilations)


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None,  # noqa: A002
                     dilations=None):
    """A convolution of each channel by itself."""
    return tf.nn.depthwise_conv2d(input, filter, strides, padding, data_format, dilations or rate)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):  # noqa: A002
    """The maximum of each window."""
    return tf.nn.max_pool2d(value if input is None else input, ksize, strides, padding, data_format)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):  # noqa: A002
    """The mean of each window."""
    return tf.nn.avg_pool2d(value if input is None else input, ksize, strides, padding, data_format)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Each element is kept with probability keep_prob and divided by it, or zero."""
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    if rate is None:
        rate = 1.0 - keep_prob
    x = tf.convert_to_tensor(x)
    if isinstance(rate, (int, float)):
        if not 0 <= rate < 1:
            raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
        if rate == 0:
            return x
    shape = tf.shape(x) if noise_shape is None else noise_shape
    if noise_shape is None and x.shape.is_fully_defined():
        shape = x.shape
    random = _uniform_like(x, shape, seed)
    rate = tf.cast(rate, x.dtype)
    return tf.where(random >= rate, x / (1 - rate), tf.zeros_like(x))


def _uniform_like(x, shape, seed):
    if isinstance(shape, tf.TensorShape):
        return tf.random.uniform(shape.as_list(), seed=seed, dtype=x.dtype)
    return tf.random.uniform(shape, seed=seed, dtype=x.dtype)


def _needs_names(function, first):
    if first is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """Cross entropy of probabilities, which are taken as constants, and logits."""
    _needs_names("softmax_cross_entropy_with_logits", _sentinel)
    return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(tf.convert_to_tensor(labels)), logits,
                                                   dim if axis is None else axis)


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """Cross entropy of probabilities and logits."""
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None and dim is None else
                                                   dim if axis is None else axis)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """Cross entropy of class numbers and logits."""
    _needs_names("sparse_softmax_cross_entropy_with_logits", _sentinel)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """Cross entropy of independent labels and logits."""
    _needs_names("sigmoid_cross_entropy_with_logits", _sentinel)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """The same, with a weight for positive labels."""
    labels = tf.convert_to_tensor(targets if labels is None else labels)
    logits = tf.convert_to_tensor(logits)
    weight = 1 + (pos_weight - 1) * labels
    return (1 - labels) * logits + weight * (tf.math.log1p(tf.exp(-tf.abs(logits))) + tf.nn.relu(-logits))


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases."""
    return tf.matmul(x, weights) + biases


def relu_layer(x, weights, biases, name=None):
    """relu(matmul(x, weights) + biases)."""
    return tf.nn.relu(tf.matmul(x, weights) + biases)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """Mean and variance over axes."""
    return tf.nn.moments(x, axes, keepdims=bool(keep_dims or keepdims))


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """Rows of a table, by number, which may be in parts: "mod", by turns; "div", one part after the other."""
    ids = tf.convert_to_tensor(ids)
    if isinstance(params, (list, tuple)):
        params = list(params)
        ids = ids if len(params) == 1 else _row_in_parts(params, ids, partition_strategy)
        params = params[0] if len(params) == 1 else tf.concat([tf.convert_to_tensor(p) for p in params], 0)
    rows = tf.gather(params, ids)
    if max_norm is None:
        return rows
    length = tf.sqrt(tf.reduce_sum(tf.square(rows), list(range(len(ids.shape), len(rows.shape))), keepdims=True))
    return rows * (max_norm / tf.maximum(length, max_norm))


def _row_in_parts(params, ids, strategy):
    """Where rows are when the parts lie one behind the other."""
    sizes, count = [int(p.shape[0]) for p in params], len(params)
    if strategy == "mod":
        part, row = tf.math.floormod(ids, count), tf.math.floordiv(ids, count)
    elif strategy == "div":
        least, more = divmod(sum(sizes), count)
        part = tf.maximum(tf.math.floordiv(ids, least + 1), tf.math.floordiv(ids - more, least))
        row = tf.where(part < more, tf.math.floormod(ids, least + 1), tf.math.floormod(ids - more, least))
    else:
        raise ValueError("Unrecognized partition strategy: " + str(strategy))
    starts = tf.constant([sum(sizes[:i]) for i in range(count)], ids.dtype)
    return tf.gather(starts, part) + row


def local_response_normalization(input, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, name=None):  # noqa: A002
    """Each element divided by the root of the squares around it, along the channels."""
    x = tf.convert_to_tensor(input)
    channels = x.shape.as_list()[-1]
    squares = tf.pad(tf.square(x), [[0, 0]] * (len(x.shape) - 1) + [[depth_radius, depth_radius]])
    total = sum(squares[..., i:i + channels] for i in range(2 * depth_radius + 1))
    return x / tf.pow(bias + alpha * total, beta)


def zero_fraction(value, name=None):
    """The share of zeros."""
    return tf.reduce_mean(tf.cast(tf.equal(value, tf.cast(0, value.dtype)), tf.float32))


def crelu(features, name=None, axis=-1):
    """relu of x and of -x, side by side."""
    x = tf.convert_to_tensor(features)
    return tf.nn.relu(tf.concat([x, -x], axis))


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - log_input * targets; the full loss has Stirling's log(targets!) where targets are above 1."""
    return tf.nn.log_poisson_loss(targets, log_input, compute_full_loss)


_KINDS = {"conv2d": "Conv2D", "conv1d": "conv1d", "max_pool": "MaxPool", "avg_pool": "AvgPool", "xw_plus_b": "xw_plus_b",
          "softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits"}
_FUNCTIONS = (conv2d, conv1d, conv2d_transpose, depthwise_conv2d, max_pool, avg_pool, dropout,
              softmax_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2,
              sparse_softmax_cross_entropy_with_logits, sigmoid_cross_entropy_with_logits,
              weighted_cross_entropy_with_logits, xw_plus_b, relu_layer, moments, embedding_lookup,
              local_response_normalization, zero_fraction, crelu, log_poisson_loss)


def publish(nn):
    """Puts these functions into tf.nn."""
    for function in _FUNCTIONS:
        count = (lambda *args, **kwargs: 2) if function is moments else None
        setattr(nn, function.__name__, in_graph(function, _KINDS.get(function.__name__), count=count))
    nn.max_pool2d, nn.avg_pool2d, nn.lrn = nn.max_pool, nn.avg_pool, nn.local_response_normalization
