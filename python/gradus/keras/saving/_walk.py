"""Which objects of a model have state, and under which names: the paths of Keras' weight files.

A saveable object is a layer, a model or an optimizer. Its own variables lie in `path/vars`, what it holds in an
attribute under `path/attribute`, and members of lists, tuples, dicts and sets under the snake case of their class,
numbered from the second on. An object is written where it is found first: public attributes in the order of the
alphabet, then private ones.
"""
from .. import _layer, _state
from ..optimizers import Optimizer

_CONTAINERS = (list, tuple, dict, set)


def is_saveable(value):
    return isinstance(value, (_layer.Layer, Optimizer))


def _kind(value):
    from ..models import Model
    return Model if isinstance(value, Model) else _layer.Layer if isinstance(value, _layer.Layer) else Optimizer


_skipped = {}


def _skipped_names(kind):
    """What every object of a kind has, and is no part of its state."""
    if kind not in _skipped:
        names = {"_optimizer", "_functional", "_graph", "_quick", "_given", "operations", "metrics", "variables",
                 "weights", "loss"}
        if kind is not Optimizer:
            names.update(vars(kind(name="nothing")))
        for base in kind.__mro__:
            names.update(name for name in vars(base) if not name.startswith("__"))
        _skipped[kind] = names - {"layers", "optimizer"}
    return _skipped[kind]


def _is_own(cls):
    return cls.__module__.startswith("gradus.keras.")


def _properties(cls, skipped):
    return [name for base in cls.__mro__ for name, value in vars(base).items()
            if isinstance(value, property) and name not in skipped and not name.startswith("__")]


def children(value):
    """(name, what is there) of each attribute that may hold state, in the order in which they are visited."""
    from ..models import Functional, Sequential
    kind = _kind(value)
    skipped = _skipped_names(kind)
    first = isinstance(value, (Sequential, Functional))
    if first:
        yield "layers", value.layers
    names = {n for n in vars(value) if n not in skipped and not n.startswith("__")}
    names.update(_properties(type(value), skipped))
    if hasattr(type(value), "layers") and not first and isinstance(value, _layer.Layer):
        names.add("layers")
    if getattr(value, "optimizer", None) is not None and isinstance(value, _layer.Layer):
        names.add("optimizer")
    own = _is_own(type(value))
    for name in sorted(names, key=lambda n: (n.startswith("_"), n)):
        try:
            child = getattr(value, name)
        except Exception:  # noqa: BLE001, S112 - a property of the user's that does not work here
            continue
        if child is value or not (is_saveable(child) or isinstance(child, _CONTAINERS)):
            continue
        yield _public(name) if own else name, child


def _public(name):
    """Keras has public properties for the private attributes of its layers, but for two without weights."""
    return name if name in ("_dropout_layer", "_softmax") else name.lstrip("_")


def walk(value, path="", visited=None):
    """(path, object) of every saveable object, itself included."""
    visited = set() if visited is None else visited
    if id(value) in visited:
        return
    visited.add(id(value))
    yield path, value
    for name, child in children(value):
        inner = f"{path}/{name}" if path else name
        if is_saveable(child):
            yield from walk(child, inner, visited)
        else:
            yield from _walk_container(child, inner, visited)


def _walk_container(container, path, visited):
    used = {}
    for member in container.values() if isinstance(container, dict) else container:
        if is_saveable(member):
            name = _state.to_snake_case(type(member).__name__)
            count = used.get(name, 0)
            used[name] = count + 1
            yield from walk(member, f"{path}/{name}_{count}" if count else f"{path}/{name}", visited)
