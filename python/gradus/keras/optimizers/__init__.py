"""Optimizers: how variables change by their gradients."""
import types as _types

from .._registry import Registry as _Registry
from . import schedules
from ._composed import Adafactor, Lamb
from ._loss_scale import LossScaleOptimizer
from ._muon import Muon
from ._optimizer import Optimizer
from ._rules import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Ftrl, Lion, Nadam, RMSprop

_CLASSES = (Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, Lamb, Lion, LossScaleOptimizer, Muon, Nadam, RMSprop,
            SGD)
_registry = _Registry("optimizer")
for _one in _CLASSES:
    _registry.add(_one.__name__.lower())(_one)


def get(identifier):
    """The optimizer that a name, a dict or an optimizer stands for."""
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        found = _registry._find(identifier) or _registry._find(identifier.lower())
        if found is not None:
            return found()
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer):
    """The dict from which `deserialize` makes the optimizer again."""
    return _registry.serialize(optimizer)


def deserialize(config, custom_objects=None):
    """The optimizer that `serialize` wrote down."""
    if isinstance(config, dict) and str(config.get("class_name")).lower() in _registry._classes:
        config = {**config, "class_name": str(config["class_name"]).lower()}
    if custom_objects and isinstance(config.get("config", {}).get("learning_rate"), dict):
        rate = schedules.deserialize(config["config"]["learning_rate"], custom_objects)
        config = {**config, "config": {**config["config"], "learning_rate": rate}}
    return _registry.deserialize(config, custom_objects)


# The names under which programs of Keras 2 found older implementations: here there is one of each.
legacy = _types.SimpleNamespace(**{cls.__name__: cls for cls in (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop,
                                                                SGD, Optimizer)})
