"""Values of variables that do not exist yet: they are given when the variables appear.

As long as values wait, the places where objects get parts (attributes of modules and layers, variables of layers, state
of optimizers) look whether one of the parts is waited for. When nothing waits, nothing is looked at.
"""
import contextlib
import functools
import sys
import weakref

from .._module import Module

_waiting = weakref.WeakSet()  # statuses of restores with values left
_hooks = []  # (class, name, what was there or None)
_busy = False


def wait(status, owners):
    """From now on, whenever an object gets a new part, status.retry() is called; as long as one of the owners lives."""
    _waiting.add(status)
    for owner in owners:
        with contextlib.suppress(AttributeError, TypeError):
            object.__setattr__(owner, "_waits_for_values", status)
    if not _hooks:
        _install()


def done(status):
    _waiting.discard(status)
    if not _waiting:
        _remove()


def look():
    """An object has got a part."""
    global _busy
    if _busy or not _hooks:
        return
    _busy = True
    try:
        for status in list(_waiting):
            status.retry()
        if not _waiting:
            _remove()
    finally:
        _busy = False


def _after(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        look()
        return result
    return call


def _places():
    yield Module, "__setattr__"
    if "gradus.keras._layer" in sys.modules:
        from ..keras._layer import Layer
        yield Layer, "__setattr__"
        yield Layer, "_track"
    if "gradus.keras.optimizers" in sys.modules:
        from ..keras.optimizers import Optimizer
        pending = [Optimizer]
        while pending:
            cls = pending.pop()
            pending += cls.__subclasses__()
            if "build" in vars(cls):
                yield cls, "build"


def _install():
    for cls, name in _places():
        before = vars(cls).get(name)
        _hooks.append((cls, name, before))
        setattr(cls, name, _after(before if before is not None else getattr(cls, name)))


def _remove():
    while _hooks:
        cls, name, before = _hooks.pop()
        if before is None:
            delattr(cls, name)
        else:
            setattr(cls, name, before)
