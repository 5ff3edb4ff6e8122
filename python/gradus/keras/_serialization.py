"""Objects as plain dicts and back: layers, models, losses and whatever has get_config.

A dict names a class of Keras by its module (`keras.layers`) and a class of the user's by the name under which it was
registered. Nothing in a config is executed, but for lambdas that the caller trusts (`_lambdas.py`).
"""
import inspect
import sys
import types

import gradus as _tf

from . import _lambdas
from ._operation import KerasTensor, Operation

_custom_objects, _custom_names = {}, {}
_scopes = []


def register_keras_serializable(package="Custom", name=None):
    """A decorator that makes a class or function known to saved models as 'package>name'."""
    def register(target):
        registered = f"{package}>{name or target.__name__}"
        if isinstance(target, type) and not hasattr(target, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        _custom_objects[registered], _custom_names[target] = target, registered
        return target
    return register


def get_registered_name(obj):
    """The name under which it was registered, or its own."""
    return _custom_names.get(obj, getattr(obj, "__name__", obj))


def get_registered_object(name, custom_objects=None, module_objects=None):
    """What was registered under the name, or None."""
    for table in (custom_objects, *reversed(_scopes), _custom_objects, module_objects):
        if table and name in table:
            return table[name]
    return None


def get_custom_objects():
    """The dict of registered objects by name."""
    return _custom_objects


class CustomObjectScope:
    """Makes objects known to deserialization inside a with block."""

    def __init__(self, custom_objects):
        self.custom_objects = custom_objects or {}

    def __enter__(self):
        _scopes.append(self.custom_objects)
        return self

    def __exit__(self, *_):
        _scopes.remove(self.custom_objects)


custom_object_scope = CustomObjectScope


def _public_module(cls):
    """keras.layers for gradus.keras.layers.core; None where the class is not ours."""
    module = cls.__module__
    if not module.startswith("gradus.keras"):
        return None
    special = {"Functional": "keras.src.models.functional", "Sequential": "keras", "Model": "keras",
               "DTypePolicy": "keras", "Variable": "keras"}
    if cls.__name__ in special:
        return special[cls.__name__]
    parts = module.split(".")
    if len(parts) > 2 and not parts[2].startswith("_"):
        return "keras." + parts[2]
    from . import layers
    return "keras.layers" if getattr(layers, cls.__name__, None) is cls else "keras"


# Where Keras keeps its operations; all others are in keras.src.ops.numpy.
_OP_HOMES = {name: home for home, names in {
    "nn": """AdaptiveAveragePool AdaptiveMaxPool AveragePool BatchNorm BinaryCrossentropy CTCDecode CTCLoss CategoricalCrossentropy
          Celu Conv ConvTranspose DepthwiseConv DotProductAttention Elu Gelu Glu HardShrink HardSigmoid HardSilu HardTanh LayerNorm
          LeakyRelu LogSigmoid LogSoftmax MaxPool Moments MultiHot Normalize OneHot PSNR RMSNorm Relu Relu6 Selu SeparableConv
          Sigmoid Silu SoftShrink Softmax Softplus Softsign SparseCategoricalCrossentropy SparsePlus SparseSigmoid Sparsemax
          Squareplus TanhShrink Threshold""",
    "math": """Erf Erfc Erfinv ExtractSequences FFT FFT2 IFFT2 IRFFT ISTFT InTopK Logdet Logsumexp RFFT Rsqrt STFT SegmentMax
            SegmentSum TopK""",
    "core": """Cast Cond ForiLoop Map Scan Scatter ScatterUpdate Slice SliceUpdate StopGradient Switch Unstack VectorizedMap
            WhileLoop""",
    "linalg": "Cholesky Det Eig Eigh Inv Lstsq LuFactor Norm Pinv Qr SVD Solve SolveTriangular",
    "image": "AffineTransform CropImages ExtractPatches MapCoordinates PadImages RGBToGrayscale Resize",
}.items() for name in names.split()}


def serialize_keras_object(obj):
    """The object as a dict of plain values."""
    if obj is None or isinstance(obj, (bool, int, float, str)):
        return obj
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("utf-8")}}
    if isinstance(obj, _tf.TensorShape):
        return obj.as_list() if obj.rank is not None else None
    if isinstance(obj, (list, tuple)):
        parts = [serialize_keras_object(x) for x in obj]
        return tuple(parts) if isinstance(obj, tuple) else parts
    if isinstance(obj, dict):
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    if isinstance(obj, KerasTensor):
        operation, node, tensor = obj._keras_history
        return {"class_name": "__keras_tensor__",
                "config": {"shape": obj.shape, "dtype": obj.dtype, "keras_history": [operation.name, node, tensor]}}
    if isinstance(obj, _tf.DType):
        return obj.name
    if isinstance(obj, slice):
        parts = {"start": obj.start, "stop": obj.stop, "step": obj.step}
        return {"class_name": "__slice__", "config": serialize_keras_object(parts)}
    if _tf.is_tensor(obj):
        return {"class_name": "__tensor__", "config": {"value": obj.numpy().tolist(), "dtype": str(
            getattr(obj.dtype, "name", obj.dtype))}}
    if type(obj).__module__ == "numpy":
        if hasattr(obj, "tolist") and getattr(obj, "ndim", 0) > 0:
            return {"class_name": "__numpy__", "config": {"value": obj.tolist(), "dtype": obj.dtype.name}}
        return obj.item()
    if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
        return _lambdas.written(obj)
    if isinstance(obj, (types.FunctionType, types.BuiltinFunctionType)):
        name = get_registered_name(obj)
        return {"class_name": "function", "config": obj.__name__, "module": _function_module(obj),
                "registered_name": name}
    if isinstance(obj, type):
        return {"class_name": obj.__name__, "module": _public_module(obj) or obj.__module__,
                "config": None, "registered_name": get_registered_name(obj)}
    if not hasattr(obj, "get_config"):
        raise TypeError(f"Cannot serialize object {obj} of type {type(obj)}. To be serializable, a class must "
                        "implement the `get_config()` method.")
    cls = type(obj)
    module = _public_module(cls)
    config = serialize_keras_object(obj.get_config())
    if module is None:
        result = {"module": None if cls.__module__ == "__main__" or cls in _custom_names else cls.__module__,
                  "class_name": cls.__name__, "config": config, "registered_name": get_registered_name(cls)}
    elif isinstance(obj, Operation) and module == "keras.ops":
        result = {"module": f"keras.src.ops.{_OP_HOMES.get(cls.__name__, 'numpy')}", "class_name": cls.__name__, "config": config,
                  "registered_name": cls.__name__}
    else:
        name = cls.__name__
        result = {"module": module, "class_name": name, "config": config,
                  "registered_name": name if module.startswith("keras.src") else None}
    if hasattr(obj, "get_build_config"):
        build_config = obj.get_build_config()
        if build_config is not None:
            result["build_config"] = serialize_keras_object(build_config)
    if hasattr(obj, "get_compile_config"):
        compile_config = obj.get_compile_config()
        if compile_config is not None:
            result["compile_config"] = serialize_keras_object(compile_config)
    return result


def _function_module(function):
    module = getattr(function, "__module__", None) or "builtins"
    return "builtins" if module.startswith("gradus.keras") or module == "__main__" else module


def _find_class(config, custom_objects):
    name, module, registered = config.get("class_name"), config.get("module"), config.get("registered_name")
    for key in (registered, name):
        if key:
            found = get_registered_object(key, custom_objects)
            if found is not None:
                return found
    if module:
        found = _in_keras(module, name)
        if found is not None:
            return found
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, type) and hasattr(found, "from_config"):  # no function: a file must not choose what is run
            return found
    raise TypeError(f"Could not locate class '{name}'. Make sure custom classes are decorated with "
                    f"`@keras.saving.register_keras_serializable()` or given in `custom_objects`. Full object config: "
                    f"{config}")


_PLACES = ("layers models losses metrics optimizers optimizers.schedules initializers regularizers constraints "
           "activations dtype_policies callbacks random").split()


def _in_keras(module, name):
    if not module.startswith("keras"):
        return None
    if name == "Functional":
        from .models import Functional
        return Functional
    import gradus.keras as keras
    if ".ops." in module or module == "keras.ops":
        from ._operation import operation_named
        return operation_named(name)
    place = module.removeprefix("keras").removeprefix(".src").strip(".")
    places = [place] if place and not module.startswith("keras.src") else list(_PLACES)
    for one in places:
        home = keras
        try:
            for part in one.split("."):
                home = getattr(home, part)
        except AttributeError:
            continue
        found = getattr(home, name, None)
        if found is not None:
            return found
    return getattr(keras, name, None)


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """The object that serialize_keras_object wrote down."""
    if config is None or isinstance(config, (bool, int, float)):
        return config
    if isinstance(config, str):
        found = get_registered_object(config, custom_objects, kwargs.get("module_objects"))
        return config if found is None else found
    if isinstance(config, (list, tuple)):
        return type(config)(deserialize_keras_object(x, custom_objects, safe_mode) for x in config)
    if not isinstance(config, dict):
        raise TypeError(f"Could not parse config: {config}")
    if "class_name" not in config or "config" not in config:
        return {k: deserialize_keras_object(v, custom_objects, safe_mode) for k, v in config.items()}
    name, inner = config["class_name"], config["config"]
    if name == "__tensor__":
        return _tf.constant(inner["value"], dtype=inner["dtype"])
    if name == "__numpy__":
        import numpy as np
        return np.array(inner["value"], dtype=inner["dtype"])
    if name == "__bytes__":
        return inner["value"].encode("utf-8")
    if name == "__ellipsis__":
        return Ellipsis
    if name == "__slice__":
        return slice(inner["start"], inner["stop"], inner["step"])
    if name == "__tuple__":
        return tuple(deserialize_keras_object(x, custom_objects, safe_mode) for x in config["items"])
    if name == "__lambda__":
        with _lambdas.trusting(safe_mode is False):
            return _lambdas.read(inner, custom_objects)
    if name == "function":
        return _find_function(config, custom_objects)
    cls = _find_class(config, custom_objects)
    if not isinstance(cls, type) or inner is None:
        return cls
    if not hasattr(cls, "from_config"):
        raise TypeError(f"Unable to reconstruct an instance of '{cls.__name__}' because the class is missing a "
                        f"`from_config()` method. Full object config: {config}")
    with CustomObjectScope(custom_objects), _lambdas.trusting(safe_mode is False):
        takes = inspect.signature(cls.from_config).parameters
        try:
            obj = cls.from_config(inner,
                                  custom_objects=custom_objects) if "custom_objects" in takes else cls.from_config(inner)
        except TypeError as error:
            raise TypeError(f"{cls} could not be deserialized properly. Please ensure that components that are Python "
                            "object instances (layers, models, etc.) returned by `get_config()` are explicitly "
                            "deserialized in the model's `from_config()` method.\n"
                            f"\nconfig={config}.\n\nException encountered: {error}") from error
        if config.get("build_config") and hasattr(obj, "build_from_config"):
            obj.build_from_config(config["build_config"])
        if config.get("compile_config") and hasattr(obj, "compile_from_config"):
            obj.compile_from_config(config["compile_config"])
    return obj


def _find_function(config, custom_objects):
    name = config.get("config")
    for key in (config.get("registered_name"), name):
        found = get_registered_object(key, custom_objects) if key else None
        if found is not None:
            return found
    import gradus.keras as keras
    for place in ("activations", "losses", "metrics"):
        found = getattr(getattr(keras, place, None), name, None)
        if callable(found):
            return found
    raise TypeError(f"Could not locate function '{name}'. Make sure custom functions are decorated with "
                    f"`@keras.saving.register_keras_serializable()`. Full object config: {config}")
