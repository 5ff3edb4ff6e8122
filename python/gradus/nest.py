"""Structures of values: lists, tuples, named tuples and mappings, as tf.nest sees them."""
from . import _core


def map_structure(func, *structure, **kwargs):
    """Calls func on corresponding leaves; the results in the same structure."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: {list(kwargs)}")
    return _core._nest_map(func, structure, check_types, expand_composites)
