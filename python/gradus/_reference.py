"""Hashable references to tensors and variables, and tensors that were pickled."""
from . import _core


def restored_tensor(data, dtype, shape):
    """A tensor from its bytes, for pickle."""
    return _core._tensor_from_bytes(data, dtype, shape)


class Reference:
    """Stands for an object by its identity, so that it can be a key."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """The object that this refers to."""
        return self._wrapped

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"
