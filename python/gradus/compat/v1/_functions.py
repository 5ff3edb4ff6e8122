"""Functions of the module as functions of the default graph, with the argument names of TensorFlow 1."""
import functools
import inspect

import gradus as tf

from ... import _core
from ._graph import Operation, get_default_graph
from ._unranked import Unranked, defer, has_unranked

RENAMED = {"keep_dims": "keepdims", "reduction_indices": "axis", "dim": "axis", "dimension": "axis", "squeeze_dims": "axis",
           "concat_dim": "axis", "split_dim": "axis", "to_dtype": "dtype"}
gradient_functions = {}  # by the names under which they were registered


def RegisterGradient(op_type):  # noqa: N802
    """A decorator: the gradient f(op, *grads) for gradient_override_map."""
    def register(function):
        if op_type in gradient_functions:
            raise KeyError(f"Registering two gradient with name '{op_type}'!")
        gradient_functions[op_type] = function
        return function
    return register


def NoGradient(op_type):  # noqa: N802
    gradient_functions[op_type] = None


NotDifferentiable = NoGradient


class OverriddenOp:
    """What a registered gradient sees of its op."""

    def __init__(self, name, kind, inputs, outputs):
        self.name, self.type, self.inputs, self.outputs = name, kind, inputs, outputs

    def get_attr(self, name):
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")


def _overridden(function, gradient, kind, args, kwargs):
    tensors = [a for a in args if _core._place(a) is not None]

    @tf.custom_gradient
    def run(*inputs):
        given = iter(inputs)
        y = function(*[next(given) if _core._place(a) is not None else a for a in args], **kwargs)

        def grad(*upstream):
            op = OverriddenOp(kind, kind, list(inputs), list(y) if isinstance(y, (list, tuple)) else [y])
            found = gradient(op, *upstream)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            return [tf.zeros_like(i) if g is None else g for g, i in zip(found, inputs)]
        return y, grad
    return run(*tensors)


def as_nodes(graph, result):
    """Values that were computed at once become constants of the graph."""
    if isinstance(result, _core.Tensor):
        if _core._traced_name(result) is None:
            return graph._constant(result)
        return result
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[as_nodes(graph, r) for r in result])
    if isinstance(result, (list, tuple)):
        return type(result)(as_nodes(graph, r) for r in result)
    return result


def _tensors(result):
    if isinstance(result, _core.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [t for t in result if isinstance(t, _core.Tensor)]
    return []


def _is_elsewhere(args):
    """Whether the tensors belong to no graph of this kind: they have values, or a branch or another function is traced."""
    found = False
    for arg in args:
        for part in arg if isinstance(arg, (list, tuple)) else (arg,):
            if isinstance(part, _core.Tensor):
                if _core._place(part) is not None:
                    return False
                found = True
            elif isinstance(part, _core.Variable):
                return False
    return found


def in_graph(function, kind=None, renamed=RENAMED, count=None):
    """The function as one that makes nodes. `kind` is what TensorFlow calls them; `count` says how many results a call
    has, if it has a list of them."""
    kind = kind or function.__name__
    try:
        parameters = inspect.signature(function).parameters
        names = {old: new for old, new in renamed.items() if old not in parameters and new in parameters}
        takes_name = "name" in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        order = list(parameters)
    except (TypeError, ValueError):
        names, takes_name, order = renamed, False, []

    @functools.wraps(function)
    def call(*args, **kwargs):
        graph = get_default_graph()
        name = kwargs.pop("name", None)
        if takes_name and name is None and len(args) == len(order) and order and order[-1] == "name":
            name, args = args[-1], args[:-1]
        for old in names:
            if old in kwargs:
                value = kwargs.pop(old)
                if value is not None:
                    kwargs[names[old]] = value
        if graph._late_controls or has_unranked(args) or has_unranked(kwargs):
            if name is not None:
                kwargs["name"] = name
            return defer(graph, call, args, kwargs, name or kind, count and count(*args, **kwargs))
        if _is_elsewhere(args):
            return function(*args, **kwargs)
        first = _core._program_size(graph._program)
        with graph.inside():
            gradient = gradient_functions.get(graph._overrides.get(kind))
            if gradient is not None:
                result = _overridden(function, gradient, kind, args, kwargs)
            else:
                result = function(*args, **kwargs)
            result = as_nodes(graph, result)
        if not _core._is_tracing():
            graph._name_result(_tensors(result), name or kind, kind, first)
        return result

    return call


def to_tensor(value, dtype=None, name=None):
    """A tensor of the default graph."""
    if isinstance(value, Unranked):
        return value
    graph = get_default_graph()
    with graph.inside():
        made = tf.convert_to_tensor(value, dtype)
        return graph._constant(made, name or "Const") if _core._traced_name(made) is None else made


def operation(graph, nodes, name, kind="NoOp"):
    """An operation that stands for nodes."""
    full = name[:-1] if name.endswith("/") else graph.unique_name(name)
    return graph._record(full, kind, nodes, [])


def no_op(name=None):
    """An operation that does nothing but wait for what is around it."""
    graph = get_default_graph()
    if graph._late_controls:
        return defer(graph, no_op, (), {}, name or "NoOp")
    if _core._is_tracing():
        return None
    node = _core._program_no_op(graph._program)
    return operation(graph, [node], name or "NoOp")


def group(*inputs, **kwargs):
    """An operation that has run when all of these have."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    flat = [i for i in tf.nest.flatten(list(inputs)) if i is not None]
    for item in flat:
        if not (isinstance(item, (Operation, Unranked, _core.Tensor, _core.Variable, tf.IndexedSlices))):
            raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{item}' with type "
                            f"'{type(item)}'.")
    graph = get_default_graph()
    if _core._is_tracing():  # in a branch, what was assigned happens
        return None
    with graph.control_dependencies(flat):
        return no_op(name or "group_deps")


def tuple_(tensors, name=None, control_inputs=None):
    """The tensors, each available only when all of them are."""
    graph = get_default_graph()
    waits = [t for t in tensors if t is not None] + list(control_inputs or ())
    with graph.name_scope(name or "tuple"), graph.control_dependencies([group(*waits)]):
        return [None if t is None else identity(t, name="control_dependency") if not isinstance(t, Operation) else t
                for t in tensors]


def with_dependencies(dependencies, output, name=None):
    """The tensor, after these operations."""
    with get_default_graph().control_dependencies(dependencies):
        return identity(output, name=name)


def _identity(input, name=None):  # noqa: A002
    return tf.identity(input)


identity = in_graph(_identity, "Identity")


def squeeze(input, axis=None, name=None):
    """Axes of size 1 go away: those that are named, or that are known to be 1 before a run."""
    if axis is None or axis == []:
        sizes = input.shape.as_list()
        axis = [i for i, size in enumerate(sizes) if size == 1]
        if not axis:
            return tf.identity(input)
    return tf.squeeze(input, axis)


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE):
    """The gradients of the sum of ys with respect to each of xs, as nodes; None where there is no dependence."""
    def as_list(x):
        return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]
    ys, xs, stops = as_list(ys), as_list(xs), as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    if isinstance(unconnected_gradients, str):
        unconnected_gradients = tf.UnconnectedGradients(unconnected_gradients)
    graph = get_default_graph()
    arguments = (ys, xs, grad_ys, stops)
    if has_unranked(arguments) or graph._late_controls:
        return defer(graph, gradients, (ys, xs, grad_ys, name), {"stop_gradients": stops,
                     "unconnected_gradients": unconnected_gradients}, name or "gradients", len(xs))
    grad_ys = [None if g is None else to_tensor(g, y.dtype) for g, y in zip(grad_ys, ys)]
    with graph.name_scope(name), graph.inside():
        ys = [to_tensor(y) for y in ys]
        found = _core._graph_gradients(ys, [x if isinstance(x, _core.Variable) else to_tensor(x) for x in xs], grad_ys,
                                       [to_tensor(s) for s in stops], unconnected_gradients)
        return [as_nodes(graph, g) for g in found]


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The second derivatives of each y with respect to each x: shape x.shape + x.shape."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    graph = get_default_graph()
    if has_unranked((ys, xs)):
        return defer(graph, hessians, (ys, xs), {}, name, len(xs))
    result = []
    with graph.name_scope(name), graph.inside():
        for x in xs:
            first = _core._graph_gradients(list(ys) if isinstance(ys, (list, tuple)) else [ys], [x], (), (),
                                           tf.UnconnectedGradients.ZERO)[0]
            result.append(_core._graph_jacobian(tf.convert_to_tensor(first), x))
    return result
