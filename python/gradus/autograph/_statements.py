"""If and loops become calls of gradus.autograph._operators.

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

from ._lower import check_jumps, lower
from ._names import Liveness, Scope, bound, bound_paths
from ._rewrite import Rewriter, mentions


def _is_options(s):
    return (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and
            mentions([s.value.func], "set_loop_options"))


class StatementRewriter(Rewriter):
    """One function with if and loops."""

    def __init__(self, function):
        super().__init__(function)
        self.declared = set()

    def run(self):
        f = self.function
        check_jumps(f)
        lower(f)
        self.scope = Scope(f)
        Liveness(self.scope).block(f.body, set())
        f.body = self.block(f.body)
        declared = sorted(self.declared & (self.scope.locals - self.scope.parameters))
        if declared:  # binds the names in this function without doing anything
            f.body[:0] = self._scaffold("if 0: " + " = ".join(declared) + " = None", f.body[0])
        return f

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
