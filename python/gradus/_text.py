"""How tensors and variables are printed: as TensorFlow prints them, numbers by NumPy."""
import numpy as np

from . import _core


def _numbers(value):
    """The `numpy=` part of a repr."""
    array = value.numpy()
    if not isinstance(array, np.ndarray):
        return repr(array.item() if hasattr(array, "item") else array)
    text = repr(array)
    return "\n" + text if "\n" in text else text


def tensor_repr(tensor):
    name = _core._traced_name(tensor)
    if name is not None:
        return f"<tf.Tensor '{name}:0' shape={tensor.shape} dtype={tensor.dtype.name}>"
    if not tensor.shape.is_fully_defined():
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}>"
    try:
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}, numpy={_numbers(tensor)}>"
    except ValueError:  # a value without elements, inside a mapped or traced function
        return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}>"


def tensor_str(tensor):
    name = _core._traced_name(tensor)
    if name is not None:
        return f'Tensor("{name}:0", shape={tensor.shape}, dtype={tensor.dtype.name})'
    try:
        return f"tf.Tensor({_plain(tensor)}, shape={tensor.shape}, dtype={tensor.dtype.name})"
    except ValueError:
        return tensor_repr(tensor)


def _plain(tensor):
    array = tensor.numpy()
    if isinstance(array, np.ndarray) and array.ndim > 1:
        return "\n" + str(array)
    return str(array if isinstance(array, np.ndarray) or not hasattr(array, "item") else array.item())


def tensor_format(tensor, spec):
    if _core._traced_name(tensor) is not None:
        if spec:
            raise TypeError("unsupported format string passed to SymbolicTensor.__format__")
        return tensor_str(tensor)
    return format(np.asarray(tensor)[()], spec) if tensor.ndim == 0 else np.asarray(tensor).__format__(spec)


def variable_repr(variable):
    if _core._is_tracing():
        return f"<tf.Variable '{variable.name}' shape={variable.shape} dtype={variable.dtype.name}>"
    return (f"<tf.Variable '{variable.name}' shape={variable.shape} "
            f"dtype={variable.dtype.name}, numpy={_numbers(variable)}>")


def check_shape(tensor, shape):
    if not tensor.shape.is_compatible_with(shape):
        raise ValueError(f"Tensor's shape {tensor.shape} is not compatible with supplied shape {shape}.")
