"""Statements and expressions that may depend on tensors become calls of gradus.autograph._operators.

    if c: y = a          def ag__then_1():                       # y is the variable of the function around
    else: y = b              nonlocal y
                             y = a
                         ...
                         ag__.if_stmt(c, ag__then_1, ag__else_1, ag__get_1, ag__set_1, ('y',), 1, 0)

The pieces are functions in the function, so that Python itself keeps the variables. if_stmt looks at c. If it is no
traced tensor, one piece is called and nothing else happens. Otherwise both are traced, and ag__get, ag__set move what
they assigned in and out. The numbers say how many of the names are read afterwards, and how many are only
captured by functions.
"""
import ast

from ._lower import check_jumps, lower, walk
from ._names import Liveness, Scope, bound, bound_paths
from ._source import NotConvertible

_LEFT_ALONE = set("super locals globals vars dir eval exec isinstance issubclass hasattr type".split())
_WITHIN = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def _mentions(nodes, name):
    return any(getattr(n, "id", getattr(n, "attr", None)) == name for d in nodes for n in ast.walk(d))


def _is_options(s):
    return (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and
            _mentions([s.value.func], "set_loop_options"))


class Rewriter(ast.NodeTransformer):
    """One function; functions in it get a Rewriter of their own."""

    def __init__(self, function):
        self.function = function
        self.count = 0
        self.declared = set()

    def run(self):
        f = self.function
        if isinstance(f, ast.Lambda):
            if any(isinstance(n, _WITHIN) for n in walk([f.body])):
                raise NotConvertible("it is a lambda with := or yield")
            f.body = self.visit(f.body)
            return f
        kinds = set(map(type, walk(f.body)))
        if isinstance(f, ast.AsyncFunctionDef) or not kinds.isdisjoint((ast.Yield, ast.YieldFrom)):
            raise NotConvertible("it is a generator or a coroutine")
        if kinds.isdisjoint((ast.If, ast.For, ast.While)):
            f.body = self.block(f.body)
            return f
        check_jumps(f)
        lower(f)
        self.scope = Scope(f)
        Liveness(self.scope).block(f.body, set())
        f.body = self.block(f.body)
        declared = sorted(self.declared & (self.scope.locals - self.scope.parameters))
        if declared:  # binds the names in this function without doing anything
            f.body[:0] = self._scaffold("if 0: " + " = ".join(declared) + " = None", f.body[0])
        return f

    def generic_visit(self, node):
        """What NodeTransformer does, without leaves such as Load, which are half of a tree."""
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                value[:] = self.block(value)
            elif isinstance(value, ast.AST) and value._fields:
                made = self.visit(value)
                if made is not value:
                    setattr(node, name, made)
        return node

    # ------------------------------------------------------------------------------------------------- statements

    def block(self, statements):
        out = []
        for s in statements:
            if isinstance(s, ast.AST):
                made = self.visit(s)
                out += made if isinstance(made, list) else [made] if made is not None else []
            else:  # a name, or None in lists of other things
                out.append(s)
        return out

    def _scaffold(self, text, like, **parts):
        """Statements from text, at the place of another; functions and names in `parts` are filled in."""
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.lineno, node.col_offset = like.lineno, like.col_offset
                node.end_lineno, node.end_col_offset = like.lineno, like.col_offset + 1
            if isinstance(node, ast.FunctionDef) and node.name in parts:
                keep = [s for s in node.body if isinstance(s, (ast.Nonlocal, ast.Global))]
                node.body = keep + (parts.pop(node.name) or [ast.copy_location(ast.Pass(), like)])
        return _Fill(parts).visit(tree).body

    def _declare(self, names):
        """Lines that make names those of the function around."""
        self.declared |= names
        lines = []
        own = sorted(names - self.scope.globals)
        if own:
            lines.append("nonlocal " + ", ".join(own))
        other = sorted(names & self.scope.globals)
        if other:
            lines.append("global " + ", ".join(other))
        return lines

    def _state(self, nodes, live, s, number):
        """The text of ag__get and ag__set, the names, how many are live and how many captured."""
        names = bound(nodes) | self.scope.written_inside
        paths = {p: n for p, n in bound_paths(nodes).items() if _root(n) not in names}
        hard = sorted(names & live) + sorted(paths)
        soft = sorted((names - live) & s.ag_soft)
        rest = sorted(names - live - s.ag_soft)
        order = hard + soft + rest
        simple = [n for n in order if n not in paths]
        lines = [f"def ag__get_{number}():",
                 "  return (" + "".join(f"ag__.read(lambda: {n}), " for n in order) + ")",
                 f"def ag__set_{number}(ag__state):"]
        lines += ["  " + line for line in self._declare(set(simple))]
        targets = [f"ag__path_{order.index(n)}" if n in paths else n for n in order]
        lines.append("  (" + "".join(t + ", " for t in targets) + ") = ag__state" if order else "  pass")
        for n, t in zip(order, targets):
            if n in paths:
                lines += [f"  if ag__.read(lambda: {n}) is not {t}:", f"    if {t} is ag__.undefined: del {n}",
                          f"    else: {n} = {t}"]
            else:
                lines.append(f"  if {n} is ag__.undefined: del {n}")
        return lines, f"{tuple(order)!r}, {len(hard)}, {len(soft)}", set(simple)

    def _piece(self, name, nodes, parameters=""):
        lines = [f"def {name}({parameters}):"]
        lines += ["  " + line for line in self._declare(bound(nodes))]
        return lines + ["  pass"]

    def visit_If(self, s):
        self.count += 1
        k = self.count
        state, names, _ = self._state(s.body + s.orelse, s.ag_live, s, k)
        lines = self._piece(f"ag__then_{k}", s.body) + self._piece(f"ag__else_{k}", s.orelse) + state
        lines.append(f"ag__.if_stmt(ag__test, ag__then_{k}, ag__else_{k}, ag__get_{k}, ag__set_{k}, {names})")
        return self._scaffold("\n".join(lines), s, **{
            f"ag__then_{k}": self.block(s.body), f"ag__else_{k}": self.block(s.orelse), "ag__test": self.visit(s.test)})

    def _loop_state(self, s, nodes, k):
        # Names that neither the next turn nor what comes later reads belong to one turn.
        return self._state(nodes, s.ag_live | s.ag_head, s, k)

    def _options(self, s):
        options = next((t for t in s.body if _is_options(t)), None)
        if options is None:
            return ast.copy_location(ast.Constant(None), s)
        s.body = [t for t in s.body if t is not options] or [ast.copy_location(ast.Pass(), s)]
        call = ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), "options", ast.Load()), options.value.args,
                        options.value.keywords)
        return ast.fix_missing_locations(ast.copy_location(call, options))

    def visit_While(self, s):
        self.count += 1
        k = self.count
        options = self._options(s)
        go_on = getattr(s, "ag_go_on", None)
        test = s.test if go_on is None else ast.copy_location(ast.BoolOp(ast.And(), [go_on, s.test]), s.test)
        state, names, _ = self._loop_state(s, s.body + [s.test], k)
        lines = self._piece(f"ag__test_{k}", [s.test]) + self._piece(f"ag__body_{k}", s.body) + state
        lines.append(f"ag__.while_stmt(ag__test_{k}, ag__body_{k}, ag__get_{k}, ag__set_{k}, {names}, ag__options)")
        answer = ast.copy_location(ast.Return(self.visit(test)), s.test)
        return self._scaffold("\n".join(lines), s, **{
            f"ag__test_{k}": [answer], f"ag__body_{k}": self.block(s.body), "ag__options": options})

    def visit_For(self, s):
        self.count += 1
        k = self.count
        options = self._options(s)
        take = ast.Assign([s.target], ast.copy_location(ast.Name("ag__item", ast.Load()), s.target))
        ast.copy_location(take, s.target)
        state, names, _ = self._loop_state(s, s.body + [s.target], k)
        lines = self._piece(f"ag__body_{k}", s.body + [s.target], "ag__item") + state
        go_on = "None"
        parts = {f"ag__body_{k}": [take] + self.block(s.body), "ag__options": options,
                 "ag__iterable": self._iterable(s.iter)}
        if getattr(s, "ag_go_on", None) is not None:
            go_on = f"ag__go_on_{k}"
            lines += self._piece(go_on, [])
            parts[go_on] = [ast.copy_location(ast.Return(self.visit(s.ag_go_on)), s)]
        lines.append(f"ag__.for_stmt(ag__iterable, ag__body_{k}, {go_on}, ag__get_{k}, ag__set_{k}, {names}, "
                     "ag__options)")
        return self._scaffold("\n".join(lines), s, **parts)

    def _iterable(self, node):
        if isinstance(node, ast.Call):  # ranges of tensors need not be made
            node.func = self._call("iterated", [self.visit(node.func)], node.func)
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(a) for a in node.keywords]
            return node
        return self.visit(node)

    def visit_Assert(self, s):
        if any(isinstance(n, _WITHIN) for n in ast.walk(s)):
            return self.generic_visit(s)
        message = self._lambda(self.visit(s.msg) if s.msg is not None else ast.copy_location(ast.Constant(None), s))
        return ast.copy_location(ast.Expr(self._call("assert_stmt", [self.visit(s.test), message], s)), s)

    def visit_AnnAssign(self, s):
        if not isinstance(s.target, ast.Name):
            return self.generic_visit(s)
        if s.value is None:
            return None
        return ast.copy_location(ast.Assign([s.target], self.visit(s.value)), s)

    def _leave(self, node):
        return node

    visit_ClassDef = visit_AsyncFunctionDef = visit_Global = visit_Nonlocal = visit_Name = visit_Constant = _leave

    def visit_FunctionDef(self, node):
        if _mentions(node.decorator_list, "do_not_convert"):
            return node
        try:
            converted = Rewriter(node).run()
        except NotConvertible:
            return node
        mark = ast.Attribute(ast.Name("ag__", ast.Load()), "mark", ast.Load())
        node.decorator_list.append(ast.fix_missing_locations(ast.copy_location(mark, node)))
        return converted

    # ------------------------------------------------------------------------------------------------ expressions

    def _call(self, name, arguments, like):
        target = ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())
        call = ast.copy_location(ast.Call(target, arguments, []), like)
        ast.copy_location(target, like)
        ast.copy_location(target.value, like)
        return call

    @staticmethod
    def _lambda(body, parameters=()):
        arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        return ast.fix_missing_locations(ast.copy_location(ast.Lambda(arguments, body), body))

    def visit_Lambda(self, node):
        if any(isinstance(n, _WITHIN) for n in walk([node.body])):
            return node
        node.body = self.visit(node.body)
        return self._call("mark", [node], node)

    def visit_BoolOp(self, node):
        if any(isinstance(n, _WITHIN) for v in node.values[1:] for n in ast.walk(v)):
            return self.generic_visit(node)
        first, *rest = [self.visit(v) for v in node.values]
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._call(name, [first] + [self._lambda(v) for v in rest], node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self._call("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        if any(isinstance(n, _WITHIN) for v in (node.body, node.orelse) for n in ast.walk(v)):
            return self.generic_visit(node)
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return self._call("if_exp", [test, self._lambda(body), self._lambda(orelse)], node)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 or any(isinstance(n, _WITHIN) for n in ast.walk(node)):
            return node
        # a < b < c: each is evaluated once, and only as far as needed.
        return self._chain(node.left, list(zip(node.ops, node.comparators)), node)

    def _chain(self, left, rest, like):
        self.count += 1
        a, b = f"ag__left_{self.count}", f"ag__right_{self.count}"
        (op, right), *more = rest
        name = lambda n: ast.copy_location(ast.Name(n, ast.Load()), like)  # noqa: E731
        test = ast.copy_location(ast.Compare(name(a), [op], [name(b)]), like)
        if len(more) == 1:
            last = ast.copy_location(ast.Compare(name(b), [more[0][0]], [more[0][1]]), like)
        else:
            last = self._chain(name(b), more, like)
        both = self._call("and_", [test, self._lambda(last)], like)
        call = ast.Call(self._lambda(both, (a, b)), [left, right], [])
        return ast.fix_missing_locations(ast.copy_location(call, like))

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            if node.func.id == "super" and not node.args:
                return self._super(node)
            if node.func.id in _LEFT_ALONE:
                return node
        node.func = self._call("call", [node.func], node.func)
        return node

    def _super(self, node):
        """super() looks at the first argument of the function it is in, which may be one of our pieces."""
        first = next(iter(getattr(self.function.args, "posonlyargs", []) + self.function.args.args), None)
        if first is not None:
            node.args = [ast.Name("__class__", ast.Load()), ast.Name(first.arg, ast.Load())]
            ast.fix_missing_locations(node)
        return node


class _Fill(ast.NodeTransformer):
    def __init__(self, parts):
        self.parts = parts

    def visit_Name(self, node):
        return self.parts.get(node.id, node)

    def visit_FunctionDef(self, node):
        return node


def _root(path):
    while not isinstance(path, ast.Name):
        path = path.value
    return path.id
