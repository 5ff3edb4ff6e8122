"""Tensors whose number of axes is not known before a run: placeholders without a shape, and what depends on them.

The engine needs ranks, so a call on such a tensor is noted instead of made. A run knows the ranks of what it is fed: the
calls that it needs are then made, on placeholders of those ranks, and become ordinary nodes, once for each choice of ranks.
"""
import functools
import operator

import gradus as tf

from ... import _core
from ..._kinds import Kind
from ._graph import Operation, get_default_graph


class Call:
    """A call that was noted."""

    def __init__(self, graph, function, args, kwargs):
        self.graph, self.function, self.args, self.kwargs = graph, function, args, kwargs
        self.scope, self.controls = graph._scope, list(graph._late_controls)
        self.results = {}  # by the ranks of the sources
        sources = {}
        for leaf in _leaves((args, kwargs, self.controls)):
            sources.update((id(s), s) for s in leaf._sources())
        self.sources = list(sources.values())

    def made(self, ranks):
        key = tuple(ranks[id(s)] for s in self.sources)
        if key not in self.results:
            graph = self.graph
            args, kwargs = _replaced((self.args, self.kwargs), ranks)
            with graph.as_default(), graph.name_scope(self.scope or None):
                controls = [c.resolved(ranks) for c in self.controls]
                with graph.control_dependencies(controls) if controls else graph.control_dependencies([]):
                    self.results[key] = self.function(*args, **kwargs)
        return self.results[key]


class Unranked(Kind):
    """A tensor or an operation that depends on values of unknown rank."""

    __array_priority__ = 200
    __array_ufunc__ = None

    def __init__(self, graph, call=None, path=(), name="Placeholder", dtype=None):
        self._graph, self._call, self._path, self._dtype = graph, call, path, dtype
        self._name = graph.unique_name(name)
        self._ranked = {}  # a placeholder: by rank
        graph._operations[self._name] = _UnrankedOperation(self)

    @classmethod
    def __gradus_function__(cls, name, arguments):
        """A function of the module, noted like those of this one."""
        from ._functions import in_graph
        if name.startswith("_"):  # the test of a loop, say, which is traced at once
            raise TypeError("a loop or a branch uses a placeholder of unknown rank; give the placeholder a shape, [] for a "
                            "scalar")
        function = functools.reduce(getattr, name.split("."), tf)
        return defer(next(_leaves(arguments))._graph, in_graph(function), (), arguments, name.rpartition(".")[2])

    graph = property(lambda self: self._graph)
    name = property(lambda self: self._name + ":0")
    op = property(lambda self: self._graph._operations[self._name])
    shape = property(lambda self: tf.TensorShape(None))
    type = property(lambda self: "Unranked")

    @property
    def dtype(self):
        if self._dtype is None:  # as it is for scalars
            probe = self.resolved({id(s): s._rank_to_try() for s in self._sources()})
            self._dtype = probe.dtype
        return self._dtype

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """The rank becomes known, for runs that do not say otherwise."""
        self._hint = tf.TensorShape(shape)

    def _rank_to_try(self):
        hint = getattr(self, "_hint", None)
        return 0 if hint is None or hint.rank is None else hint.rank

    def _sources(self):
        return [self] if self._call is None else self._call.sources

    def resolved(self, ranks):
        """The node that it is for these ranks of the placeholders."""
        if self._call is None:
            rank = ranks[id(self)]
            if rank not in self._ranked:
                self._ranked[rank] = _core._program_placeholder(self._graph._program, self._dtype, [-1] * rank,
                                                                self._name)
                value = _core._place(self._ranked[rank])[1]
                self._graph._record(self._graph._unique(self._name), "Placeholder", [], [value], [])
            return self._ranked[rank]
        found = self._call.made(ranks)
        for step in self._path:
            found = found[step]
        return found

    def eval(self, feed_dict=None, session=None):
        from ._session import session_for
        return session_for(session, self._graph).run(self, feed_dict)

    def run(self, feed_dict=None, session=None):
        from ._session import session_for
        session_for(session, self._graph).run(self, feed_dict)

    def __getitem__(self, key):
        return defer(self._graph, operator.getitem, (self, key), {}, "strided_slice")

    def __bool__(self):
        raise TypeError("Using a `tf.Tensor` as a Python `bool` is not allowed. Use tf.cond.")

    def __iter__(self):
        raise TypeError("Tensor objects are only iterable when eager execution is enabled.")

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape=<unknown>>"

    def __str__(self):
        dtype = "" if self._dtype is None else f", dtype={self._dtype.name}"
        return f'Tensor("{self.name}"{dtype})'


class _UnrankedOperation(Operation):
    def __init__(self, made):
        super().__init__(made._graph, made._name, "Unranked", [], [], [])
        self._made = made

    @property
    def outputs(self):
        return [self._made]


def _operator(name, function, swapped=False):
    def method(self, other):
        operands = (other, self) if swapped else (self, other)
        return defer(self._graph, function, operands, {}, name)
    return method


for _name, _function, _label in (("add", operator.add, "add"), ("sub", operator.sub, "sub"),
                                 ("mul", operator.mul, "mul"), ("truediv", operator.truediv, "truediv"),
                                 ("floordiv", operator.floordiv, "floordiv"), ("mod", operator.mod, "mod"),
                                 ("pow", operator.pow, "pow"), ("matmul", operator.matmul, "matmul"),
                                 ("and", operator.and_, "and"), ("or", operator.or_, "or")):
    setattr(Unranked, f"__{_name}__", _operator(_label, _function))
    setattr(Unranked, f"__r{_name}__", _operator(_label, _function, True))
for _name, _label in (("lt", "Less"), ("le", "LessEqual"), ("gt", "Greater"), ("ge", "GreaterEqual")):
    setattr(Unranked, f"__{_name}__", _operator(_label, getattr(operator, _name)))
Unranked.__neg__ = lambda self: defer(self._graph, operator.neg, (self,), {}, "Neg")
Unranked.__abs__ = lambda self: defer(self._graph, abs, (self,), {}, "Abs")
Unranked.__invert__ = lambda self: defer(self._graph, operator.invert, (self,), {}, "LogicalNot")


def defer(graph, function, args, kwargs, name, count=None):
    """Notes a call; its result is a tensor, or a list of `count`."""
    call = Call(graph, function, args, kwargs)
    if count is None:
        return Unranked(graph, call, (), name)
    return [Unranked(graph, call, (i,), name) for i in range(count)]


def _leaves(structure):
    if isinstance(structure, Unranked):
        yield structure
    elif isinstance(structure, dict):
        for value in structure.values():
            yield from _leaves(value)
    elif isinstance(structure, (list, tuple)):
        for value in structure:
            yield from _leaves(value)


def has_unranked(structure):
    """Whether there is such a tensor among the arguments of a call."""
    for _ in _leaves(structure):
        return True
    return False


def _replaced(structure, ranks):
    if isinstance(structure, Unranked):
        return structure.resolved(ranks)
    if isinstance(structure, dict):
        return {k: _replaced(v, ranks) for k, v in structure.items()}
    if isinstance(structure, (list, tuple)):
        items = [_replaced(v, ranks) for v in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    return structure


def sources_of(structure):
    """The placeholders of unknown rank that it depends on."""
    found = {}
    for leaf in _leaves(structure):
        found.update((id(s), s) for s in leaf._sources())
    return list(found.values())


def placeholder(dtype, name):
    """A placeholder of any shape."""
    return Unranked(get_default_graph(), name=name or "Placeholder", dtype=tf.as_dtype(dtype))


