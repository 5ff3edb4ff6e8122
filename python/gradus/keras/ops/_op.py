"""How functions of keras.ops are made: they take tensors, arrays and numbers of any dtypes, and KerasTensors."""
import functools

import gradus as tf

from .. import backend
from .._operation import KerasTensor, apply_symbolically
from .._state import floatx

_PYTHONS = {"int": int, "float": float}


def result_type(*kinds):
    """The dtype in which values of these kinds meet; "int" and "float" are Python's numbers."""
    return backend.result_type(*(_PYTHONS.get(kind, kind) for kind in kinds))


def dtype_of(x):
    """The dtype's name, "int" or "float" for Python's numbers, or None for lists and arrays."""
    if isinstance(x, bool):
        return "bool"
    if isinstance(x, int):
        return "int"
    if isinstance(x, float):
        return "float"
    kind = getattr(x, "dtype", None)
    return None if kind is None else kind if isinstance(kind, str) else tf.as_dtype(kind).name


def tensor(x):
    """x as a tensor; Python's numbers and lists have the dtypes that Keras gives them."""
    return x if type(x) is tf.Tensor else tf.convert_to_tensor(x)


def together(*values):
    """The values as tensors of one dtype."""
    first = values[0]
    if type(first) is tf.Tensor:
        dtype = first.dtype
        if all(type(v) is tf.Tensor and v.dtype is dtype or type(v) is float and dtype.is_floating for v in values[1:]):
            return values
    known = [dtype_of(v) for v in values]
    kinds = [k if k is not None else tensor(v).dtype.name for k, v in zip(known, values)]
    wanted = result_type(*kinds)
    return [tf.cast(v, wanted) if k in ("int", "float", "bool") or kind != wanted else tensor(v)
            for v, k, kind in zip(values, known, kinds)]


def floating(x):
    """x as a tensor of floats."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, floatx())


def _symbolic(values):
    for v in values:
        if isinstance(v, KerasTensor) or isinstance(v, (list, tuple)) and _symbolic(v):
            return True
    return False


def op(function):
    """Lets a function of tensors take KerasTensors: it becomes a node of the model then."""
    @functools.wraps(function)
    def run(*args, **kwargs):
        if _symbolic(args) or kwargs and _symbolic(kwargs.values()):
            return apply_symbolically(function, *args, **kwargs)
        return function(*args, **kwargs)
    return run


def _named(name, function, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}"
    return op(function)


def unary(name, function, prepare=tensor):
    """An op of one argument: `function` of what `prepare` makes of it."""
    return _named(name, lambda x: function(prepare(x)), function.__doc__)


def binary(name, function, prepare=together):
    """An op of two arguments, which meet in one dtype."""
    return _named(name, lambda x1, x2: function(*prepare(x1, x2)), function.__doc__)


def binary_xy(name, function):
    """The same with Keras's other names of the arguments."""
    return _named(name, lambda x, y: function(*together(x, y)), function.__doc__)


def as_bools(*values):
    """The values as tensors of bool."""
    return [tf.cast(v, "bool") for v in values]


def publish(names, made):
    """Puts ops into the names of a module, and makes them belong to it."""
    for function in made:
        function.__module__ = names["__name__"]
        names[function.__name__] = function
