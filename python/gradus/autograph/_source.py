"""The syntax tree of a function, found by file and line, so that all of its line numbers are the user's own.

Only the lines of the function are parsed, if they make sense alone; parsing a file of 600 lines takes longer than
tracing and compiling a model. A lambda in the middle of a statement, or text that reaches to the left of where the
function begins, is looked up in the tree of the whole file.
"""
import ast
import collections
import linecache

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = _FUNCTIONS + (ast.ClassDef,)
_VARARGS, _VARKEYWORDS = 4, 8  # flags of code objects
_MOST_FILES = 16
_files = collections.OrderedDict()  # (file, text of it) -> its tree


class NotConvertible(Exception):
    """Why a function is run as it is."""


def node_of(function):
    """A tree of the function for the caller to change, and the name of the class around it or None."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise NotConvertible("its source is not available")
    is_lambda = code.co_name == "<lambda>"
    positions = _positions(code) if is_lambda else []
    node = None
    if positions or not is_lambda:
        node = _only_one(_parsed(_own_lines(lines, code.co_firstlineno)), code, positions)
    if node is None:
        import copy
        tree = _whole_file(code.co_filename, "".join(lines))
        node = copy.deepcopy(_only_one(tree, code, positions))
        if node is None:
            found = _fitting(tree, code, positions)
            raise NotConvertible("several functions begin in its line" if found else "its source was not found")
    return node, _class_in(getattr(code, "co_qualname", function.__qualname__))


def walk(nodes):
    """These nodes and all below them; of functions and classes in them only the nodes themselves."""
    found, todo = [], list(nodes)
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, SCOPES):
            for name in node._fields:
                value = getattr(node, name, None)
                if type(value) is list:
                    todo += [v for v in value if isinstance(v, ast.AST)]
                elif isinstance(value, ast.AST) and value._fields:
                    todo.append(value)
    return found


def _own_lines(lines, first):
    """The text of the statement that begins in a line, in the same line and columns as in the file.

    It ends before the first line that is not indented more. If that line is no statement but the inside of a string
    or of brackets, or if the statement began earlier, the text is wrong and cannot be parsed.
    """
    text = lines[first - 1] if first <= len(lines) else ""
    indent = text[:len(text) - len(text.lstrip())]
    end = first
    if text.startswith("@", len(indent)):
        while end < len(lines) and not lines[end].startswith(("def ", "async def "), len(indent)):
            end += 1
        end += 1
    while end < len(lines) and _goes_on(lines[end], indent):
        end += 1
    if not indent:
        return "\n" * (first - 1) + "".join(lines[first - 1:end])
    return "\n" * (first - 2) + "if 1:\n" + "".join(lines[first - 1:end])


def _goes_on(line, indent):
    rest = line.lstrip()
    return not rest or rest[0] == "#" or line.startswith(indent) and line[len(indent)] in " \t)]}"


def _parsed(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _whole_file(file, text):
    key = file, text
    tree = _files.get(key)
    if tree is None:
        try:
            tree = _files[key] = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as e:
            raise NotConvertible(f"the source could not be parsed: {e}") from None
        while len(_files) > _MOST_FILES:
            _files.popitem(last=False)
    else:
        _files.move_to_end(key)
    return tree


def _only_one(tree, code, positions):
    """The function in the tree that this code was compiled from; None if there are several or none."""
    found = _fitting(tree, code, positions) if tree is not None else ()
    if len(found) > 1 and len({ast.dump(node) for node in found}) != 1:  # the same text twice is as good as one
        return None
    return found[0] if found else None


def _fitting(tree, code, positions):
    parameters = _parameters_of(code)
    return [node for node in _beginning_at(tree, code.co_firstlineno)
            if _parameters(node) == parameters and (
                code.co_name == "<lambda>" and _is_at(node, positions) if isinstance(node, ast.Lambda) else
                node.name == code.co_name)]


def _beginning_at(tree, line):
    """The functions whose first line, decorators included, this is."""
    found, todo = [], [tree]
    while todo:
        node = todo.pop()
        first = min([getattr(node, "lineno", line)] + [d.lineno for d in getattr(node, "decorator_list", ())])
        if first > line or getattr(node, "end_lineno", line) < line:
            continue
        if first == line and isinstance(node, _FUNCTIONS):
            found.append(node)
        todo.extend(ast.iter_child_nodes(node))
    return found


def _positions(code):
    """The places in the text that the instructions of a code are from, as far as they are known."""
    if not hasattr(code, "co_positions"):
        return []
    return [(line, end_line, column, end_column) for line, end_line, column, end_column in code.co_positions()
            if None not in (line, end_line, column, end_column) and (column, end_column) != (0, 0)]


def _is_at(node, positions):
    """Whether a lambda is the one that instructions at these places are from: several may begin in one line."""
    body = node.body
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(begin <= (line, column) and (end_line, end_column) <= end
               for line, end_line, column, end_column in positions)


def _class_in(qualname):
    """The innermost class around a function: names before <locals> are functions."""
    parts = qualname.split(".")
    around = [name for name, after in zip(parts, parts[1:]) if name != "<locals>" and after != "<locals>"]
    return around[-1] if around else None


def _parameters(node):
    a = node.args
    named = [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs]
    return named + [p.arg for p in (a.vararg, a.kwarg) if p]


def _parameters_of(code):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    return list(code.co_varnames[:count])
