"""How tensors and variables are printed: as TensorFlow prints them, numbers by NumPy."""
import numpy as np

from . import _core


def _array(value):
    """The elements as NumPy has them; those of bfloat16, which it has not, as float32."""
    if value.dtype.name != "bfloat16":
        return value.numpy()
    bits = np.asarray(memoryview(value.read_value() if isinstance(value, _core.Variable) else value))
    return np.left_shift(bits.astype(np.uint32), 16).view(np.float32)


def _text_of_bfloat16(array, **brackets):
    return np.array2string(array, formatter={"float_kind": "{:g}".format}, **brackets)


def _repr_of_bfloat16(array):
    if array.size == 0:
        return f"array([], {'' if array.shape == (0,) else f'shape={array.shape}, '}dtype=bfloat16)"
    text = "array(" + _text_of_bfloat16(array, separator=", ", prefix="array(", suffix=",")
    room = np.get_printoptions()["linewidth"] - len(text) + text.rfind("\n") + 1
    return f"{text},{' ' if len(', dtype=bfloat16)') <= room else chr(10) + ' ' * len('array(')}dtype=bfloat16)"


def _numbers(value):
    """The `numpy=` part of a repr."""
    array = _array(value)
    if not isinstance(array, np.ndarray):
        return repr(array.item() if hasattr(array, "item") else array)
    text = _repr_of_bfloat16(array) if value.dtype.name == "bfloat16" else repr(array)
    return "\n" + text if "\n" in text else text


def _name_of(tensor):
    """The name of a tensor without a value, or None."""
    name = _core._traced_name(tensor)
    return name if name is None else tensor.name if _core._place(tensor) is not None else name + ":0"


def tensor_repr(tensor):
    name = _name_of(tensor)
    if name is not None:
        return f"<tf.Tensor '{name}' shape={tensor.shape._of_all_calls()} dtype={tensor.dtype.name}>"
    if not tensor.shape.is_fully_defined():
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}>"
    try:
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}, numpy={_numbers(tensor)}>"
    except ValueError:  # a value without elements, inside a mapped or traced function
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}>"


def tensor_str(tensor):
    name = _name_of(tensor)
    if name is not None:
        return f'Tensor("{name}", shape={tensor.shape._of_all_calls()}, dtype={tensor.dtype.name})'
    try:
        return f"tf.Tensor({_plain(tensor)}, shape={tensor.shape}, dtype={tensor.dtype.name})"
    except ValueError:
        return tensor_repr(tensor)


def _plain(tensor):
    array = _array(tensor)
    text = _text_of_bfloat16(array) if tensor.dtype.name == "bfloat16" else str(array)
    return "\n" + text if "\n" in text else text


def tensor_format(tensor, spec):
    if _core._traced_name(tensor) is not None:
        if spec:
            raise TypeError("unsupported format string passed to SymbolicTensor.__format__")
        return tensor_str(tensor)
    array = _array(tensor)
    if tensor.ndim > 0 and tensor.dtype.name == "bfloat16" and not spec:
        return _text_of_bfloat16(array)
    return format(array, spec)


def variable_repr(variable):
    if _core._is_tracing():
        return f"<tf.Variable '{variable.name}' shape={variable.shape} dtype={variable.dtype.name}>"
    return (f"<tf.Variable '{variable.name}' shape={variable.shape} "
            f"dtype={variable.dtype.name}, numpy={_numbers(variable)}>")


def check_shape(tensor, shape):
    if not tensor.shape.is_compatible_with(shape):
        raise ValueError(f"Tensor's shape {tensor.shape} is not compatible with supplied shape {shape}.")
