"""tf.autograph: Python's control flow inside traced functions.

While a function is traced, its source is rewritten so that `if`, `while`, `for`, `and` and their like ask at each place
whether a traced tensor decides. If one does, all ways become a part of the program; if not, Python goes its usual way.
docs/design/012-autograph.md says how.
"""
from . import experimental  # noqa: F401
from ._convert import do_not_convert  # noqa: F401

__all__ = ["experimental", "do_not_convert", "set_verbosity", "to_code", "to_graph", "trace"]


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The function, converted; ValueError if it cannot be."""
    from ._convert import code_of, converted
    made = converted(entity, True)
    if made is entity and hasattr(entity, "__code__"):
        reason = code_of(entity)
        if isinstance(reason, str):
            raise ValueError(f"{entity!r} cannot be converted: {reason}")
    return made


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The text of the converted function."""
    import ast

    from ._compile import NotConvertible, converted_tree
    entity = getattr(entity, "python_function", entity)
    entity = getattr(entity, "__func__", entity)
    try:
        return ast.unparse(converted_tree(entity)[0]) + "\n"
    except NotConvertible as e:
        raise ValueError(f"{entity!r} cannot be converted: {e}") from None


def set_verbosity(level, alsologtostdout=False):
    """Accepted: there is no log; errors name the user's lines."""


def trace(*args):
    """Prints the arguments while a function is traced."""
    print(*args)
