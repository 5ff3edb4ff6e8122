"""tf.cond, tf.while_loop, tf.case and maps, in a graph."""
import gradus as tf

from ... import _core, nest
from ._functions import as_nodes, in_graph, to_tensor
from ._graph import Operation, get_default_graph
from ._unranked import defer, has_unranked

__all__ = ["TensorArray", "cond", "case", "while_loop", "map_fn", "scan", "foldl", "foldr"]


class TensorArray(tf.TensorArray):
    """A list of tensors that are written and read by number."""

    def __new__(cls, *args, **kwargs):
        with get_default_graph().inside():
            return tf.TensorArray(*args, **kwargs)


def _tensor_or_flag(value):
    """Results of branches that are operations have happened: a number stands for them."""
    if value is None or isinstance(value, Operation):
        return tf.constant(0)
    return value


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """The results of true_fn or of false_fn. What they do with variables happens only if they are chosen."""
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' must be callable.")
    graph = get_default_graph()
    if graph._late_controls or has_unranked((pred,)):
        return defer(graph, cond, (pred, true_fn, false_fn), {}, name or "cond")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    pred = to_tensor(pred)
    if pred.shape.rank:
        with graph.inside():
            pred = tf.reshape(pred, [])
    kinds = []

    def branch(function):
        def run():
            result = function()
            kinds.append(result is None or isinstance(result, Operation))
            structure = nest.map_structure(_tensor_or_flag, [result])[0]
            return nest.map_structure(lambda t: tf.convert_to_tensor(t), structure)
        return run
    first = _core._program_size(graph._program)
    with graph.name_scope(name or "cond"), graph.inside():
        found = tf.cond(pred, branch(true_fn), branch(false_fn))
    made = range(first, _core._program_size(graph._program))
    writes = [n for n in made if _core._program_node(graph._program, n)[0] == "assign"]
    if writes and not all(kinds):  # the results come with what the branches write
        waits = Operation(graph, "", "", writes, [])
        with graph.control_dependencies([waits]), graph.inside():
            found = nest.map_structure(tf.identity, found)
    if all(kinds) and not _core._is_tracing():
        return graph._record(graph.unique_name(name or "cond"), "cond", list(made), [])
    if isinstance(found, (list, tuple)) and len(found) == 1 and not hasattr(found, "_fields") and not strict:
        found = found[0]
    return as_nodes(graph, found)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The results of the first function whose predicate holds."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if exclusive and len(pairs) > 1:
        from ._python import Assert
        count = in_graph(lambda *preds: tf.add_n([tf.cast(tf.reshape(p, []), tf.int32) for p in preds]), "count")(
            *(p for p, _ in pairs))
        alone = Assert(in_graph(lambda c: c <= 1, "alone")(count), ["Input error: exclusive=True: more than 1 conditions "
                                                                   "evaluated as True:", count])
        with get_default_graph().control_dependencies([alone]):
            return case([(in_graph(tf.identity)(p), f) for p, f in pairs], default, False, strict, name)
    if default is None:
        (_, default), pairs = pairs[-1], pairs[:-1]
    chain = default
    for pred, function in reversed(pairs):
        chain = _chained(pred, function, chain, strict, name)
    return chain() if pairs else default()


def _chained(pred, function, rest, strict, name):
    return lambda: cond(pred, function, rest, strict, name)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,  # noqa: A002
               swap_memory=False, name=None, maximum_iterations=None, return_same_structure=False):
    """Calls loop_vars = body(*loop_vars) while cond(*loop_vars) holds, when the graph runs."""
    graph = get_default_graph()
    loop_vars = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    if graph._late_controls or has_unranked(loop_vars):
        return defer(graph, while_loop, (cond, body, loop_vars), {"maximum_iterations": maximum_iterations},
                     name or "while", len(loop_vars) if len(loop_vars) > 1 else None)
    start = nest.map_structure(_as_loop_variable, list(loop_vars))

    def run_body(*args):
        result = body(*args)
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        return nest.map_structure(_as_loop_variable, result)
    with graph.name_scope(name or "while"), graph.inside():
        found = tf.while_loop(cond, run_body, start, maximum_iterations=maximum_iterations)
    found = [as_nodes(graph, f) for f in found]
    found = found if back_prop else nest.map_structure(in_graph(tf.stop_gradient), found)
    if len(found) == 1 and not return_same_structure:
        return found[0]
    return tuple(found) if isinstance(loop_vars, tuple) else found


def _as_loop_variable(value):
    if isinstance(value, (_core.Tensor, tf.TensorArray)):
        return value
    return to_tensor(value) if not _core._is_tracing() else tf.convert_to_tensor(value)


def _over(function, kind):
    def call(*args, **kwargs):
        graph = get_default_graph()
        name, back_prop = kwargs.pop("name", None), kwargs.pop("back_prop", True)
        if not back_prop:  # gradients stop at what comes out
            return nest.map_structure(in_graph(tf.stop_gradient), call(*args, name=name, **kwargs))
        if graph._late_controls or has_unranked(args) or has_unranked(kwargs):
            return defer(graph, call, args, kwargs, name or kind)
        with graph.name_scope(name or kind), graph.inside():
            return as_nodes(graph, function(*args, **kwargs))
    call.__name__, call.__doc__ = kind, function.__doc__
    return call


def _map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
            name=None, fn_output_signature=None):
    """fn of each slice along axis 0, stacked."""
    return tf.map_fn(fn, nest.map_structure(to_tensor, elems), fn_output_signature=fn_output_signature or dtype)


map_fn, scan, foldl, foldr = _over(_map_fn, "map"), _over(tf.scan, "scan"), _over(tf.foldl, "foldl"), _over(
    tf.foldr, "foldr")
