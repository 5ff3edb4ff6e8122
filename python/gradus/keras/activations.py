"""Activation functions, by name or as functions."""
import functools

import gradus as tf

from .. import _core
from . import _logits
from ._operation import KerasTensor, apply_symbolically
from ._registry import registered

_nn = tf.nn


def _op(function):
    """Lets a function take the symbolic tensors of functional models, where it becomes a node."""
    @functools.wraps(function)
    def run(x, *args, **kwargs):
        if type(x) is KerasTensor:
            return apply_symbolically(function, x, *args, **kwargs)
        return function(x, *args, **kwargs)
    return run


def _of_engine(name, function):
    def run(x):
        return apply_symbolically(function, x) if type(x) is KerasTensor else function(x)
    run.__name__ = run.__qualname__ = name
    run.__doc__ = function.__doc__
    return run


tanh, softplus = _of_engine("tanh", tf.tanh), _of_engine("softplus", tf.math.softplus)
softsign, exponential = _of_engine("softsign", tf.nn.softsign), _of_engine("exponential", tf.exp)
selu, relu6, log_sigmoid = (_of_engine("selu", tf.nn.selu), _of_engine("relu6", tf.nn.relu6),
                            _of_engine("log_sigmoid", tf.math.log_sigmoid))
hard_sigmoid, mish = _of_engine("hard_sigmoid", _core._hard_sigmoid), _of_engine("mish", _core._mish)


def linear(x):
    """x itself."""
    return x


def relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    """max(x, 0), with a slope below the threshold and a largest value if asked."""
    if type(x) is KerasTensor:
        return apply_symbolically(relu, x, negative_slope, max_value, threshold)
    return _core._relu(x, negative_slope, max_value, threshold)


@_op
def leaky_relu(x, negative_slope=0.2):
    """x above 0, negative_slope * x below."""
    return _nn.leaky_relu(x, negative_slope)


@_op
def elu(x, alpha=1.0):
    """x above 0, alpha * (exp(x) - 1) below."""
    return _core._elu(x, alpha)


@_op
def celu(x, alpha=1.0):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    return _nn.relu(x) + alpha * _nn.elu(tf.minimum(x, 0.0) / alpha)


@_op
def gelu(x, approximate=False):
    """x times the normal distribution function of x."""
    return _nn.gelu(x, approximate)


@_op
def silu(x):
    """x * sigmoid(x)."""
    return _nn.silu(x)


swish = silu


@_op
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    x = tf.convert_to_tensor(x)
    return _logits.remember(tf.sigmoid(x), x, "sigmoid")


@_op
def softmax(x, axis=-1):
    """exp(x) / sum(exp(x)) along one axis, or several."""
    return _core._softmax(x, None, axis)


@_op
def log_softmax(x, axis=-1):
    """log(softmax(x)) along one axis, or several."""
    if isinstance(axis, int):
        return _nn.log_softmax(x, axis)
    return x - tf.reduce_logsumexp(x, list(axis), keepdims=True)


@_op
def hard_silu(x):
    """x * hard_sigmoid(x)."""
    return x * _core._hard_sigmoid(x)


hard_swish = hard_silu


@_op
def hard_tanh(x):
    """x between -1 and 1."""
    return tf.clip_by_value(x, -1.0, 1.0)


@_op
def glu(x, axis=-1):
    """The first half times the sigmoid of the second."""
    a, b = tf.split(x, 2, axis)
    return a * tf.sigmoid(b)


@_op
def soft_shrink(x, threshold=0.5):
    """x moved towards 0 by the threshold, 0 in between."""
    return tf.nn.relu(x - threshold) - tf.nn.relu(-x - threshold)


@_op
def hard_shrink(x, threshold=0.5):
    """x, and 0 where |x| is not above the threshold."""
    return tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))


@_op
def tanh_shrink(x):
    """x - tanh(x)."""
    return x - tf.tanh(x)


@_op
def threshold(x, threshold, default_value):  # noqa: A002
    """x above the threshold, else the default."""
    return tf.where(x > threshold, x, tf.cast(default_value, x.dtype))


@_op
def squareplus(x, b=4):
    """(x + sqrt(x^2 + b)) / 2."""
    return (x + tf.sqrt(tf.square(x) + tf.cast(b, x.dtype))) / 2


@_op
def sparse_plus(x):
    """0 below -1, x above 1, (x + 1)^2 / 4 in between."""
    return tf.where(x >= 1, x, tf.square(tf.nn.relu(x + 1)) / 4)


@_op
def sparse_sigmoid(x):
    """(x + 1) / 2 between 0 and 1."""
    return tf.clip_by_value((x + 1) / 2, 0.0, 1.0)


@_op
def sparsemax(x, axis=-1):
    """The nearest point of the probability simplex, along an axis."""
    x = tf.convert_to_tensor(x)
    rank = len(x.shape)
    axis %= rank
    if axis != rank - 1:
        order = [i for i in range(rank) if i != axis] + [axis]
        back = [order.index(i) for i in range(rank)]
        return tf.transpose(sparsemax(tf.transpose(x, order)), back)
    z = tf.sort(x, direction="DESCENDING")
    position = tf.cast(tf.range(1, x.shape[-1] + 1), x.dtype)
    inside = tf.cast(1 + position * z > tf.cumsum(z, axis=-1), x.dtype)
    count = tf.reduce_sum(inside, -1, keepdims=True)
    shift = (tf.reduce_sum(z * inside, -1, keepdims=True) - 1) / count
    return tf.nn.relu(x - shift)


_ALL = {name: globals()[name] for name in
        ("relu leaky_relu relu6 softmax celu elu selu softplus softsign squareplus soft_shrink sparse_plus silu gelu "
         "glu tanh tanh_shrink sigmoid sparse_sigmoid exponential hard_sigmoid hard_silu hard_tanh hard_shrink linear "
         "mish log_softmax log_sigmoid sparsemax threshold swish hard_swish").split()}
_NAME_OF = {id(f): name for name, f in reversed(_ALL.items())}
_NAME_OF.update({id(silu): "silu", id(hard_silu): "hard_silu"})
for _name, _function in _ALL.items():
    if _name != "threshold":  # the others need no arguments, and are the engine's own at the end of a layer
        _core._set_activation(_function, _name)


def serialize(activation):
    """The name of a function of this module; of others what keras.saving writes."""
    if activation is None:
        return None
    name = _NAME_OF.get(id(activation))
    if name is not None:
        return name
    from . import _serialization as saving
    return saving.serialize_keras_object(activation)


def deserialize(config, custom_objects=None):
    """The function of that name."""
    if config is None:
        return None
    found = registered(config, custom_objects, _ALL) if isinstance(config, str) else None
    if found is not None:
        return found
    if isinstance(config, dict):
        inner = config.get("config")
        if isinstance(inner, str) and inner in _ALL and config.get("class_name") in ("function", inner):
            return _ALL[inner]
        from . import _serialization as saving
        return saving.deserialize_keras_object(config, custom_objects=custom_objects)
    raise ValueError(f"Unknown activation function: '{config}'")


def get(identifier):
    """The function that a name, a dict or None (linear) stands for."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        found = _ALL.get(identifier) or registered(identifier)
        if found is None:
            raise ValueError(f"Could not interpret activation function identifier: {identifier}")
        return found
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret activation function identifier: {identifier}")
