"""Strings in datasets: NumPy arrays of bytes that pass through, since the engine computes with numbers only.

A StringTensor has what programs do with strings on their way to numbers: numpy(), shape, indexing, comparison. It can
be batched, shuffled and given to Python functions; no op takes it.
"""
import numpy as np

from .._types import TensorShape


class _StringDType:
    """Stands for tf.string."""

    name = "string"
    as_numpy_dtype = np.object_
    is_floating = is_integer = is_bool = is_complex = False

    def __repr__(self):
        return "tf.string"

    def __eq__(self, other):
        return other is self or other in ("string", str, bytes)

    def __hash__(self):
        return hash("string")


string = _StringDType()


def _to_bytes(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"strings are made of str or bytes, got {type(value).__name__}: tensors hold numbers, bools and "
                    "strings")


class StringTensor:
    """An array of byte strings."""

    __slots__ = ("_values", "__weakref__")

    def __init__(self, values):
        array = np.asarray(values, dtype=object)
        self._values = np.empty(array.shape, object)
        self._values[...] = np.frompyfunc(_to_bytes, 1, 1)(array) if array.size else array

    shape = property(lambda self: TensorShape(self._values.shape))
    dtype = property(lambda self: string)
    ndim = property(lambda self: self._values.ndim)

    def numpy(self):
        """bytes, or an array of them."""
        return self._values.copy() if self._values.ndim else self._values[()]

    def __array__(self, dtype=None, copy=None):
        return self._values.copy() if dtype is None else self._values.astype(dtype)

    def __getitem__(self, key):
        return StringTensor(self._values[key])

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return (StringTensor(v) for v in self._values)

    def __eq__(self, other):
        if not isinstance(other, StringTensor):
            try:
                other = StringTensor(other)
            except TypeError:
                return NotImplemented
        return _tensor(self._values == other._values)

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else _tensor(~np.asarray(equal))

    __hash__ = None

    def __repr__(self):
        return f"<tf.Tensor: shape={tuple(self._values.shape)}, dtype=string, numpy={self.numpy()!r}>"

    def __str__(self):
        return f"tf.Tensor({self.numpy()}, shape={tuple(self._values.shape)}, dtype=string)"


def _tensor(bools):
    import gradus
    return gradus.convert_to_tensor(np.asarray(bools, bool))


def holds_strings(value):
    """Whether a Python value is to become a StringTensor."""
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "SUO"
    if isinstance(value, (list, tuple)):
        return bool(value) and holds_strings(value[0])
    return isinstance(value, (np.str_, np.bytes_))
