"""What layers share: initializers, regularizers and constraints by name, data formats, and inputs in the dtype of the call."""
import gradus as tf

from .. import _state, activations, constraints, initializers, regularizers
from .._layer import InputSpec, Layer

__all__ = ["InputSpec", "Layer", "activations", "constraints", "data_format_of", "in_compute_dtype", "initializers",
           "numbers", "parts", "parts_config", "regularizers", "tf"]

_KINDS = {"initializer": initializers, "regularizer": regularizers, "constraint": constraints}


def parts(layer, **given):
    """Sets attributes such as kernel_initializer from any of their forms."""
    for name, value in given.items():
        setattr(layer, name, _KINDS[name.rpartition("_")[2]].get(value))


def parts_config(layer, names):
    """The same attributes as a config: "kernel_initializer bias_regularizer"."""
    return {name: _KINDS[name.rpartition("_")[2]].serialize(getattr(layer, name)) for name in names.split()}


def data_format_of(given):
    """'channels_last' or 'channels_first'; None is the default of Keras's settings."""
    if given is None:
        return _state.image_data_format()
    given = str(given).lower()
    if given not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                         f"Received: data_format={given}")
    return given


def numbers(value, n, name, allow_zero=False):
    """A tuple of n positive integers from one number or several."""
    values = (value,) * n if isinstance(value, int) else tuple(value)
    least = 0 if allow_zero else 1
    if len(values) != n or any(not isinstance(v, int) and int(v) != v or v < least for v in values):
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers, each at least {least}. "
                         f"Received {name}={value}")
    return tuple(int(v) for v in values)


def in_compute_dtype(layer, x):
    """The input in that dtype: integers become floats."""
    return x if x.dtype == layer.compute_dtype else tf.cast(x, layer.compute_dtype)
