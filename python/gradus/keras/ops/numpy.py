"""The functions of NumPy, on tensors: all that _elementwise, _reductions, _shapes, _products, _creation and more have."""
from . import _creation, _elementwise, _products, _reductions, _shapes, more

for _module in (_elementwise, _reductions, _shapes, _products, _creation, more):
    for _name, _value in vars(_module).items():
        _home = getattr(_value, "__module__", None) or ""
        if not _name.startswith("_") and callable(_value) and _home.startswith("gradus.keras.ops"):
            globals()[_name] = _value
del _module, _name, _value, _home
