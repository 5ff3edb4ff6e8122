"""Variables of graphs: declared in the graph, with a value in each session; variable scopes."""
import contextlib
import enum
import functools

import gradus as tf

from ... import _core
from ._functions import group, in_graph, to_tensor
from ._graph import Operation, get_default_graph
from ._unranked import Unranked, defer, has_unranked


class GraphKeys:
    """Names of collections."""
    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    TRAIN_OP = "train_op"
    GLOBAL_STEP = "global_step"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    CONCATENATED_VARIABLES = "concatenated_variables"
    ASSET_FILEPATHS = "asset_filepaths"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


_use_resource = [False]


def enable_resource_variables():
    """New variables are of the resource kind."""
    _use_resource[0] = True


def disable_resource_variables():
    """New variables are of the reference kind, as in TensorFlow 1."""
    _use_resource[0] = False


def resource_variables_enabled():
    return _use_resource[0]


class Variable(tf.Variable):
    """A variable of the default graph.

    Both kinds read where they are used, after what control_dependencies says there. What was read of a variable of the
    resource kind stays; what was read of one of the reference kind is the variable: each op that uses it looks when it
    runs, gradients look again, and a fetch looks when the run is over.
    """

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None, synchronization=tf.VariableSynchronization.AUTO,
                 aggregation=tf.VariableAggregation.NONE, shape=None, _full_name=None):
        if variable_def is not None:
            raise NotImplementedError("Variables are not read from protocol buffers: variable_def is not covered")
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        graph = get_default_graph()
        self._graph = graph
        trainable = True if trainable is None else bool(trainable)
        self._is_resource = _use_resource[0] if use_resource is None else bool(use_resource)
        self._constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        self._full_name = _full_name or graph.unique_name(name or "Variable")
        if _full_name is not None:
            graph._used.setdefault(_full_name.lower(), 1)
        pause = _core._pause_tracing() if _core._is_tracing() else None
        try:
            with graph.control_dependencies(None), graph.name_scope(self._full_name + "/"):
                value = initial_value() if callable(initial_value) else initial_value
                if isinstance(value, Unranked):
                    raise ValueError("initial_value must have a shape specified: the value depends on a placeholder "
                                     "of unknown shape")
                wanted = None if dtype is None else tf.as_dtype(dtype)
                if isinstance(value, tf.Variable):
                    value = value.value()
                if wanted is not None and isinstance(value, _core.Tensor) and value.dtype != wanted:
                    with graph.inside():
                        value = tf.cast(value, wanted)
                self._initial_value = to_tensor(value, wanted, "initial_value")
                for wanted_shape in (expected_shape, shape):
                    if wanted_shape is not None and not tf.TensorShape(wanted_shape).is_compatible_with(
                            self._initial_value.shape):
                        raise ValueError(f"The initial value's shape ({self._initial_value.shape}) is not compatible with the "
                                         f"explicitly supplied `shape` argument ({wanted_shape}).")
                if not self._initial_value.shape.is_fully_defined():
                    raise ValueError(f"initial_value must have a shape specified: {self._initial_value}")
                self._declare(graph._program, self._initial_value.dtype, self._initial_value.shape.as_list(),
                              self._full_name, trainable, self._is_resource)
                graph._variables[self._full_name] = self
                graph._operations[self._full_name] = Operation(
                    graph, self._full_name, "VarHandleOp" if self._is_resource else "VariableV2", [], [], [])
                self._initializer = self._write(_core.Variable.assign, self._initial_value, "Assign").op
                self._snapshot = self._read("read")
        finally:
            del pause
        for key in [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections:
            graph.add_to_collection(key, self)
        if trainable and (collections is None or GraphKeys.TRAINABLE_VARIABLES not in collections):
            graph.add_to_collection(GraphKeys.TRAINABLE_VARIABLES, self)

    name = property(lambda self: self._full_name + ":0", doc="The name, with ':0' behind it.")
    graph = property(lambda self: self._graph)
    op = property(lambda self: self._graph._operations[self._full_name])
    initializer = property(lambda self: self._initializer, doc="The operation that gives it its first value.")
    initial_value = property(lambda self: self._initial_value)
    device = property(lambda self: "")
    constraint = property(lambda self: self._constraint)
    handle = property(lambda self: self._snapshot)

    def _read(self, name):
        first = _core._program_size(self._graph._program)
        value = _core.Variable.value(self)
        if not _core._is_tracing() or _core._place(value) is not None:
            self._graph._name_result([value], name, "ReadVariableOp" if self._is_resource else "Identity", first, [])
        return value

    def _element(self):
        return self._snapshot

    def value(self):
        """The value, a tensor, after what control_dependencies says here."""
        return self._read("ReadVariableOp")

    def read_value(self):
        return self._read("Read")

    def initialized_value(self):
        """The value with which it will start."""
        return self._initial_value

    def is_initialized(self, name=None):
        return is_variable_initialized(self)

    def eval(self, session=None):
        """The value in a session, or in the default one."""
        from ._session import session_for
        return session_for(session, self._graph).run(self)

    def load(self, value, session=None):
        """Sets the value in a session."""
        from ._session import session_for
        session_for(session, self._graph)._set(self, value)

    def _write(self, method, value, name):
        """Writes, and gives the new value as a tensor."""
        graph = self._graph
        if graph._late_controls or has_unranked((value,)):
            return defer(graph, self._write, (method, value, name), {}, name)
        first = _core._program_size(graph._program)
        with graph.inside():
            method(self, value)
        if _core._is_tracing() and _core._program_size(graph._program) == first:  # in a branch or a body
            return _core.Variable.value(self)
        node = _core._program_size(graph._program) - 1
        result = graph._tensor(_core._program_node(graph._program, node)[2][0])
        graph._name_result([result], name, "Assign", node)
        return result

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Replaces the value, when it is run; gives the new one."""
        return self._write(_core.Variable.assign, value, name or "Assign")

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the value, when it is run; gives the new one."""
        return self._write(_core.Variable.assign_add, delta, name or "AssignAdd")

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the value, when it is run; gives the new one."""
        return self._write(_core.Variable.assign_sub, delta, name or "AssignSub")

    def _rows(self, how, slices):
        return self._scatter_rows(how, slices.indices, slices.values)

    def _scatter_rows(self, how, indices, updates, name=None):
        def write(variable, pair):
            _core.Variable._scatter(variable, how, pair[0], pair[1])
        return self._write(write, (indices, updates), name or f"Scatter{how.capitalize()}")

    def count_up_to(self, limit):
        raise NotImplementedError("count_up_to is not covered; use assign_add")

    def to_proto(self, export_scope=None):
        raise NotImplementedError("Variables are not written as protocol buffers")

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __iadd__(self, value):
        return self + value

    def __isub__(self, value):
        return self - value

    def __imul__(self, value):
        return self * value

    def __itruediv__(self, value):
        return self / value

    def __repr__(self):
        kind = "" if self._is_resource else "_ref"
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}{kind}>"

    __str__ = __repr__


def _assigner(name):
    def assign(ref, value, validate_shape=None, use_locking=None, name=None):
        return getattr(ref, method)(value, name=name)
    method = name
    assign.__name__ = name
    assign.__doc__ = getattr(Variable, name).__doc__
    return assign


assign, assign_add, assign_sub = _assigner("assign"), _assigner("assign_add"), _assigner("assign_sub")


def _scatter(how):
    def scatter(ref, indices, updates, use_locking=True, name=None):
        return ref._scatter_rows(how, indices, updates, name)
    scatter.__name__ = f"scatter_{how}"
    scatter.__doc__ = f"Changes rows of a variable when it is run ({how}); gives the new value."
    return scatter


scatter_add, scatter_sub, scatter_update = _scatter("add"), _scatter("sub"), _scatter("update")


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    """Replaces at coordinates; gives the new value."""
    return ref.assign(in_graph(tf.tensor_scatter_nd_update)(ref.value(), indices, updates), name=name)


def scatter_nd_add(ref, indices, updates, use_locking=True, name=None):
    """Adds at coordinates; gives the new value."""
    return ref.assign(in_graph(tf.tensor_scatter_nd_add)(ref.value(), indices, updates), name=name)


# -------------------------------------------------------------------- lists of variables


def _collection(key):
    def variables(scope=None):
        return get_default_graph().get_collection(key, scope)
    variables.__doc__ = f"The variables in the collection '{key}'."
    return variables


global_variables = all_variables = _collection(GraphKeys.GLOBAL_VARIABLES)
local_variables = _collection(GraphKeys.LOCAL_VARIABLES)
model_variables = _collection(GraphKeys.MODEL_VARIABLES)
trainable_variables = _collection(GraphKeys.TRAINABLE_VARIABLES)
moving_average_variables = _collection(GraphKeys.MOVING_AVERAGE_VARIABLES)


def variables_initializer(var_list, name="init"):
    """An operation that gives variables their first values."""
    return group(*[v.initializer for v in var_list], name=name)


initialize_variables = variables_initializer


def global_variables_initializer():
    """An operation that gives all global variables their first values."""
    return variables_initializer(global_variables(), "init")


initialize_all_variables = global_variables_initializer


def local_variables_initializer():
    """An operation that gives all local variables their first values."""
    return variables_initializer(local_variables(), "init_local")


initialize_local_variables = local_variables_initializer


def tables_initializer(name="init_all_tables"):
    """An operation that does nothing: there are no tables."""
    return group(name=name)


class _Asked:
    """A fetch that a session answers by itself."""

    def __init__(self, answer):
        self.answer = answer


def is_variable_initialized(variable):
    """To be run: whether the variable has a value."""
    return _Asked(lambda session: session._has(variable))


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """To be run: the names of the variables without a value."""
    variables = global_variables() + local_variables() if var_list is None else list(var_list)

    def answer(session):
        import numpy as np
        return np.array([v.op.name.encode() for v in variables if not session._has(v)], dtype=object)
    return _Asked(answer)


# -------------------------------------------------------------------- scopes


class _Reuse(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE


class VariableScope:
    """A prefix for the names of get_variable, with defaults."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, dtype=tf.float32, use_resource=None,
                 constraint=None, custom_getter=None, original_name_scope=""):
        self._reuse, self._name, self._initializer, self._regularizer = reuse, name, initializer, regularizer
        self._dtype, self._use_resource, self._constraint = dtype, use_resource, constraint
        self._custom_getter, self._original_name_scope = custom_getter, original_name_scope

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._original_name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)
    custom_getter = property(lambda self: self._custom_getter)

    def reuse_variables(self):
        """From here on variables must exist."""
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def set_dtype(self, dtype):
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        self._use_resource = use_resource

    def global_variables(self):
        return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, self._name and self._name + "/")

    def trainable_variables(self):
        return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, self._name and self._name + "/")

    def get_variable(self, *args, **kwargs):
        return get_variable(*args, **kwargs)


def get_variable_scope():
    """The scope that get_variable uses."""
    graph = get_default_graph()
    if graph._variable_scope is None:
        graph._variable_scope = VariableScope(False)
    return graph._variable_scope


def _refuse_parts(partitioner):
    if partitioner is not None:
        raise NotImplementedError("variables in parts are not covered; leave out partitioner=")


class variable_scope:  # noqa: N801
    """A context in which names of variables get a prefix, and get_variable makes or reuses them."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        _refuse_parts(partitioner)
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        self._given, self._default, self._reuse = name_or_scope, default_name, reuse
        self._options = {"initializer": initializer, "regularizer": regularizer, "dtype": dtype,
                         "use_resource": use_resource, "constraint": constraint, "custom_getter": custom_getter}
        self._named = auxiliary_name_scope

    def __enter__(self):
        graph = get_default_graph()
        outer = get_variable_scope()
        given = self._given
        self._graph, self._outer, self._stack = graph, outer, contextlib.ExitStack()
        if isinstance(given, VariableScope):
            name, base = given.name, given
            if self._named and name:
                self._stack.enter_context(graph.name_scope(name.split("/")[-1]))
            original = given.original_name_scope
        else:
            prefix = outer.name + "/" if outer.name else ""
            if given is None:  # a default name is made unique
                if self._reuse:
                    raise ValueError("reuse=True cannot be used without a name_or_scope")
                given = _unique_scope(graph, prefix, self._default)
            name, base = prefix + given, outer
            if self._named:
                self._stack.enter_context(graph.name_scope(given))
            original = graph._scope
        reuse = self._reuse
        if reuse is None or reuse is False:
            reuse = base.reuse if base.reuse else outer.reuse
            if isinstance(self._given, VariableScope):
                reuse = base.reuse or outer.reuse
        options = {k: v if v is not None else getattr(base, k) for k, v in self._options.items()}
        if self._options["custom_getter"] is not None and base.custom_getter is not None:
            inner, around = self._options["custom_getter"], base.custom_getter
            options["custom_getter"] = lambda getter, *a, **k: inner(functools.partial(around, getter), *a, **k)
        scope = VariableScope(reuse, name, original_name_scope=original, **options)
        graph._variable_scope = scope
        return scope

    def __exit__(self, *error):
        self._graph._variable_scope = self._outer
        self._stack.close()
        return False


def _unique_scope(graph, prefix, default):
    used = graph.__dict__.setdefault("_default_scopes", set())
    name, number = default, 0
    while prefix + name in used or any(v.startswith(prefix + name + "/") for v in graph._variable_store):
        number += 1
        name = f"{default}_{number}"
    used.add(prefix + name)
    return name


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    with variable_scope(name_or_scope, default_name, values, **kwargs) as scope:
        yield scope


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=tf.VariableSynchronization.AUTO,
                 aggregation=tf.VariableAggregation.NONE):
    """The variable of that name in the current variable scope: made, or found if the scope reuses variables."""
    scope = get_variable_scope()
    _refuse_parts(partitioner)
    getter = custom_getter or scope.custom_getter
    options = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
                   collections=collections, use_resource=use_resource, constraint=constraint,
                   synchronization=synchronization, aggregation=aggregation)
    if getter is not None:
        full = (scope.name + "/" if scope.name else "") + name
        options.update(caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
                       reuse=scope.reuse)
        return getter(_get_full, full, **options)
    return _get_full((scope.name + "/" if scope.name else "") + name, **options)


def _get_full(name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, trainable=None,
              collections=None, use_resource=None, constraint=None, synchronization=None, aggregation=None, **ignored):
    graph, scope = get_default_graph(), get_variable_scope()
    store = graph._variable_store
    reuse = scope.reuse if reuse is None else reuse
    dtype = tf.as_dtype(dtype or scope.dtype or tf.float32)
    wanted = None if shape is None else tf.TensorShape(shape if not isinstance(shape, int) else [shape])
    if name in store:
        if not reuse:
            raise ValueError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                             "reuse=tf.AUTO_REUSE in VarScope?")
        found = store[name]
        if wanted is not None and not wanted.is_compatible_with(found.shape):
            raise ValueError(f"Trying to share variable {name}, but specified shape {wanted} and found shape "
                             f"{found.shape}.")
        if dtype != found.dtype:
            raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                             f"{found.dtype.name}_ref.")
        return found
    if reuse is True:
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                         "set reuse=tf.AUTO_REUSE in VarScope?")
    initializer = initializer if initializer is not None else scope.initializer
    regularizer = regularizer if regularizer is not None else scope.regularizer
    value = _first_value(name, wanted, dtype, initializer)
    made = Variable(value, trainable=trainable, collections=collections, dtype=dtype, constraint=constraint or
                    scope.constraint, use_resource=use_resource if use_resource is not None else scope.use_resource,
                    _full_name=name)
    store[name] = made
    if regularizer is not None:
        with graph.control_dependencies(None), graph.name_scope(name + "/Regularizer/"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _first_value(name, shape, dtype, initializer):
    from . import _initializers
    if initializer is None:
        initializer = (_initializers.glorot_uniform_initializer() if dtype.is_floating
                       else _initializers.zeros_initializer())
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer
    if shape is None:
        raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {shape}.")

    def make():
        with get_default_graph().name_scope("Initializer"):
            try:
                return initializer(shape.as_list(), dtype=dtype)
            except TypeError as error:
                if "unexpected keyword" not in str(error) and "positional argument" not in str(error):
                    raise
                try:
                    return initializer(shape.as_list())
                except TypeError:
                    return initializer()
    return make


def get_local_variable(name, *args, **kwargs):
    """get_variable for the collection of local variables."""
    kwargs.update(trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
    return get_variable(name, *args, **kwargs)


def no_regularizer(_):
    return None
