"""Values that are not one dense tensor of numbers: strings, sparse and ragged tensors (docs/design/023).

A function of the module that meets one asks its class to do the work: the class has a table of functions by name.
"""
import sys

from . import _core


class Kind:
    """The base of these classes, and of the dtype of strings."""

    __slots__ = ()
    _functions = {}

    @classmethod
    def __gradus_function__(cls, name, arguments):
        """What the function of this name gives for these arguments, by name; NotImplemented if it does not take them."""
        own = cls._functions.get(name)
        return NotImplemented if own is None else own(**arguments)

    @classmethod
    def does(cls, *names):
        """Decorates what the functions of the module with these names do for this class."""
        def enter(function):
            for name in names:
                cls._functions[name] = function
            return function
        return enter


class Composite(Kind):
    """A value made of tensors, which are inputs and results of compiled functions.

    _parts() gives a tuple of tensors and whatever else there is, which can be hashed and compared; the class method
    _from_parts(tensors, rest) makes the value again. Tensors may be None there, while a structure is taken apart.
    """

    __slots__ = ()


_core._set_class("Kind", Kind)
_core._set_class("Composite", Composite)


def is_traced(tensor):
    """Whether it has no value, because a function is being traced."""
    return _core._traced_name(tensor) is not None


def size_of(tensor, axis):
    """The size of an axis: a number, or a scalar of the program where only that will know it."""
    size = tensor.shape[axis]
    is_unknown = getattr(size, "value", size) is None  # TensorFlow 1's dimensions have a value
    return sys.modules["gradus"].shape(tensor)[axis] if is_unknown else size


def static_sizes(shape):
    """What is known of the sizes in a shape: a list, a TensorShape or a vector of integers."""
    from ._types import TensorShape
    if isinstance(shape, _core.Tensor):
        if is_traced(shape):
            return TensorShape([None] * shape.shape[0] if shape.shape[0] is not None else None)
        return TensorShape(shape.numpy().tolist())
    sizes = list(shape) if not isinstance(shape, TensorShape) else shape.as_list()
    return TensorShape([None if isinstance(s, _core.Tensor) and is_traced(s) else None if s is None else int(s)
                        for s in sizes])
