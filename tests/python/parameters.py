"""Which parameters of the Python functions of a tree are never read: a parameter that is taken and ignored is an answer
to another question than the one that was asked.

    unread(folder, skip)  ->  {"file.py:Class.function": {"parameter", ...}}
    check(folder, allowed, skip)  ->  a list of sentences, empty if all is well

A parameter counts as read where its name is loaded, in the function or in one inside it, unless what is loaded cannot
matter: `del x`, `_ = x`, `x = x`, `x` as a statement, a branch that holds only `pass`. A parameter that is given another
value before anything reads it is not read either. Functions that only raise answer nothing and are left out, as is what
is defined inside of functions. Names with one underscore are private: their callers are in the tree, and what these hand
down must arrive, so private functions count as well.

`allowed` maps "file.py:Class.function.parameter", "file.py:Class.*.parameter" or "*.parameter" to a reason that a user
would accept. An entry that nothing needs any more is reported, so that the list stays true.
"""
import ast
import fnmatch
import pathlib

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _parameters(function):
    a = function.args
    named = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    stars = [p.arg for p in (a.vararg, a.kwarg) if p]
    return named + stars


def _statements(function):
    """The body without its docstring."""
    first = function.body[0]
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return function.body[is_doc:]


def _only_raises(function):
    return any(isinstance(s, ast.Raise) for s in _statements(function)[:1])


def _does_nothing(statement):
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _cannot_matter(node):
    """Whether a statement reads names without using them."""
    if isinstance(node, ast.Expr):
        return all(isinstance(part, (ast.Name, ast.Tuple, ast.List, ast.expr_context)) for part in ast.walk(node.value))
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if all(isinstance(t, ast.Name) and t.id == "_" for t in targets):
            return not any(isinstance(part, (ast.Call, ast.Await, ast.Yield)) for part in ast.walk(node.value))
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Name):
            return target.id == node.value.id
    if isinstance(node, ast.If):
        return all(map(_does_nothing, node.body + node.orelse))
    return isinstance(node, ast.Delete)


class _Reads(ast.NodeVisitor):
    """Names that are loaded; names that get a value before that, where the way there is straight."""

    def __init__(self):
        self.read, self.lost = set(), set()

    def visit(self, node):
        if isinstance(node, ast.stmt) and _cannot_matter(node):
            return
        super().visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id not in self.lost:
            self.read.add(node.id)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.visit_Name(ast.Name(node.target.id, ast.Load()))
        else:
            self.visit(node.target)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars") and not node.args:
            self.read.add("*")
        self.generic_visit(node)

    def _inner(self, node):
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults), *getattr(node, "decorator_list", ())):
            self.visit(default)
        inner, own = _Reads(), set(_parameters(node))
        inner.lost = self.lost - own
        for part in node.body if isinstance(node.body, list) else [node.body]:
            inner.visit(part)
        self.read |= inner.read - own

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _inner

    def body(self, statements):
        """Of a function: what a plain assignment at its top hides is lost from there on."""
        for statement in statements:
            self.visit(statement)
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                    self.lost |= {t.id for t in names if isinstance(t, ast.Name)} - self.read


def unread_of(function):
    """The parameters of one function that nothing in it reads."""
    if _only_raises(function):
        return set()
    reads = _Reads()
    reads.body(_statements(function))
    if "*" in reads.read:
        return set()
    wanted = [p for p in _parameters(function) if p not in ("self", "cls", "_") and not p.startswith("__")]
    return {p for p in wanted if p not in reads.read}


def _functions(body, prefix=""):
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, prefix + node.name + ".")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _functions([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])], prefix)


def unread(folder, skip=()):
    """All parameters below a folder that are never read, by function. `skip` are folders below it."""
    folder, found = pathlib.Path(folder), {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if any(name.startswith(s.rstrip("/") + "/") for s in skip):
            continue
        for function, node in _functions(ast.parse(path.read_text(encoding="utf-8")).body):
            names = unread_of(node)
            if names:
                found.setdefault(f"{name}:{function}", set()).update(names)
    return found


def check(folder, allowed, skip=()):
    """What is wrong: parameters that are ignored without a reason, and reasons that nothing needs."""
    wrong, used = [], set()
    for function, names in unread(folder, skip).items():
        for name in sorted(names):
            whole = f"{function}.{name}"
            rules = [rule for rule in allowed if fnmatch.fnmatchcase(whole, rule)]
            used.update(rules)
            if not rules:
                wrong.append(f"{whole} is taken and ignored: use it, refuse it, or say why in the list of the test")
    wrong += [f"{rule}: nothing needs this entry any more" for rule in allowed if rule not in used]
    wrong += [f"{rule}: the reason is missing" for rule, reason in allowed.items() if len(str(reason).split()) < 3]
    return wrong
