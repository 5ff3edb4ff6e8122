"""Sessions: the values of a graph's variables, and runs of what is fetched."""
import re
import threading

import numpy as np

import gradus as tf

from ... import _core
from ._graph import Graph, Operation, get_default_graph, graph_of, tensor_name
from ._unranked import Unranked, sources_of
from ._variables import Variable, _Asked


_NOT_FED = re.compile("You must feed a value for placeholder tensor '([^']*)'")


class _Local(threading.local):
    def __init__(self):
        self.stack = []


_local = _Local()


def get_default_session():
    """The session of the innermost `with`, or None."""
    return _local.stack[-1] if _local.stack else None


def session_for(session, graph):
    """The session to evaluate something of a graph in."""
    if session is not None:
        return session
    session = get_default_session()
    if session is None:
        raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. Use `with "
                         "sess.as_default()` or pass an explicit session to `eval(session=sess)`")
    if session.graph is not graph:
        raise ValueError("Cannot use the default session to evaluate tensor: the tensor's graph is different from the "
                         "session's graph. Pass an explicit session to `eval(session=sess)`.")
    return session


class _Fetches:
    """A structure of fetches, flat."""

    def __init__(self, session, fetches, ranks):
        self.session, self.ranks = session, ranks
        self.tensors, self.operations, self.variables, self.asked = [], [], [], []
        self.rebuild = self._walk(fetches)

    def _walk(self, f):
        """A function from the fetched values to what is returned."""
        if isinstance(f, dict):
            parts = [(k, self._walk(v)) for k, v in f.items()]
            kind = type(f)
            if kind is dict:
                return lambda out: {k: p(out) for k, p in parts}
            return lambda out: kind((k, p(out)) for k, p in parts)
        if isinstance(f, (list, tuple)):
            parts = [self._walk(v) for v in f]
            if hasattr(f, "_fields"):
                return lambda out: type(f)(*[p(out) for p in parts])
            kind = list if isinstance(f, list) else tuple
            return lambda out: kind([p(out) for p in parts])
        return self._leaf(f)

    def _leaf(self, f):
        graph = self.session.graph
        if isinstance(f, str):
            try:
                found = graph.as_graph_element(f)
            except (KeyError, ValueError) as error:
                raise ValueError(f"Fetch argument {f!r} cannot be interpreted as a Tensor. ({error.args[0]})") from None
            name = f.rpartition(":")[0]
            f = graph._variables[name] if name in graph._variables else found
        if isinstance(f, Unranked):
            f = f.resolved(self.ranks)
            if isinstance(f, (list, tuple, dict)):
                return self._walk(f)
        if isinstance(f, Operation):
            if f.graph is not graph:
                self._refuse(f)
            self.operations.extend(n for n in f._nodes if n >= 0)
            return lambda out: None
        if f is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(f, _Asked):
            self.asked.append(f.answer)
            position = len(self.asked) - 1
            return lambda out: out[2][position]
        if isinstance(f, Variable):
            if f.graph is not graph:
                self._refuse(f)
            if not f._is_resource:
                self.variables.append(f)
                position = len(self.variables) - 1
                return lambda out: out[1][position]
            f = f._element()
        if isinstance(f, tf.IndexedSlices):
            parts = [self._walk(p) for p in (f.values, f.indices)]
            shape = None if f.dense_shape is None else self._walk(f.dense_shape)
            return lambda out: IndexedSlicesValue(parts[0](out), parts[1](out), shape and shape(out))
        if isinstance(f, tf.SparseTensor):
            parts = [self._walk(p) for p in (f.indices, f.values, f.dense_shape)]
            return lambda out: tf.sparse.SparseTensorValue(*(p(out) for p in parts))
        if isinstance(f, _core.Tensor):
            place = _core._place(f)
            if place is None:
                if _core._traced_name(f) is not None:
                    raise ValueError(f"Tensor {f!r} belongs to a branch or a loop body and cannot be fetched.")
                return lambda out: f.numpy()
            if place[0] != graph._number:
                self._refuse(f)
            self.tensors.append(f)
            position = len(self.tensors) - 1
            return lambda out: out[0][position]
        if hasattr(f, "__gradus_fetch__"):
            return self._walk(f.__gradus_fetch__())
        raise TypeError(f"Fetch argument {f!r} has invalid type {type(f)}, must be a string or Tensor. (Can not convert "
                        f"a {type(f).__name__} into a Tensor or Operation.)")

    @staticmethod
    def _refuse(f):
        raise ValueError(f"Fetch argument {f!r} cannot be interpreted as a Tensor. ({f!r} is not an element of this graph.)")


class IndexedSlicesValue(tuple):
    """The fetched value of IndexedSlices."""

    def __new__(cls, values, indices, dense_shape):
        return tuple.__new__(cls, (values, indices, dense_shape))

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])
    dense_shape = property(lambda self: self[2])


class _Run:
    """A choice of fetches and feeds, ready to run."""

    __slots__ = ("plan", "rebuild", "asked", "count", "kept", "fed", "producers")


class BaseSession:
    """The values of a graph's variables, and runs of its nodes."""

    def __init__(self, target="", graph=None, config=None):
        self._graph = get_default_graph() if graph is None else graph
        if not isinstance(self._graph, Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got \"{type(graph).__name__}\"")
        self._session = _core._session(self._graph._program)
        self._runs = {}
        self._closed = False
        self._config = config

    graph = property(lambda self: self._graph)
    graph_def = property(lambda self: self._graph.as_graph_def())
    sess_str = property(lambda self: "")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs what the fetches need and gives their values, in the structure of the fetches."""
        kind = type(fetches)
        ids = tuple(map(id, fetches)) if kind is list or kind is tuple else (id(fetches),)
        key = (kind, ids, tuple(map(id, feed_dict)) if feed_dict else None)
        run = self._runs.get(key)
        if run is None:
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if self._graph.version == 0 and not self._graph._variables and not sources_of([fetches]):
                raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
            return self._run_first(key, fetches, feed_dict or {})
        values = list(feed_dict.values()) if feed_dict else []
        return self._finish(run, values)

    def _finish(self, run, values):
        if run.producers:
            now = object()
            values = values + [produce(now) for produce in run.producers]
        try:
            found = _core._session_run(self._session, run.plan, values)
        except (ValueError, tf.errors.OpError):
            self._check_fed(run.fed, values)
            raise
        arrays = [t.numpy() for t in found]
        count = run.count
        return run.rebuild((arrays, arrays[count:], [a(self) for a in run.asked] if run.asked else None))

    def _check_fed(self, fed, values):
        """Raises what TensorFlow raises for a value that does not fit."""
        for tensor, value in zip(fed, values):
            if isinstance(value, _core.Tensor) and _core._traced_name(value) is not None:
                raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                                "scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor "
                                f"object was {value!r} which was passed to the argument `feed_dict` with key {tensor!r}.")
            given = np.shape(value.numpy() if isinstance(value, _core.Tensor) else value)
            shape = _core._plain_shape(tensor)
            if not shape.is_compatible_with(list(given)):
                text = "(" + ", ".join("?" if s is None else str(s) for s in shape.as_list())
                text += ",)" if shape.rank == 1 else ")"
                raise ValueError(f"Cannot feed value of shape {given} for Tensor {tensor_name(tensor)}, which has shape "
                                 f"{text}")

    def _feeds(self, feed_dict):
        """Pairs of a tensor, possibly of unknown rank, and a value."""
        pairs = []
        for key, value in feed_dict.items():
            if isinstance(key, str):
                try:
                    key = self._graph.get_tensor_by_name(key)
                except (KeyError, ValueError) as error:
                    raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
            if isinstance(key, tuple) and isinstance(value, (tuple, list)):
                pairs.extend(self._feeds(dict(zip(key, value))))
                continue
            if isinstance(key, Variable):
                key = key._element()
            if not isinstance(key, Unranked) and graph_of(key) is not self._graph:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {key!r} is not an element of this graph.")
            pairs.append((key, value))
        return pairs

    def _run_first(self, key, fetches, feed_dict):
        pairs = self._feeds(feed_dict)
        late = any(isinstance(k, Unranked) for k, _ in pairs)
        ranks, fed, values, late_fetch = self._ranked(fetches, pairs)
        late = late or late_fetch
        parsed = _Fetches(self, fetches, ranks)
        run = _Run()
        run.plan, run.producers = self._prepare(parsed, fed)
        run.rebuild, run.asked, run.fed = parsed.rebuild, parsed.asked, fed
        run.kept = (fetches, list(feed_dict))  # their addresses stay theirs
        run.count = len(parsed.tensors)
        if type(fetches) in (list, tuple):  # the key is made of their elements
            is_flat = not any(isinstance(f, (list, tuple, dict)) for f in fetches)
        else:  # other structures may change, and the key is the address
            is_flat = not isinstance(fetches, (list, tuple, dict))
        plain = not any(isinstance(k, tuple) for k in feed_dict)
        if not late and is_flat and plain:
            if len(self._runs) > 512:
                self._runs.clear()
            if isinstance(fetches, (list, tuple)):
                run.kept = (tuple(fetches), list(feed_dict))
            self._runs[key] = run
        return self._finish(run, values)

    def _prepare(self, parsed, fed):
        """The plan, and what feeds those placeholders that are fed by themselves; they are added to `fed`."""
        producers = []
        while True:
            try:
                plan = _core._session_prepare(self._session, self._graph._program, parsed.tensors, fed, parsed.operations,
                                              parsed.variables)
                return plan, producers
            except tf.errors.InvalidArgumentError as error:
                found = _NOT_FED.match(str(error))
                if not found or found[1] not in self._graph._producers:
                    raise
                tensor, produce = self._graph._producers[found[1]]
                fed.append(tensor)
                producers.append(produce)

    def _ranked(self, fetches, pairs):
        """The ranks of placeholders that had none, and what is fed, with those that are computed by Python."""
        leaves = [f for f in tf.nest.flatten(fetches)] if isinstance(fetches, (list, tuple, dict)) else [fetches]
        leaves = [self._graph.as_graph_element(f) if isinstance(f, str) and f in self._graph._operations else f
                  for f in leaves]
        leaves = [f._made if hasattr(f, "_made") else f for f in leaves]
        needed = sources_of(leaves)
        ranks, fed, values = {}, [], []
        known = {id(k): v for k, v in pairs if isinstance(k, Unranked)}
        for key, value in pairs:
            if isinstance(key, Unranked):
                if key._call is not None:
                    raise TypeError(f"{key!r} depends on values of unknown rank and cannot be fed")
                ranks[id(key)] = _rank_of(value)
                fed.append(key.resolved(ranks))
            else:
                fed.append(key)
            values.append(value)
        for source in needed:
            if id(source) in known:
                continue
            producer = getattr(source, "_producer", None)
            if producer is None:
                raise tf.errors.InvalidArgumentError(
                    None, source.op, f"You must feed a value for placeholder tensor '{source._name}' with dtype "
                    f"{ {'float32': 'float', 'float64': 'double'}.get(source.dtype.name, source.dtype.name)}")
            value = producer(self, dict(pairs))
            ranks[id(source)] = _rank_of(value)
            fed.append(source.resolved(ranks))
            values.append(value)
        return ranks, fed, values, bool(needed)

    # ------------------------------------------------------------ others

    def explain(self, fetches, feed_dict=None):
        """What a run of these fetches does, and which reads and writes of variables race with each other."""
        pairs = self._feeds(feed_dict or {})
        ranks, fed, _, _ = self._ranked(fetches, pairs)
        parsed = _Fetches(self, fetches, ranks)
        self._prepare(parsed, fed)
        return _core._session_explain(self._session, self._graph._program, parsed.tensors, fed, parsed.operations,
                                      parsed.variables)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the values of feed_list."""
        keys = list(feed_list or ())
        return lambda *values: self.run(fetches, dict(zip(keys, values)))

    def partial_run(self, handle, fetches, feed_dict=None):
        raise NotImplementedError("partial_run is not covered; run what is needed at once")

    partial_run_setup = partial_run

    def _set(self, variable, value):
        _core._session_set(self._session, variable, value)

    def _has(self, variable):
        return _core._session_has(self._session, variable)

    def _value(self, variable):
        return _core._session_value(self._session, variable).numpy()

    def close(self):
        """Gives up the session."""
        self._closed = True
        self._runs.clear()

    def as_default(self):
        """A context in which eval() and run() without a session use this one."""
        return _Default(self)

    def list_devices(self):
        return []


class _Default:
    def __init__(self, session):
        self._session = session

    def __enter__(self):
        self._graph = self._session.graph.as_default()
        self._graph.__enter__()
        _local.stack.append(self._session)
        return self._session

    def __exit__(self, *error):
        _local.stack.pop()
        self._graph.__exit__(None, None, None)
        return False


class Session(BaseSession):
    """A session, to be used in a `with` or closed."""

    def __enter__(self):
        self.__dict__.setdefault("_contexts", []).append(self.as_default())
        return self._contexts[-1].__enter__()

    def __exit__(self, *error):
        self._contexts.pop().__exit__(None, None, None)
        self.close()
        return False

    @staticmethod
    def reset(target, containers=None, config=None):
        """Accepted."""


class InteractiveSession(BaseSession):
    """A session that is the default one at once."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._context = None
        _local.stack.append(self)
        if graph is not None:
            self._context = graph.as_default()
            self._context.__enter__()

    def close(self):
        if self in _local.stack:
            _local.stack.remove(self)
        if self._context is not None:
            self._context.__exit__(None, None, None)
            self._context = None
        super().close()


def _rank_of(value):
    return len(value.shape) if hasattr(value, "shape") else np.ndim(value)
