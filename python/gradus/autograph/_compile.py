"""How a tree becomes a function's code that shares the variables of the original."""
import ast
import types

from ._rewrite import rewritten
from ._source import NotConvertible, node_of


def converted_tree(function):
    """The converted syntax tree of a function and the class it was written in; NotConvertible says why there is none."""
    node, of_class = node_of(function)
    try:
        node = rewritten(node)
    except RecursionError:
        raise NotConvertible("it is nested too deeply") from None
    return node, of_class


def compiled(function):
    """The converted code of a function, or the reason why there is none."""
    try:
        node, of_class = converted_tree(function)
    except NotConvertible as e:
        return str(e)
    code = function.__code__
    if isinstance(node, ast.Lambda):
        _strip(node.args)
        definition = ast.copy_location(ast.Expr(node), node)
    else:
        node.decorator_list, node.returns = [], None
        node.name = "ag__function"  # its own name must not become a local one of the factory
        _strip(node.args)
        definition = node
    if of_class is not None:  # for names that begin with two underscores
        definition = ast.copy_location(ast.ClassDef(of_class, [], [], [definition], []), definition)
    free = [n for n in ("ag__",) + code.co_freevars if n != "__class__" or of_class is None]
    bind = ast.parse("def ag__factory():\n  " + " = ".join(free) + " = None")
    for n in ast.walk(bind):
        if hasattr(n, "lineno"):
            n.lineno = n.end_lineno = definition.lineno
    bind.body[0].body.append(definition)
    ast.fix_missing_locations(bind)
    made = compile(bind, code.co_filename, "exec", _future(code.co_flags), True)
    made = _inner_code(_inner_code(made))
    if of_class is not None:
        made = _inner_code(made)
    return _renamed(made, code.co_name, getattr(code, "co_qualname", code.co_name))


def _future(flags):
    """Those flags of a code that stand for `from __future__ import`."""
    if flags < 0x20000:
        return 0
    import __future__
    known = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
    return sum(flags & flag for flag in known if flag >= 0x20000)


def _strip(arguments):
    """Defaults and annotations belong to the function, not to its code."""
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    arguments.defaults = []
    everything = arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]
    for a in everything:
        if a is not None:
            a.annotation = None


def _inner_code(code):
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _renamed(code, name, qualname):
    """Pieces of a function carry its name, so that tracebacks read as if nothing had happened."""
    def one(constant):
        is_piece = isinstance(constant, types.CodeType) and constant.co_name.startswith("ag__")
        return _renamed(constant, name, qualname) if is_piece else constant
    constants = tuple(map(one, code.co_consts))
    names = {"co_name": name}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = qualname
    return code.replace(co_consts=constants, **names)
