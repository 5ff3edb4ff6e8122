"""Arguments and results as JSON: tensors by dtype and shape, everything else by value."""
import gradus as tf

_PLAIN = (bool, int, float, str)


def encoded(x, where):
    """As lists that JSON can hold; ValueError names what cannot be saved."""
    if isinstance(x, tf.TensorSpec):
        if x.shape.rank is None:
            raise ValueError(f"{where}: the rank of {x!r} must be known to save a function; name one in its "
                             "input_signature")
        return ["tensor", x.dtype.name, [-1 if n is None else n for n in x.shape.as_list()], x.name]
    if x is None or isinstance(x, _PLAIN):
        return ["value", x]
    if isinstance(x, dict):
        return ["dict", {str(k): encoded(v, where) for k, v in x.items()}]
    if isinstance(x, (list, tuple)):
        if hasattr(x, "_fields"):
            return ["dict", {k: encoded(v, where) for k, v in zip(x._fields, x)}]
        return ["tuple" if isinstance(x, tuple) else "list", [encoded(v, where) for v in x]]
    raise ValueError(f"{where}: {type(x).__name__} cannot be saved; functions that are saved take and return tensors, "
                     "numbers, texts, None, and lists, tuples and dicts of them")


def decoded(x):
    kind, rest = x[0], x[1:]
    if kind == "tensor":
        return tf.TensorSpec([None if n < 0 else n for n in rest[1]], tf.as_dtype(rest[0]), rest[2])
    if kind == "dict":
        return {k: decoded(v) for k, v in rest[0].items()}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(decoded(v) for v in rest[0])
    return rest[0]


def spec_of(leaf):
    """A leaf of results: tensors as specs."""
    return tf.TensorSpec(leaf.shape, leaf.dtype) if tf.is_tensor(leaf) else leaf


def is_spec(leaf):
    return isinstance(leaf, tf.TensorSpec)


def filled(structure, tensors):
    """The structure with tensors in place of its specs."""
    tensors = iter(tensors)
    return tf.nest.map_structure(lambda leaf: next(tensors) if is_spec(leaf) else leaf, structure)


def specs_in(structure):
    return [leaf for leaf in tf.nest.flatten(structure) if is_spec(leaf)]
