"""Which names a piece of a function binds, reads, and needs afterwards."""
import ast

from ._lower import blocks_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def path_of(node):
    """An attribute or item with a fixed way to it, as text: self.x, d['a']. None for others."""
    if isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) else path_of(node.value)
        return base and f"{base}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = node.value.id if isinstance(node.value, ast.Name) else path_of(node.value)
        return base and f"{base}[{node.slice.value!r}]"
    return None


class Scope:
    """What the whole of a function says about its names."""

    def __init__(self, function):
        self.globals, self.nonlocals = set(), set()
        self.captured, self.written_inside = set(), set()  # by functions in the function
        a = function.args
        self.parameters = {p.arg for p in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg] if p}
        self._declarations(function.body)
        self.locals = (self.parameters | bound(function.body)) - self.globals - self.nonlocals
        for inner in _inner(function.body):
            free, written = _free(inner)
            self.captured |= free
            self.written_inside |= written
        self.written_inside &= self.locals | self.nonlocals

    def _declarations(self, statements):
        for s in statements:
            if isinstance(s, ast.Global):
                self.globals.update(s.names)
            elif isinstance(s, ast.Nonlocal):
                self.nonlocals.update(s.names)
            for block in blocks_of(s):
                self._declarations(block)

    def always_live(self):
        """What others may read at any time. Captured names are left to whoever merges: most are not read again."""
        return self.globals | self.nonlocals | self.written_inside


def _inner(statements):
    """The functions and classes that are defined directly in a function."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, _FUNCTIONS + (ast.Lambda, ast.ClassDef)):
            yield node
        else:
            stack.extend(ast.iter_child_nodes(node))


def _free(node):
    """Names that a function or class uses from around it, and those of them that it binds there."""
    if isinstance(node, ast.ClassDef):
        free, written = set(), set()
        for inner in _inner(node.body):
            f, w = _free(inner)
            free, written = free | f, written | w
        read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return free | read, written
    if isinstance(node, ast.Lambda):
        names = {n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)}
        return names - _parameters(node), set()
    scope = Scope(node)
    names = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)} | scope.nonlocals
    written = set(scope.nonlocals)
    for inner in _inner(node.body):
        written |= _free(inner)[1] - scope.locals
    return names - scope.locals - scope.globals, written


def _parameters(node):
    a = node.args
    return {p.arg for p in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg] if p}


class _Bound(ast.NodeVisitor):
    def __init__(self):
        self.names, self.paths = set(), {}

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names.add(node.id)

    def _path(self, node):
        if isinstance(node.ctx, ast.Store):
            path = path_of(node)
            if path:
                self.paths[path] = node
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _path

    def visit_FunctionDef(self, node):
        self.names.add(node.name)
        for d in node.decorator_list + node.args.defaults + [d for d in node.args.kw_defaults if d]:
            self.visit(d)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.names.add(node.name)

    def visit_Lambda(self, node):
        pass

    def _comprehension(self, node):
        for n in ast.walk(node):  # only := reaches out of it
            if isinstance(n, ast.NamedExpr):
                self.names.add(n.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _import(self, node):
        for alias in node.names:
            self.names.add(alias.asname or alias.name.split(".")[0])

    visit_Import = visit_ImportFrom = _import

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def _capture(self, node):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.names.add(name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _capture


def bound(nodes):
    """The names that these statements or expressions bind."""
    return _bound(nodes).names


def bound_paths(nodes):
    """The attributes and items that they assign, by text."""
    return _bound(nodes).paths


def _bound(nodes):
    visitor = _Bound()
    for n in nodes:
        visitor.visit(n)
    return visitor


def _read(node):
    """The names that an expression, or a statement without blocks, may read."""
    names = set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, (ast.Load, ast.Del)) else names
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    for child in ast.iter_child_nodes(node):
        names |= _read(child)
    if isinstance(node, _COMPREHENSIONS):
        names -= {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    elif isinstance(node, ast.Lambda):
        names -= _parameters(node)
    return names


class Liveness:
    """Writes on every if and loop what is read after it (ag_live), and on loops what the next turn reads (ag_head).

    What may be read (ag_soft) is what functions have captured, and what comes after a `with` around: it may swallow an
    exception.
    """

    def __init__(self, scope):
        self.always, self.soft = scope.always_live(), scope.captured

    def block(self, statements, live):
        for s in reversed(statements):
            live = self.statement(s, live) | self.always
        return live

    def statement(self, s, live):
        if isinstance(s, ast.If):
            s.ag_live, s.ag_soft = live | self.always, self.soft
            return _read(s.test) | self.block(s.body, live) | self.block(s.orelse, live)
        if isinstance(s, (ast.While, ast.For)):
            return self._loop(s, live)
        if isinstance(s, (ast.Return, ast.Raise)):
            return _read(s)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            outer, self.soft = self.soft, self.soft | live
            live = self.block(s.body, live)
            self.soft = outer
            for item in reversed(s.items):
                if item.optional_vars is not None:
                    live = live - bound([item.optional_vars]) | _read(item.optional_vars)
                live = live | _read(item.context_expr)
            return live
        if isinstance(s, ast.Try) or type(s).__name__ == "TryStar":
            return self._try(s, live)
        if type(s).__name__ == "Match":
            return _read(s.subject).union(*[
                _read(c.pattern) | (_read(c.guard) if c.guard else set()) | self.block(c.body, live) for c in s.cases])
        if isinstance(s, _FUNCTIONS + (ast.ClassDef,)):
            return live - {s.name} | {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}
        return live - _killed(s) | _read(s)

    def _loop(self, s, live):
        tested = _read(s.ag_go_on) if getattr(s, "ag_go_on", None) is not None else set()
        if isinstance(s, ast.While):
            tested |= _read(s.test)
        s.ag_live, s.ag_soft = live | self.always, self.soft
        head = live | tested | self.always
        while True:
            inside = self.block(s.body, head)
            if isinstance(s, ast.For):
                inside = inside - bound([s.target]) | _read(s.target)
            if inside <= head:
                break
            head = head | inside
        s.ag_head = head
        return head | _read(s.iter) if isinstance(s, ast.For) else head

    def _try(self, s, live):
        after = self.block(s.finalbody, live)
        handlers = set()
        for h in s.handlers:
            handlers |= self.block(h.body, after) | (_read(h.type) if h.type is not None else set())
        # From any place inside, control may come to the handlers or to what comes last.
        outer, self.always = self.always, self.always | handlers | after
        inside = self.block(s.body, self.block(s.orelse, after))
        self.always = outer
        return inside


def _killed(s):
    """What a simple statement surely overwrites."""
    if isinstance(s, ast.AugAssign) or isinstance(s, ast.AnnAssign) and s.value is None:
        return set()
    return bound([s]) - {n.target.id for n in ast.walk(s) if isinstance(n, ast.NamedExpr)}
