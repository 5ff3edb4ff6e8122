"""Name scopes: prefixes of the names of variables."""
from _thread import _local  # threading.local, without loading threading

_open = _local()  # .scopes: the names of the open scopes of a thread, each with those around it and a '/' behind


def current_scope():
    """What the open scopes put before the names of variables: '' or 'outer/inner/'."""
    scopes = getattr(_open, "scopes", None)
    return scopes[-1] if scopes else ""


class name_scope:  # noqa: N801
    """A context that gives a prefix to names. A name that ends in '/' is the whole prefix."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string. Got type {type(name)}")
        self._name = name

    name = property(lambda self: self._name)

    def __enter__(self):
        name = self._name
        scope = name if not name or name.endswith("/") else current_scope() + name + "/"
        if not hasattr(_open, "scopes"):
            _open.scopes = []
        _open.scopes.append(scope)
        return scope

    def __exit__(self, *args):
        _open.scopes.pop()
        return False
