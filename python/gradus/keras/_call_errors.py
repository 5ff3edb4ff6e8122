"""What is said of an error inside a layer's `call`: which layer, and what it was called with."""
import inspect

import gradus as _tf

from .. import nest
from ._operation import KerasTensor

_HEAD = "Exception encountered when calling "


def explain(error, layer, args, kwargs):
    """Puts the layer and its arguments around the message of an error, unless a layer within has done so."""
    message = str(error)
    if _HEAD in message or isinstance(error, (KeyError, OSError, StopIteration)):
        return
    name = f"{type(layer).__name__}.call()"
    lines = [f"{_HEAD}{name}.", "", f"\x1b[1m{message}\x1b[0m", "", f"Arguments received by {name}:"]
    lines += [f"  • {key}={_shown(value)}" for key, value in _by_name(layer, args, kwargs)]
    text = "\n".join(lines)
    if isinstance(error, _tf.errors.OpError):
        error._message = text
        error.args = (*error.args[:2], text)
    elif len(error.args) == 1:
        error.args = (text,)


def _by_name(layer, args, kwargs):
    try:
        bound = inspect.signature(layer.call).bind(*args, **kwargs)
    except TypeError:
        return [("args", args), ("kwargs", kwargs)]
    bound.apply_defaults()
    return bound.arguments.items()


def _shown(value):
    def one(x):
        if isinstance(x, KerasTensor) or not _tf.is_tensor(x):
            return str(x)
        return f"tf.Tensor(shape={tuple(x.shape)}, dtype={x.dtype.name})"

    return nest.map_structure(one, value) if isinstance(value, (list, tuple, dict)) else one(value)
