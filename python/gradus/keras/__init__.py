"""Keras 3 on Gradus: layers, models and training.

    from gradus import keras

    model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10)])

Everything is loaded when it is first asked for, so that `import gradus` stays quick.
"""
import importlib as _importlib

__version__ = "3.15.1"

_MODULES = ("activations applications backend callbacks config constraints datasets distillation distribution "
            "dtype_policies export initializers layers legacy losses metrics mixed_precision models ops optimizers "
            "preprocessing quantizers random regularizers saving tree utils visualization wrappers").split()
_HOMES = {
    "_layer": "Layer InputSpec",
    "_functional": "Input Function",
    "_operation": "KerasTensor Operation",
    "_variable": "Variable",
    "_scopes": "name_scope StatelessScope RematScope SymbolicScope device remat",
    "models": "Model Sequential",
    "losses": "Loss",
    "metrics": "Metric",
    "optimizers": "Optimizer",
    "regularizers": "Regularizer",
    "initializers": "Initializer",
    "dtype_policies": "DTypePolicy FloatDTypePolicy",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name):
    if name in _HOME_OF:
        value = getattr(_importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    elif name in _MODULES:
        try:
            value = _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"keras.{name} is not covered yet. docs/api-coverage.md lists what is there.") from None
    else:
        raise AttributeError(f"module 'keras' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOME_OF) | set(_MODULES))


def version():
    """The version of Keras whose interface this is."""
    return __version__
