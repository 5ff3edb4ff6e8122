"""Calls, operators and functions inside a function: calls of gradus.autograph._operators, which look at the values.

    f(x) and y           ag__.and_(ag__.call(f)(x), lambda: y)

If and loops are in _statements.
"""
import ast

from ._source import NotConvertible, walk

_LEFT_ALONE = set("super locals globals vars dir eval exec isinstance issubclass hasattr type".split())
_WITHIN = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def rewritten(function):
    """The tree of a function, changed in place; NotConvertible, with nothing changed, if that cannot be."""
    if isinstance(function, ast.Lambda):
        if any(isinstance(n, _WITHIN) for n in walk([function.body])):
            raise NotConvertible("it is a lambda with := or yield")
        function.body = Rewriter(function).visit(function.body)
        return function
    kinds = set(map(type, walk(function.body)))
    if isinstance(function, ast.AsyncFunctionDef) or not kinds.isdisjoint((ast.Yield, ast.YieldFrom)):
        raise NotConvertible("it is a generator or a coroutine")
    if kinds.isdisjoint((ast.If, ast.For, ast.While)):
        function.body = Rewriter(function).block(function.body)
        return function
    from ._statements import StatementRewriter
    return StatementRewriter(function).run()


def mentions(nodes, name):
    return any(getattr(n, "id", getattr(n, "attr", None)) == name for d in nodes for n in ast.walk(d))


class Rewriter(ast.NodeTransformer):
    """One function without if and loops; functions in it get a Rewriter of their own."""

    def __init__(self, function):
        self.function = function
        self.count = 0

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

    def block(self, statements):
        out = []
        for s in statements:
            if isinstance(s, ast.AST):
                made = self.visit(s)
                out += made if isinstance(made, list) else [made] if made is not None else []
            else:  # a name, or None in lists of other things
                out.append(s)
        return out

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
        if mentions(node.decorator_list, "do_not_convert"):
            return node
        try:
            converted = rewritten(node)
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
