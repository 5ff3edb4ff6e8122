"""Graphs: programs of the engine (gradus/graph_program.h) with the names, scopes and collections of TensorFlow 1.

A tensor of a graph is an ordinary traced tensor. Nodes that functions of this namespace make are named at once; those
that come from operators get their names when somebody asks, in the order in which they were made.
"""
import bisect
import collections
import contextlib
import re
import threading
import weakref

import gradus as tf

from ... import _core, nest

_graphs = weakref.WeakValueDictionary()  # by number
_recent = collections.deque(maxlen=16)   # kept although only tensors refer to them
_VALID = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")

# What TensorFlow calls the nodes that operators make.
_OPERATOR_NAMES = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "negative": "Neg",
                   "pow": "pow", "matmul": "matmul", "floordiv": "floordiv", "floormod": "mod", "abs": "Abs",
                   "less": "Less", "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual",
                   "logical_and": "and", "logical_or": "or", "logical_not": "LogicalNot", "const": "Const",
                   "assign": "Assign", "read_variable": "ReadVariableOp", "no_op": "NoOp", "cast": "Cast",
                   "strided_slice": "strided_slice"}


_OPERATOR_TYPES = {"add": "AddV2", "subtract": "Sub", "multiply": "Mul", "divide": "RealDiv", "negative": "Neg",
                   "pow": "Pow", "matmul": "MatMul", "floordiv": "FloorDiv", "floormod": "FloorMod", "abs": "Abs",
                   "less": "Less", "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual",
                   "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_not": "LogicalNot", "const": "Const",
                   "assign": "Assign", "read_variable": "ReadVariableOp", "no_op": "NoOp", "cast": "Cast",
                   "strided_slice": "StridedSlice", "square": "Square"}


class Operation:
    """A node, or several that were made by one call: what a run can do and other nodes can wait for."""

    def __init__(self, graph, name, kind, nodes, outputs, inputs=None):
        self._graph, self._name, self._kind, self._nodes, self._values = graph, name, kind, nodes, outputs
        self._inputs = inputs

    graph = property(lambda self: self._graph)
    name = property(lambda self: self._name)
    type = property(lambda self: self._kind)
    device = property(lambda self: "")

    @property
    def outputs(self):
        """The tensors that it makes."""
        return [self._graph._tensor(v) for v in self._values]

    @property
    def inputs(self):
        """The tensors that it takes."""
        if self._inputs is not None:
            return tuple(self._inputs)
        operands = [v for n in self._nodes for v in _core._program_node(self._graph._program, n)[1]]
        return tuple(self._graph._tensor(v) for v in operands)

    @property
    def control_inputs(self):
        before = {n for node in self._nodes for n in _core._program_node(self._graph._program, node)[3]}
        return [self._graph._operation_of_node(n) for n in sorted(before)]

    def run(self, feed_dict=None, session=None):
        """Runs it in a session, or in the default one."""
        from ._session import session_for
        session_for(session, self._graph).run(self, feed_dict)

    def get_attr(self, name):
        raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")

    def __repr__(self):
        return f"<tf.Operation '{self._name}' type={self._kind}>"


class Graph:
    """A program that is built node by node, and run in sessions."""

    def __init__(self):
        self._program = _core._program()
        self._number = _core._program_number(self._program)
        _graphs[self._number] = self
        _recent.append(self)
        self._operations = {}              # by name
        self._of_value = {}                # value -> (operation, index)
        self._of_node = {}                 # node -> operation
        self._used = {}                    # names in use -> how often
        self._seen = 0                     # nodes that have names
        self._scope, self._scopes = "", [(0, "")]  # (first node, scope)
        self._collections = {}
        self._controls = []                # what is open: lists of what to wait for
        self._late_controls = []           # of these, what is not a node yet (_unranked.py)
        self._overrides = {}
        self._variables = {}               # by name
        self._producers = {}               # name of a placeholder -> (tensor, function of the run): fed by itself
        self._seed = None
        self._finalized = False
        self._variable_store, self._variable_scope = {}, None
        self._default_session = None

    # ---------------------------------------------------------------- default

    @contextlib.contextmanager
    def as_default(self):
        """Makes this the graph that new nodes belong to."""
        _stack().append(self)
        _core._program_default(self._program)
        try:
            yield self
        finally:
            _stack().pop()
            _core._program_default(get_default_graph()._program)

    # ---------------------------------------------------------------- names

    def unique_name(self, name, mark_as_used=True):
        """The name, in the current scope, with a number behind it if it is taken."""
        return self._unique(self._scope + name, mark_as_used)

    def _unique(self, full, mark=True):
        key = full.lower()
        count = self._used.get(key, 0)
        if mark:
            self._used[key] = count + 1
        if count == 0:
            return full
        candidate = key
        while candidate in self._used:
            candidate = f"{key}_{count}"
            count += 1
        name = f"{full}_{count - 1}"
        if mark:
            self._used[key] = count
            self._used[name.lower()] = 1
        return name

    def get_name_scope(self):
        return self._scope[:-1]

    @contextlib.contextmanager
    def name_scope(self, name):
        """A prefix for names; one that ends in '/' is taken as it is."""
        if name and not _VALID.match(name):
            raise ValueError(f"'{name}' is not a valid root scope name. A root scope name has to match the following "
                             f"pattern: {_VALID.pattern}")
        saved = self._scope
        if not name:
            self._set_scope("")
        elif name.endswith("/"):
            self._set_scope(name)
        else:
            self._set_scope(self.unique_name(name) + "/")
        try:
            yield self._scope
        finally:
            self._set_scope(saved)

    def _set_scope(self, scope):
        self._scope = scope
        size = _core._program_size(self._program)
        if self._scopes[-1][0] == size:
            self._scopes[-1] = (size, scope)
        else:
            self._scopes.append((size, scope))

    def _sync(self):
        """Gives names to the nodes that have none."""
        size = _core._program_size(self._program)
        for node in range(self._seen, size):
            if node not in self._of_node:
                op, _, results, _ = _core._program_node(self._program, node)
                scope = self._scopes[bisect.bisect_right(self._scopes, (node, "\uffff")) - 1][1]
                self._record(self._unique(scope + _OPERATOR_NAMES.get(op, op)), _OPERATOR_TYPES.get(op, op), [node], results)
        self._seen = size

    def _record(self, name, kind, nodes, values, inputs=None):
        operation = Operation(self, name, kind, nodes, values, inputs)
        self._operations[name] = operation
        for n in nodes:
            self._of_node[n] = operation
        for i, v in enumerate(values):
            self._of_value[v] = (operation, i)
        return operation

    def _name_result(self, tensors, name, kind, first, inputs=None):
        """Names the nodes that made these tensors, if they are new."""
        places = [_core._place(t) for t in tensors]
        fresh = [p for p in places if p is not None and p[2] >= first and p[1] not in self._of_value
                 and p[2] not in self._of_node]
        if not fresh or len(fresh) != len(places):
            return
        nodes = sorted({p[2] for p in fresh})
        full = name[:-1] if name.endswith("/") else self.unique_name(name)
        self._record(full, kind, nodes, [p[1] for p in fresh], inputs)
        # What led there is inside.
        position = bisect.bisect_left(self._scopes, (first, ""))
        if position == len(self._scopes):
            self._scopes.append((first, full + "/"))
            self._scopes.append((nodes[-1] + 1, self._scope))

    def _operation_of_node(self, node):
        if node not in self._of_node:
            self._sync()
        return self._of_node[node]

    def _place_name(self, value, node):
        if value not in self._of_value:
            self._sync()
        operation, index = self._of_value[value]
        return operation, index

    def _tensor(self, value):
        return _core._program_tensor(self._program, value)

    # ---------------------------------------------------------------- looking up

    def get_operations(self):
        """All operations, in the order in which they were made."""
        self._sync()
        return sorted(self._operations.values(), key=lambda o: (max(o._nodes, default=-1), min(o._values, default=-1)))

    def get_operation_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name)}.")
        self._sync()
        if name not in self._operations:
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
        return self._operations[name]

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name)}.")
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(f"The name '{name}' looks like an (invalid) Operation name, not a Tensor. Tensor names "
                             "must be of the form \"<op_name>:<output_index>\".")
        self._sync()
        if operation in self._variables:
            return self._variables[operation]._element()
        if operation not in self._operations:
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist. The operation, '{operation}', "
                           "does not exist in the graph.")
        found = self._operations[operation]
        if found._kind == "Unranked":
            return found.outputs[0]
        if int(index) >= len(found._values):
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist. The operation, '{operation}', "
                           f"exists but only has {len(found._values)} outputs.")
        return found.outputs[int(index)]

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or operation of a name or an object."""
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self.get_tensor_by_name(obj)
            if allow_operation:
                return self.get_operation_by_name(obj)
            raise ValueError(f"Name {obj!r} appears to refer to an Operation, not a Tensor.")
        return obj

    # ---------------------------------------------------------------- collections

    def add_to_collection(self, name, value):
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        for name in [names] if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        """A copy of the list with that name; with a scope, those whose names begin with it."""
        items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def get_collection_ref(self, name):
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self):
        return [k for k, v in self._collections.items() if v]

    @property
    def collections(self):
        return self.get_all_collection_keys()

    def clear_collection(self, name):
        self._collections.pop(name, None)

    # ---------------------------------------------------------------- order

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Nodes made in this context run after these operations and tensors; None forgets the contexts around it."""
        from ._unranked import Unranked
        nodes, late = [], []
        for c in [] if control_inputs is None else nest.flatten(control_inputs):
            if isinstance(c, Unranked):
                late.append(c)
            else:
                nodes.extend(nodes_of(self, c))
        saved = self._late_controls
        self._late_controls = late if control_inputs is None else saved + late
        after = _core._program_after(self._program, nodes) if nodes or control_inputs is None else None
        try:
            yield
        finally:
            del after
            self._late_controls = saved

    @contextlib.contextmanager
    def inside(self):
        """What functions make without operands becomes nodes."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        if _core._is_tracing():  # a branch or a body: nodes belong there
            yield
            return
        scope = _core._program_scope(self._program)
        try:
            yield
        finally:
            del scope

    # ---------------------------------------------------------------- others

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map):
        """Ops of these types, made in this context, get the gradients registered under the given names."""
        saved = self._overrides
        self._overrides = {**saved, **op_type_map}
        try:
            yield
        finally:
            self._overrides = saved

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        """Accepted: there is one device."""
        yield

    @contextlib.contextmanager
    def colocate_with(self, op, ignore_existing=False):
        """Accepted: there is one device."""
        yield

    def finalize(self):
        """No more nodes may be added."""
        self._finalized = True

    finalized = property(lambda self: self._finalized)
    building_function = property(lambda self: False)

    @property
    def seed(self):
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed
        _core._program_seed(self._program, seed)

    @property
    def version(self):
        return _core._program_size(self._program)

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The operations with their names, kinds and operands."""
        from ._graph_def import graph_def
        return graph_def(self)

    def is_feedable(self, tensor):
        return True

    def is_fetchable(self, tensor_or_op):
        return True

    def prevent_feeding(self, tensor):
        """Accepted."""

    prevent_fetching = prevent_feeding

    def _constant(self, value, name=None):
        """A value as a node."""
        made = _core._program_constant(self._program, value)
        if name is not None:
            self._name_result([made], name, "Const", _core._place(made)[2], [])
        return made


def nodes_of(graph, what):
    """The nodes to wait for."""
    if isinstance(what, Operation):
        return [n for n in what._nodes if n >= 0]
    if isinstance(what, _core.Variable):
        what = what._element()
    if isinstance(what, tf.IndexedSlices):
        return nodes_of(graph, what.values)
    place = _core._place(what)
    if place is None:
        raise TypeError(f"Control input must be an Operation, a Tensor, or a Variable, not {what!r}")
    if place[0] != graph._number:
        raise ValueError(f"{what!r} belongs to another graph.")
    return [place[2]] if place[2] >= 0 else []


class _Local(threading.local):
    def __init__(self):
        self.stack, self.knows_default = [], False


_local = _Local()
_global = [None]


def _stack():
    return _local.stack


def get_default_graph():
    """The graph to which new nodes belong."""
    if _local.stack:
        return _local.stack[-1]
    if _global[0] is None:
        _global[0] = Graph()
    if not _local.knows_default:
        _local.knows_default = True
        _core._program_default(_global[0]._program)
    return _global[0]


def reset_default_graph():
    """A new, empty default graph."""
    if _local.stack:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _global[0] = Graph()
    _core._program_default(_global[0]._program)


def graph_of(tensor):
    """The graph of a tensor, or None."""
    place = _core._place(tensor)
    return None if place is None else _graphs.get(place[0])


# -------------------------------------------------------------------- what tensors of graphs have (bindings/tensor.cpp)


def tensor_name(tensor):
    place = _core._place(tensor)
    graph = _graphs.get(place[0])
    if graph is None:
        return "?:0"
    operation, index = graph._place_name(place[1], place[2])
    return f"{operation.name}:{index}"


def tensor_op(tensor):
    place = _core._place(tensor)
    return _graphs[place[0]]._place_name(place[1], place[2])[0]


def tensor_value_index(tensor):
    place = _core._place(tensor)
    return _graphs[place[0]]._place_name(place[1], place[2])[1]


def tensor_graph(tensor):
    return _graphs[_core._place(tensor)[0]]


def tensor_consumers(tensor):
    def consumers():
        program, value, _ = _core._place(tensor)
        graph = _graphs[program]
        return [graph._operation_of_node(n) for n in range(_core._program_size(graph._program))
                if value in _core._program_node(graph._program, n)[1]]
    return consumers


def tensor_eval(tensor):
    def eval(feed_dict=None, session=None):  # noqa: A001
        """The value of the tensor in a session, or in the default one."""
        from ._session import session_for
        return session_for(session, tensor_graph(tensor)).run(tensor, feed_dict)
    return eval


class Dimension(int):
    """A size of a graph's tensor: an int that also has a `value`."""

    value = property(int)

    def __repr__(self):
        return f"Dimension({int(self)})"

    __str__ = int.__repr__

    def is_compatible_with(self, other):
        return getattr(other, "value", other) in (None, int(self))

    def merge_with(self, other):
        """This size, which the other one, if it is known, must have."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")
        return self


class UnknownDimension:
    """A size that is not known yet."""

    value = None

    def __repr__(self):
        return "Dimension(None)"

    def __str__(self):
        return "?"

    def __eq__(self, other):
        return None

    __ne__ = __eq__
    __hash__ = object.__hash__

    def is_compatible_with(self, other):
        return True

    def __int__(self):
        raise TypeError("__int__ returned non-int (type NoneType): the size is not known")

    def _unknown(self, other):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = _unknown


class GraphShape(tf.TensorShape):
    """The shape of a graph's tensor: its sizes are Dimensions."""

    __slots__ = ()

    def __getitem__(self, key):
        found = tf.TensorShape.__getitem__(self, key)
        if isinstance(key, slice):
            return GraphShape(found)
        return UnknownDimension() if found is None else Dimension(found)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def dims(self):
        return None if self._dims is None else list(self)

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        sizes = ", ".join("?" if s is None else str(s) for s in self._dims)
        return f"({sizes},)" if len(self._dims) == 1 else f"({sizes})"

    def __format__(self, spec):
        return format(str(self), spec)

    def __repr__(self):
        return f"TensorShape({self._dims and [s for s in self]})" if self._dims != () else "TensorShape([])"


def tensor_shape(tensor):
    return GraphShape(_core._plain_shape(tensor))
