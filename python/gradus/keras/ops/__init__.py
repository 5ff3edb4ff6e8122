"""keras.ops: functions that work on tensors, arrays and the symbolic tensors of functional models."""
from . import core, image, linalg, math, nn, numpy

for _module in (core, numpy, math, nn, linalg):
    for _name, _value in vars(_module).items():
        _home = getattr(_value, "__module__", None) or ""
        if not _name.startswith("_") and callable(_value) and _home.startswith("gradus.keras.ops"):
            globals()[_name] = _value
custom_gradient = core.custom_gradient
del _module, _name, _value, _home
