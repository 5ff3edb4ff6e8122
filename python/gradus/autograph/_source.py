"""The syntax tree of a function, found by file and line, so that all of its line numbers are the user's own."""
import ast
import collections
import copy
import inspect
import linecache

_MOST_FILES = 16
_files = collections.OrderedDict()  # (file, text of it) -> its tree, with the class around each function


class NotConvertible(Exception):
    """Why a function is run as it is."""


class _Parents(ast.NodeVisitor):
    """Functions by first line, each with the name of the class it was written in."""

    def __init__(self):
        self.functions = collections.defaultdict(list)
        self._class = None

    def visit_ClassDef(self, node):
        outer, self._class = self._class, node.name
        self.generic_visit(node)
        self._class = outer

    def _function(self, node):
        first = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", ())])
        self.functions[first].append((node, self._class))
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function


def _functions_of(file, lines):
    key = (file, "".join(lines))
    known = _files.get(key)
    if known is None:
        parents = _Parents()
        try:
            parents.visit(ast.parse(key[1]))
        except (SyntaxError, ValueError, RecursionError) as e:
            raise NotConvertible(f"the source could not be parsed: {e}") from None
        known = _files[key] = parents.functions
        while len(_files) > _MOST_FILES:
            _files.popitem(last=False)
    else:
        _files.move_to_end(key)
    return known


def _is_at(node, code):
    """Whether a lambda is the one that this code was compiled from: several may begin in one line."""
    if not hasattr(code, "co_positions"):
        return True
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (column, end_column) == (0, 0):
            continue
        body = node.body
        if (line, column) < (body.lineno, body.col_offset):
            return False
        if (end_line, end_column) > (body.end_lineno, body.end_col_offset):
            return False
    return True


def node_of(function):
    """A copy of the tree of a function, and the name of the class around it or None."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        try:
            lines = inspect.findsource(code)[0]
        except (OSError, TypeError):
            lines = []
    if not lines:
        raise NotConvertible("its source is not available")
    def fits(node):
        if _parameters(node) != _parameters_of(code):
            return False
        if isinstance(node, ast.Lambda):
            return code.co_name == "<lambda>" and _is_at(node, code)
        return node.name == code.co_name

    here = _functions_of(code.co_filename, lines).get(code.co_firstlineno, ())
    found = [(node, of_class) for node, of_class in here if fits(node)]
    if len({ast.dump(node) for node, _ in found}) != 1:  # the same text twice is as good as one
        raise NotConvertible("its source was not found" if not found else "several functions begin in its line")
    node, of_class = found[0]
    return copy.deepcopy(node), of_class


def _parameters(node):
    a = node.args
    named = [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs]
    return named + [p.arg for p in (a.vararg, a.kwarg) if p]


def _parameters_of(code):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])
