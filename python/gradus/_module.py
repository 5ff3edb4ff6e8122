"""tf.Module: a container that finds its variables."""
import functools

from ._scope import current_scope, name_scope
from ._variable import Variable


def _snake(name):
    import re
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module:
    """The base of objects that own variables and other modules."""

    _TF_MODULE_IGNORED_PROPERTIES = frozenset()

    def __init__(self, name=None):
        if name is not None and not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers.")
        self._name = name or _snake(type(self).__name__)
        self._scope = name_scope(current_scope() + self._name + "/")

    @property
    def name(self):
        return self.__dict__.get("_name") or _snake(type(self).__name__)

    @property
    def name_scope(self):
        """The scope of this module's names, a context."""
        return self.__dict__.get("_scope") or name_scope(self.name + "/")

    @classmethod
    def with_name_scope(cls, method):
        """A decorator: the method runs in the scope of the module."""
        @functools.wraps(method)
        def run(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        return run

    @property
    def variables(self):
        """All variables of this module and of what it contains, in the order of attribute names."""
        return self._flatten(lambda o: isinstance(o, Variable))

    @property
    def trainable_variables(self):
        """Those of them that are trainable."""
        return self._flatten(lambda o: isinstance(o, Variable) and o.trainable)

    @property
    def non_trainable_variables(self):
        return self._flatten(lambda o: isinstance(o, Variable) and not o.trainable)

    @property
    def submodules(self):
        """All modules within this one."""
        return self._flatten(lambda o: isinstance(o, Module))

    def _flatten(self, predicate):
        found, seen = [], {id(self)}
        queue = [self]
        while queue:  # breadth first, as TensorFlow does
            current = queue.pop(0)
            for value in _attributes(current):
                for leaf in _leaves(value):
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    if predicate(leaf):
                        found.append(leaf)
                    if isinstance(leaf, Module):
                        queue.append(leaf)
        return tuple(found)


def _attributes(module):
    ignored = module._TF_MODULE_IGNORED_PROPERTIES
    return [value for key, value in sorted(vars(module).items()) if key not in ignored]


def _leaves(value):
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _leaves(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
