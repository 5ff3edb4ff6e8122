"""What layers share: parts by name, data formats, inputs in the dtype of the call, quick calls with several inputs."""
import operator

import gradus as tf

from .. import _scopes, _state, activations, constraints, initializers, regularizers
from .._layer import InputSpec, Layer

__all__ = ["InputSpec", "Layer", "SeveralInputs", "activations", "constraints", "data_format_of", "in_compute_dtype",
           "initializers", "numbers", "parts", "parts_config", "regularizers", "tf"]

_context, _masks, _Tensor = _scopes.context, _state.masks, tf.Tensor


class SeveralInputs(Layer):
    """A layer called with a list of tensors, or with two, that goes straight to `call` where nothing needs care."""

    _seen_dtype = None

    def __call__(self, *args, **kwargs):
        dtype = self._seen_dtype
        if dtype is not None and not _masks and (not kwargs or len(kwargs) == 1 and "training" in kwargs):
            for x in args[0] if len(args) == 1 else args:
                if type(x) is not _Tensor or x.dtype is not dtype:
                    break
            else:
                training = kwargs.get("training", _context.training)
                return self.call(*args) if training is None else self._call_in_training(training, args)
        outputs = super().__call__(*args, **kwargs)
        if dtype is None:
            self._look_for_a_quick_way(args)
        return outputs

    def _call_in_training(self, training, args):
        return self.call(*args)

    def _look_for_a_quick_way(self, args):
        inputs = args[0] if len(args) == 1 and type(args[0]) is list else args
        plain = self.compute_dtype == self.variable_dtype and self.activity_regularizer is None and self.built
        if plain and all(type(x) is _Tensor and x.dtype == self.compute_dtype for x in inputs) and (
                inputs is not args or len(args) == 2):
            object.__setattr__(self, "_seen_dtype", inputs[0].dtype)


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
    message = f"The `{name}` argument must be a tuple of {n} integers. Received {name}={value}"
    try:
        values = (value,) * n if isinstance(value, int) else tuple(value)
        values = tuple(operator.index(v) for v in values)
    except TypeError:
        raise ValueError(message) from None
    if len(values) != n:
        raise ValueError(message)
    wrong = {v for v in values if v < (0 if allow_zero else 1)}
    if wrong:
        raise ValueError(f"{message}, including values {wrong} that do not satisfy `value {'>=' if allow_zero else '>'} "
                         "0`")
    return values


def in_compute_dtype(layer, x):
    """The input in the dtype in which the layer computes: integers become floats."""
    return x if x.dtype is layer._compute else tf.cast(x, layer._compute)
