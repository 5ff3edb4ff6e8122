"""tf.layers: layers as functions that make their variables with get_variable."""
import gradus as tf

from ._functions import in_graph
from ._initializers import ones_initializer, zeros_initializer
from ._graph import get_default_graph
from ._variables import GraphKeys, get_variable, variable_scope


def _activated(x, activation, name="activation"):
    return x if activation is None else in_graph(activation, getattr(activation, "__name__", name))(x)


def _variable(name, shape, dtype, initializer, regularizer, trainable, constraint=None):
    return get_variable(name, shape, dtype, initializer, regularizer, trainable, constraint=constraint)


def _activity(regularizer, outputs):
    if regularizer is not None:
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, regularizer(outputs))
    return outputs


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
          bias_constraint=None, trainable=True, name=None, reuse=None):
    """activation(inputs . kernel + bias)."""
    inputs = _tensor(inputs)
    size = inputs.shape.as_list()[-1]
    if size is None:
        raise ValueError("The last dimension of the inputs to a Dense layer should be defined. Found None.")
    with variable_scope(name, "dense", reuse=reuse):
        kernel = _variable("kernel", [size, units], inputs.dtype, kernel_initializer, kernel_regularizer, trainable,
                           kernel_constraint)
        bias = use_bias and _variable("bias", [units], inputs.dtype, bias_initializer, bias_regularizer, trainable,
                                      bias_constraint)

        def run(x, kernel, bias):
            y = tf.matmul(x, kernel) if len(x.shape) == 2 else tf.tensordot(x, kernel, 1)
            return y if bias is None else y + bias
        outputs = in_graph(run, "BiasAdd" if use_bias else "MatMul")(inputs, kernel, bias if use_bias else None)
        return _activity(activity_regularizer, _activated(outputs, activation))


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None,
           bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):
    """A convolution of images, with variables of its own."""
    inputs = _tensor(inputs)
    _last(data_format)
    channels = inputs.shape.as_list()[-1]
    with variable_scope(name, "conv2d", reuse=reuse):
        kernel = _variable("kernel", [*_pair(kernel_size), channels, filters], inputs.dtype, kernel_initializer,
                           kernel_regularizer, trainable, kernel_constraint)
        bias = use_bias and _variable("bias", [filters], inputs.dtype, bias_initializer, bias_regularizer, trainable,
                                      bias_constraint)

        def run(x, kernel, bias):
            y = tf.nn.conv2d(x, kernel, list(_pair(strides)), padding.upper(), dilations=list(_pair(dilation_rate)))
            return y if bias is None else y + bias
        outputs = in_graph(run, "BiasAdd" if use_bias else "Conv2D")(inputs, kernel, bias if use_bias else None)
        return _activity(activity_regularizer, _activated(outputs, activation))


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, trainable=True, name=None,
           reuse=None, kernel_constraint=None, bias_constraint=None):
    """A convolution of sequences, with variables of its own."""
    inputs = _tensor(inputs)
    _last(data_format)
    channels = inputs.shape.as_list()[-1]
    kernel_size = kernel_size[0] if isinstance(kernel_size, (list, tuple)) else kernel_size
    strides = strides[0] if isinstance(strides, (list, tuple)) else strides
    with variable_scope(name, "conv1d", reuse=reuse):
        kernel = _variable("kernel", [kernel_size, channels, filters], inputs.dtype, kernel_initializer,
                           kernel_regularizer, trainable, kernel_constraint)
        bias = use_bias and _variable("bias", [filters], inputs.dtype, bias_initializer, bias_regularizer, trainable,
                                      bias_constraint)

        def run(x, kernel, bias):
            y = tf.nn.conv1d(x, kernel, strides, padding.upper(), dilations=dilation_rate)
            return y if bias is None else y + bias
        outputs = in_graph(run, "BiasAdd")(inputs, kernel, bias if use_bias else None)
        return _activity(activity_regularizer, _activated(outputs, activation))


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, trainable=True,
                     name=None, reuse=None, kernel_constraint=None, bias_constraint=None):
    """The transpose of a convolution, with variables of its own."""
    inputs = _tensor(inputs)
    _last(data_format)
    _, height, width, channels = inputs.shape.as_list()
    k, s = _pair(kernel_size), _pair(strides)
    with variable_scope(name, "conv2d_transpose", reuse=reuse):
        kernel = _variable("kernel", [*k, filters, channels], inputs.dtype, kernel_initializer, kernel_regularizer,
                           trainable, kernel_constraint)
        bias = use_bias and _variable("bias", [filters], inputs.dtype, bias_initializer, bias_regularizer, trainable,
                                      bias_constraint)

        def size(n, k, s):
            return n * s + max(k - s, 0) if padding.lower() == "valid" else n * s

        def run(x, kernel, bias):
            shape = [tf.shape(x)[0], size(height, k[0], s[0]), size(width, k[1], s[1]), filters]
            y = tf.nn.conv2d_transpose(x, kernel, shape, list(s), padding.upper())
            return y if bias is None else y + bias
        outputs = in_graph(run, "BiasAdd")(inputs, kernel, bias if use_bias else None)
        return _activity(activity_regularizer, _activated(outputs, activation))


def _tensor(x):
    from ._functions import to_tensor
    return to_tensor(x)


def _pair(n):
    return tuple(n) if isinstance(n, (list, tuple)) else (n, n)


def _last(data_format):
    if data_format != "channels_last":
        raise ValueError(f"Only data_format 'channels_last' is covered, got {data_format!r}")


def _pooling(pool, kind):
    def layer(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
        _last(data_format)
        run = in_graph(lambda x: pool(x, list(_pair(pool_size)), list(_pair(strides)), padding.upper()), kind)
        return run(inputs, name=name)
    layer.__doc__ = pool.__doc__
    return layer


max_pooling2d = _pooling(tf.nn.max_pool2d, "MaxPool")
average_pooling2d = _pooling(tf.nn.avg_pool2d, "AvgPool")


def flatten(inputs, name=None, data_format="channels_last"):
    """All axes but the first in one; the channels last."""
    _first = data_format == "channels_first"

    def run(x):
        sizes = x.shape.as_list()[1:]
        if None in sizes:
            raise ValueError(f"flatten needs known sizes, got {x.shape}")
        total = 1
        for s in sizes:
            total *= s
        if _first and len(sizes) > 1:
            x = tf.transpose(x, [0, *range(2, len(sizes) + 1), 1])
        return tf.reshape(x, [-1, total])
    return in_graph(run, "flatten")(inputs, name=name)


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """Dropout where training is true, a Python value or a tensor."""
    from . import _nn
    on = in_graph(lambda x: _nn.dropout(x, rate=rate, noise_shape=noise_shape, seed=seed), "dropout")
    return _where_training(training, on, lambda x: x, inputs, name)


def _where_training(training, on, off, inputs, name=None):
    if isinstance(training, (bool, int)):
        return on(inputs) if training else in_graph(tf.identity, "Identity")(inputs, name=name)
    run = in_graph(lambda x, t, y: tf.where(tf.cast(t, tf.bool), y, off(x)), "cond")
    return run(inputs, training, on(inputs), name=name)


def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                        beta_initializer=zeros_initializer(), gamma_initializer=ones_initializer(),
                        moving_mean_initializer=zeros_initializer(), moving_variance_initializer=ones_initializer(),
                        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                        training=False, trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None,
                        renorm_momentum=0.99, fused=None, virtual_batch_size=None, adjustment=None):
    """Normalisation over the batch; what updates the moving averages is in the collection UPDATE_OPS."""
    if renorm or virtual_batch_size is not None or adjustment is not None:
        raise NotImplementedError(f"batch_normalization with renorm={renorm} (clipping {renorm_clipping}, momentum "
                                  f"{renorm_momentum}), virtual_batch_size or adjustment is not covered; "
                                  "keras.layers.BatchNormalization(renorm=True) is")
    inputs = _tensor(inputs)
    rank = inputs.shape.rank
    axis = axis[0] if isinstance(axis, (list, tuple)) else axis
    axis = axis % rank
    size = inputs.shape.as_list()[axis]
    wide = [size if a == axis else 1 for a in range(rank)]
    others = [a for a in range(rank) if a != axis]
    with variable_scope(name, "batch_normalization", reuse=reuse):
        gamma = scale and _variable("gamma", [size], inputs.dtype, gamma_initializer, gamma_regularizer, trainable,
                                    gamma_constraint)
        beta = center and _variable("beta", [size], inputs.dtype, beta_initializer, beta_regularizer, trainable,
                                    beta_constraint)
        mean = _variable("moving_mean", [size], inputs.dtype, moving_mean_initializer, None, False)
        variance = _variable("moving_variance", [size], inputs.dtype, moving_variance_initializer, None, False)

        is_on = training if isinstance(training, (bool, int)) else None

        def statistics(x):
            batch_mean, batch_variance = tf.nn.moments(x, others)
            if is_on:
                return batch_mean, batch_variance
            on = tf.cast(training, tf.bool)
            return tf.where(on, batch_mean, mean), tf.where(on, batch_variance, variance)

        def normalised(x, m, v):
            return tf.nn.batch_normalization(
                x, tf.reshape(m, wide), tf.reshape(v, wide), tf.reshape(beta, wide) if center else None,
                tf.reshape(gamma, wide) if scale else None, epsilon)

        if is_on is not None and not is_on:
            return in_graph(lambda x: normalised(x, mean, variance), "batchnorm")(inputs)
        m, v = in_graph(statistics, "moments", count=lambda *a, **k: 2)(inputs)
        outputs = in_graph(normalised, "batchnorm")(inputs, m, v)

        def moved(average, value, x):
            count = tf.cast(tf.size(x) / size, x.dtype)
            fused_kind = fused in (None, True) and rank == 4 and average is variance
            value = value * (count / tf.maximum(count - 1, 1)) if fused_kind else value
            new = average * momentum + value * (1 - momentum)
            return new if is_on else tf.where(tf.cast(training, tf.bool), new, average)
        graph = get_default_graph()
        for average, value in ((mean, m), (variance, v)):
            update = average.assign(in_graph(moved, "AssignMovingAvg")(average, value, inputs), name="AssignMovingAvg")
            graph.add_to_collection(GraphKeys.UPDATE_OPS, getattr(update, "op", update))
        return outputs


class _Layer:
    """A layer that keeps its variables: the first call makes them."""

    _function = None

    def __init__(self, *args, name=None, **kwargs):
        self._args, self._kwargs, self._name, self._scope = args, kwargs, name, None

    def __call__(self, inputs, **kwargs):
        kind = type(self)._function.__name__
        if self._scope is None:
            with variable_scope(self._name, kind) as scope:
                self._scope = scope
            reuse = None
        else:
            reuse = True
        return type(self)._function(inputs, *self._args, name=self._scope, reuse=reuse, **{**self._kwargs, **kwargs})

    apply = __call__

    @property
    def trainable_variables(self):
        """The variables that are trained."""
        return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, self._scope.name + "/")

    trainable_weights = trainable_variables

    @property
    def variables(self):
        return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, self._scope.name + "/")

    weights = variables

    @property
    def kernel(self):
        return next(v for v in self.variables if v.op.name.endswith("/kernel"))

    @property
    def bias(self):
        return next(v for v in self.variables if v.op.name.endswith("/bias"))


def _class(function, doc):
    return type(function.__name__.title().replace("_", ""), (_Layer,), {"_function": staticmethod(function),
                                                                       "__doc__": doc})


Dense = _class(dense, "tf.layers.dense as an object.")
Conv2D = _class(conv2d, "tf.layers.conv2d as an object.")
Conv1D = _class(conv1d, "tf.layers.conv1d as an object.")
BatchNormalization = _class(batch_normalization, "tf.layers.batch_normalization as an object.")
