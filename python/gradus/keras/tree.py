"""keras.tree: structures of values."""
from .. import nest as _nest


class MAP_TO_NONE:  # noqa: N801
    """Says that a place of the result is None."""


def is_nested(structure):
    """Whether it is a list, a tuple or a dict."""
    return _nest.is_nested(structure)


def flatten(structure):
    """The leaves as a list."""
    return _nest.flatten(structure)


def map_structure(func, *structures, none_is_leaf=True):
    """func of corresponding leaves, in the same structure."""
    if none_is_leaf:
        return _nest.map_structure(func, *structures)
    return _nest.map_structure(lambda *leaves: None if leaves[0] is None else func(*leaves), *structures)


def map_structure_up_to(shallow_structure, func, *structures):
    """func of the parts that stand where the shallow structure has leaves."""
    if not is_nested(shallow_structure):
        return func(*structures)
    if isinstance(shallow_structure, dict):
        return {k: map_structure_up_to(v, func, *(s[k] for s in structures)) for k, v in shallow_structure.items()}
    parts = [map_structure_up_to(v, func, *(s[i] for s in structures)) for i, v in enumerate(shallow_structure)]
    return type(shallow_structure)(parts)


def assert_same_structure(a, b, check_types=None):
    """Raises ValueError if the structures differ; types of containers are always compared, as Keras does."""
    if check_types is False:
        raise ValueError("The `check_types` argument of assert_same_structure is deprecated: types are always compared")
    try:
        _nest.assert_same_structure(a, b)
    except TypeError as error:
        raise ValueError(str(error)) from None


def assert_same_paths(a, b):
    """Raises ValueError if the structures differ."""
    assert_same_structure(a, b)


def pack_sequence_as(structure, flat_sequence):
    """A list of leaves in the structure of another value."""
    return _nest.pack_sequence_as(structure, list(flat_sequence))


def lists_to_tuples(structure):
    """The same with tuples for lists."""
    if isinstance(structure, dict):
        return {k: lists_to_tuples(v) for k, v in structure.items()}
    if isinstance(structure, (list, tuple)):
        return tuple(lists_to_tuples(v) for v in structure)
    return structure


def flatten_with_path(structure):
    """Pairs of (path, leaf)."""
    found = []

    def walk(path, value):
        if isinstance(value, dict):
            for key in sorted(value):
                walk(path + (key,), value[key])
        elif isinstance(value, (list, tuple)):
            for i, part in enumerate(value):
                walk(path + (i,), part)
        else:
            found.append((path, value))
    walk((), structure)
    return found


def map_shape_structure(func, structure):
    """func of each shape in the structure."""
    if isinstance(structure, (list, tuple)) and all(s is None or isinstance(s, int) for s in structure):
        return func(tuple(structure))
    if isinstance(structure, dict):
        return {k: map_shape_structure(func, v) for k, v in structure.items()}
    return type(structure)(map_shape_structure(func, v) for v in structure)


def traverse(func, structure, top_down=True):
    """func of each part, from the top; where it gives None the parts below are looked at."""
    if top_down:
        result = func(structure)
        if result is MAP_TO_NONE:
            return None
        if result is not None:
            return result
    if isinstance(structure, dict):
        made = {k: traverse(func, v, top_down) for k, v in structure.items()}
    elif isinstance(structure, (list, tuple)):
        made = type(structure)(traverse(func, v, top_down) for v in structure)
    else:
        made = structure
    if not top_down:
        result = func(made)
        return None if result is MAP_TO_NONE else made if result is None else result
    return made
