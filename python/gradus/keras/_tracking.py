"""How a layer notices what is assigned to its attributes: variables, layers, metrics and seed generators, also in lists
and dicts that are filled later."""
from .. import _core
from ._variable import Variable

_kinds = {int: None, float: None, str: None, bool: None, type(None): None, bytes: None, _core.Tensor: None,
          tuple: "tuple",
          list: "list", dict: "dict", set: "set"}


def kind_of(value):
    """'variable', 'layer', 'metric', 'seed generator', a kind of container, or None."""
    cls = type(value)
    try:
        return _kinds[cls]
    except KeyError:
        pass
    kind = None
    if issubclass(cls, Variable):
        kind = "variable"
    else:
        for base in cls.__mro__:
            if base.__module__.startswith("gradus.keras"):
                kind = {"Layer": "layer", "Metric": "metric", "SeedGenerator": "seed generator"}.get(base.__name__)
                if kind:
                    break
        if kind is None and issubclass(cls, tuple):
            kind = "tuple"
    _kinds[cls] = kind
    return kind


def tracked(layer, value):
    """The value to keep: itself, or a container that tells the layer what is put into it."""
    kind = kind_of(value)
    if kind is None:
        return value
    if kind == "tuple":
        parts = [tracked(layer, v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if kind == "list":
        return TrackedList(layer, value)
    if kind == "dict":
        return TrackedDict(layer, value)
    if kind == "set":
        return TrackedSet(layer, value)
    layer._track(kind, value)
    return value


class TrackedList(list):
    """A list of a layer."""

    def __init__(self, layer=None, values=()):
        self._layer = layer
        super().__init__(tracked(layer, v) for v in values) if layer is not None else super().__init__(values)

    def _seen(self, value):
        return value if self._layer is None else tracked(self._layer, value)

    def _lost(self, value):
        if self._layer is not None:
            self._layer._untrack(value)

    def append(self, value):
        super().append(self._seen(value))

    def insert(self, index, value):
        super().insert(index, self._seen(value))

    def extend(self, values):
        super().extend([self._seen(v) for v in values])

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        super().__setitem__(index, [self._seen(v) for v in value] if isinstance(index, slice) else self._seen(value))

    def remove(self, value):
        for i, own in enumerate(self):
            if own is value:
                super().__delitem__(i)
                return self._lost(value)
        raise ValueError("list.remove(x): x not in list")

    def pop(self, index=-1):
        value = super().pop(index)
        self._lost(value)
        return value

    def clear(self):
        for value in self:
            self._lost(value)
        super().clear()

    def __delitem__(self, index):
        value = self[index]
        super().__delitem__(index)
        for one in value if isinstance(index, slice) else [value]:
            self._lost(one)

    def __deepcopy__(self, memo):
        import copy
        other = TrackedList()
        memo[id(self)] = other
        other._layer = copy.deepcopy(self._layer, memo)
        list.extend(other, [copy.deepcopy(v, memo) for v in self])
        return other

    def __reduce__(self):
        return list, (list(self),)


class TrackedDict(dict):
    """A dict of a layer."""

    def __init__(self, layer=None, values=()):
        self._layer = layer
        super().__init__()
        for key, value in dict(values).items():
            self[key] = value

    def __setitem__(self, key, value):
        super().__setitem__(key, value if self._layer is None else tracked(self._layer, value))

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def pop(self, key, *default):
        value = super().pop(key, *default)
        if self._layer is not None:
            self._layer._untrack(value)
        return value

    def __delitem__(self, key):
        self.pop(key)

    def __deepcopy__(self, memo):
        import copy
        other = TrackedDict()
        memo[id(self)] = other
        other._layer = copy.deepcopy(self._layer, memo)
        for key, value in self.items():
            dict.__setitem__(other, key, copy.deepcopy(value, memo))
        return other

    def __reduce__(self):
        return dict, (dict(self),)


class TrackedSet(set):
    """A set of a layer."""

    def __init__(self, layer=None, values=()):
        self._layer = layer
        super().__init__(tracked(layer, v) for v in values) if layer is not None else super().__init__(values)

    def add(self, value):
        super().add(value if self._layer is None else tracked(self._layer, value))

    def update(self, values):
        for value in values:
            self.add(value)

    def __reduce__(self):
        return set, (set(self),)


_kinds.update({TrackedList: "list", TrackedDict: "dict", TrackedSet: "set"})
