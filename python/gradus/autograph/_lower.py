"""Jumps as flags: after this pass a function has no break or continue, and returns only at its end.

    if c: return a              if c: value, done = a, True
    rest                 ->     else: rest
                                return value

A jump sets its flag, and what would have been jumped over is put behind a test of the flags, or into the branch that
does not jump. Loops test the flags of break and return; an `else` of a loop is an `if` after it.
"""
import ast

from ._source import SCOPES, NotConvertible, walk

NEVER, MAYBE, ALWAYS = range(3)  # whether a block jumps out of itself

RETURNED, VALUE = "ag__returned", "ag__value"


def _has(statements, kinds, into_loops=True):
    for s in statements:
        if isinstance(s, kinds):
            return True
        blocks = blocks_of(s)
        if not into_loops and isinstance(s, (ast.For, ast.While)):
            blocks = [s.orelse]  # a break there is one of the loop around
        if any(_has(block, kinds, into_loops) for block in blocks):
            return True
    return False


def blocks_of(statement):
    """The lists of statements in a statement."""
    if isinstance(statement, SCOPES):
        return []
    blocks = [getattr(statement, name) for name in ("body", "orelse", "finalbody") if getattr(statement, name, None)]
    for part in getattr(statement, "handlers", []) + getattr(statement, "cases", []):
        blocks.append(part.body)
    return blocks


def _name(name, like, store=False):
    return ast.copy_location(ast.Name(name, ast.Store() if store else ast.Load()), like)


def assign(name, value, like):
    if not isinstance(value, ast.AST):
        value = ast.copy_location(ast.Constant(value), like)
    return ast.copy_location(ast.Assign([_name(name, like, True)], value), like)


class _Lowering:
    def __init__(self):
        self.loops = []  # (flag of break, flag of continue) of the loops around
        self.count = 0
        self.last_return = None

    def block(self, statements):
        """The statements without jumps, whether they jump, and which flags they may have set."""
        out = []
        for i, s in enumerate(statements):
            made, jumps, flags = self.statement(s)
            rest = statements[i + 1:]
            if jumps == NEVER:
                out += made
                continue
            if jumps == ALWAYS or not rest:
                return out + made, jumps, flags
            rest, rest_jumps, rest_flags = self.block(rest)
            node = made[-1]
            if isinstance(s, ast.If) and getattr(node, "ag_jumps", None) and ALWAYS in node.ag_jumps:
                # One branch jumps always: the rest belongs to the other.
                other, other_jumps = ("orelse", 1) if node.ag_jumps[0] == ALWAYS else ("body", 0)
                branch = getattr(node, other)
                branch += self._guarded(rest, node.ag_flags[other_jumps], s) if node.ag_jumps[other_jumps] else rest
                setattr(node, other, branch)
                out += made
            else:
                out += made + self._guarded(rest, flags, s)
            return out, ALWAYS if rest_jumps == ALWAYS else MAYBE, flags | rest_flags
        return out, NEVER, set()

    def _guarded(self, statements, flags, like):
        """if not (flag or ...): statements"""
        where = statements[0] if statements else like
        test = ast.UnaryOp(ast.Not(), self._any(flags, where))
        guard = ast.copy_location(ast.If(test, statements, []), where)
        ast.fix_missing_locations(guard)
        return [guard]

    @staticmethod
    def _any(flags, like):
        names = [_name(f, like) for f in sorted(flags)]
        return names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), names), like)

    def statement(self, s):
        kind = type(s).__name__
        method = getattr(self, "_" + kind, None)
        return method(s) if method else ([s], ALWAYS if isinstance(s, ast.Raise) else NEVER, set())

    def _Return(self, s):
        self.last_return = s
        value = s.value if s.value is not None else ast.copy_location(ast.Constant(None), s)
        return [assign(VALUE, value, s), assign(RETURNED, True, s)], ALWAYS, {RETURNED}

    def _Break(self, s):
        return [assign(self.loops[-1][0], True, s)], ALWAYS, {self.loops[-1][0]}

    def _Continue(self, s):
        return [assign(self.loops[-1][1], True, s)], ALWAYS, {self.loops[-1][1]}

    def _If(self, s):
        s.body, body_jumps, body_flags = self.block(s.body)
        s.orelse, else_jumps, else_flags = self.block(s.orelse)
        s.ag_jumps, s.ag_flags = (body_jumps, else_jumps), (body_flags, else_flags)
        jumps = ALWAYS if body_jumps == else_jumps == ALWAYS else MAYBE if body_flags | else_flags else NEVER
        return [s], jumps, body_flags | else_flags

    def _With(self, s):
        s.body, jumps, flags = self.block(s.body)
        # What a context swallows is not known.
        return [s], MAYBE if flags else NEVER, flags

    def _Try(self, s):
        s.body, jumps, flags = self.block(s.body)
        orelse, else_jumps, else_flags = self.block(s.orelse)
        if orelse and flags:
            orelse = self._guarded(orelse, flags, s)
        s.orelse = orelse
        through = ALWAYS in (jumps, else_jumps)
        flags = flags | else_flags
        for h in s.handlers:
            h.body, handler_jumps, handler_flags = self.block(h.body)
            through = through and handler_jumps == ALWAYS
            flags = flags | handler_flags
        s.finalbody, final_jumps, _ = self.block(s.finalbody)
        return [s], ALWAYS if through or final_jumps == ALWAYS else MAYBE if flags else NEVER, flags

    _TryStar = _Try

    def _Match(self, s):
        flags = set()
        for case in s.cases:
            case.body, _, case_flags = self.block(case.body)
            flags |= case_flags
        return [s], MAYBE if flags else NEVER, flags

    def _loop(self, s):
        self.count += 1
        broke, skipped = f"ag__broke_{self.count}", f"ag__continued_{self.count}"
        self.loops.append((broke, skipped))
        breaks = _has(s.body, (ast.Break,), False)
        s.body, _, flags = self.block(s.body)
        self.loops.pop()
        out = []
        if skipped in flags:
            s.body.insert(0, assign(skipped, False, s))
        if broke in flags:
            out.append(assign(broke, False, s))
        stops = flags - {skipped}
        s.ag_go_on = None
        if stops:
            s.ag_go_on = ast.UnaryOp(ast.Not(), self._any(stops, s))
            ast.fix_missing_locations(ast.copy_location(s.ag_go_on, s))
        out.append(s)
        outer = stops - {broke}
        jumps = MAYBE if outer else NEVER
        if isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value and not breaks:
            jumps = ALWAYS  # nothing comes after it
        if s.orelse:
            orelse, else_jumps, else_flags = self.block(s.orelse)
            s.orelse = []
            out += self._guarded(orelse, stops, s) if stops else orelse
            outer = outer | else_flags
            jumps = ALWAYS if not breaks and else_jumps == ALWAYS else MAYBE if outer else NEVER
        return out, jumps, outer

    _For = _loop

    def _While(self, s):
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(s.test)):
            # What the test binds is a variable of the loop: while True: if not test: otherwise; break
            stop = ast.If(ast.UnaryOp(ast.Not(), s.test), s.orelse + [ast.Break()], [])
            ast.fix_missing_locations(ast.copy_location(stop, s.test))
            s.body, s.orelse, s.test = [stop] + s.body, [], ast.copy_location(ast.Constant(True), s.test)
        return self._loop(s)


def check_jumps(function):
    """Raises, before anything is changed, if there are jumps that flags cannot stand for."""
    for s in walk(function.body):
        if getattr(s, "finalbody", None) and (
                _has(s.finalbody, (ast.Return,)) or _has(s.finalbody, (ast.Break, ast.Continue), False)):
            raise NotConvertible("it jumps out of a finally block")


def _is_plain(function):
    """Whether it returns only at its end and has no other jumps."""
    def simple(s):
        if isinstance(s, (ast.For, ast.While)) and s.orelse:
            return False
        if isinstance(s, ast.While) and any(isinstance(n, ast.NamedExpr) for n in ast.walk(s.test)):
            return False
        inner = [t for block in blocks_of(s) for t in block]
        return not any(isinstance(t, (ast.Return, ast.Break, ast.Continue)) for t in inner) and all(map(simple, inner))
    return all(map(simple, function.body)) and not _has(function.body[:-1], (ast.Return,))


def lower(function):
    """Replaces the body of a function by one without jumps."""
    if _is_plain(function):
        return
    lowering = _Lowering()
    first = function.body[0]
    function.body, ends, _ = lowering.block(function.body)
    last = lowering.last_return
    if last is not None:
        value = _name(VALUE, last)
        if ends != ALWAYS:
            call = ast.Attribute(_name("ag__", last), "returned", ast.Load())
            value = ast.Call(call, [_name(RETURNED, last), value], [])
        nothing = ast.Attribute(_name("ag__", first), "no_value", ast.Load())
        function.body = ([assign(RETURNED, False, first), assign(VALUE, nothing, first)] + function.body +
                         [ast.copy_location(ast.Return(value), last)])
    for s in function.body:
        ast.fix_missing_locations(s)
