"""What converted code calls, under the name ag__. What not every function has is loaded when it is first called."""
from ._branches import if_stmt, no_value, read, returned, undefined  # noqa: F401
from ._builtins import call, iterated  # noqa: F401
from ._convert import mark  # noqa: F401

_LOOPS = ("for_stmt", "options", "while_stmt")


def __getattr__(name):
    if name in _LOOPS:
        from . import _loops as place
    else:
        from . import _expressions as place
    found = globals()[name] = getattr(place, name)
    return found
