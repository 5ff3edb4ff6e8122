"""Python in graphs: functions that a run calls, and what it prints and checks."""
import sys

import numpy as np

import gradus as tf

from ... import _core
from ..._effects import at_each_run
from ._functions import OverriddenOp, gradient_functions, in_graph, to_tensor
from ._graph import get_default_graph
from ._unranked import Unranked, defer, has_unranked


def py_func(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    """Calls a Python function on arrays in each run that needs its results.

    Its arguments are computed first, in a run of their own. The results have no known shape.
    """
    graph = get_default_graph()
    several = isinstance(Tout, (list, tuple))
    dtypes = [tf.as_dtype(t) for t in (Tout if several else [Tout])]
    inputs = list(inp)
    called = _Called(func, inputs, dtypes)
    sources = []
    for i, dtype in enumerate(dtypes):
        source = Unranked(graph, name=name or "PyFunc", dtype=dtype)
        source._producer = lambda session, feeds, i=i: called.result(session, feeds, i)
        sources.append(source)
    gradient = gradient_functions.get(graph._overrides.get("PyFunc")) or gradient_functions.get(
        graph._overrides.get("PyFuncStateless"))
    results = sources
    if gradient is not None:
        results = defer(graph, _with_gradient, (gradient, inputs, sources), {}, "PyFunc", len(sources))
    return results if several else results[0]


numpy_function = py_func


def py_function(func, inp, Tout, name=None):  # noqa: N803
    """The same, with tensors instead of arrays. Without a gradient."""
    def on_tensors(*arrays):
        result = func(*[tf.constant(a) for a in arrays])
        return [np.asarray(r) for r in result] if isinstance(result, (list, tuple)) else np.asarray(result)
    return py_func(on_tensors, inp, Tout, name=name)


class _Called:
    """One call for all results, in one run."""

    def __init__(self, func, inputs, dtypes):
        self._func, self._inputs, self._dtypes, self._last = func, inputs, dtypes, (None, None)

    def result(self, session, feeds, i):
        if i == 0 or self._last[0] is not session:
            found = self._func(*session.run(list(self._inputs), feeds)) if self._inputs else self._func()
            found = list(found) if isinstance(found, (list, tuple)) and len(self._dtypes) > 1 else [
                found[0] if isinstance(found, (list, tuple)) and len(self._dtypes) == 1 and len(found) == 1 and
                isinstance(found[0], np.ndarray) else found]
            if len(found) != len(self._dtypes):
                raise tf.errors.InvalidArgumentError(
                    None, None, f"pyfunc returned {len(found)} values, expected {len(self._dtypes)}")
            self._last = (session, [np.asarray(f, d.as_numpy_dtype) for f, d in zip(found, self._dtypes)])
        return self._last[1][i]


def _with_gradient(gradient, inputs, outputs):
    """The outputs as a function of the inputs whose gradient is given."""
    tensors = [to_tensor(i) for i in inputs]

    @tf.custom_gradient
    def run(*both):
        inside, results = both[:len(tensors)], both[len(tensors):]

        def grad(*upstream):
            found = gradient(OverriddenOp("PyFunc", "PyFunc", list(inside), list(results)), *upstream)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            found = [tf.zeros_like(i) if g is None else g for g, i in zip(found, inside)]
            return found + list(upstream)  # nobody asks for those of what is fed
        results = [tf.identity(r) for r in results]
        return results if len(results) > 1 else results[0], grad

    with get_default_graph().inside():
        made = run(*tensors, *outputs)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _at_each_run(graph, name, function, tensors):
    """An operation that calls function(*tensors) when it is run."""
    first = _core._program_size(graph._program)
    with graph.inside():
        at_each_run(name, function, tensors)
    if _core._is_tracing():
        return None
    nodes = list(range(first, _core._program_size(graph._program)))
    return graph._record(graph.unique_name(name), name, nodes, [])


def _tensors(values):
    return [to_tensor(v) for v in values]


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802
    """The input; whoever needs it prints the data to standard error."""
    graph = get_default_graph()
    if has_unranked((input_, data)):
        return defer(graph, Print, (input_, data, message, first_n, summarize), {}, name or "Print")
    left = [first_n]
    limit = 3 if summarize is None else summarize

    def text(value):
        flat = np.ravel(value)
        shown = " ".join(f"{v:g}" if np.issubdtype(flat.dtype, np.floating) else str(v)
                         for v in (flat if limit < 0 else flat[:limit]))
        return f"[{shown}{'...' if 0 <= limit < flat.size else ''}]"

    def show(*values):
        if left[0] is not None:
            if left[0] <= 0:
                return
            left[0] -= 1
        print((message or "") + "".join(text(v.numpy()) for v in values), file=sys.stderr)
    done = _at_each_run(graph, "PrintData", show, _tensors(data))
    with graph.control_dependencies([] if done is None else [done]):
        return in_graph(tf.identity, "Print")(input_, name=name)


def print_(*inputs, **kwargs):
    """An operation that prints tensors and other objects."""
    graph = get_default_graph()
    if has_unranked(inputs):
        return defer(graph, print_, inputs, kwargs, "print")
    first = _core._program_size(graph._program)
    with graph.inside():
        tf.print(*inputs, **kwargs)
    if _core._is_tracing():
        return None
    nodes = list(range(first, _core._program_size(graph._program)))
    if not nodes:  # nothing but texts: printed when it is run
        return _at_each_run(graph, "PrintV2", lambda: tf.print(*inputs, **kwargs), [])
    return graph._record(graph.unique_name("PrintV2"), "PrintV2", nodes, [])


def Assert(condition, data, summarize=None, name=None):  # noqa: N802
    """An operation that fails, before variables are written, where the condition does not hold."""
    graph = get_default_graph()
    if has_unranked((condition, data)):
        return defer(graph, Assert, (condition, data, summarize), {}, name or "Assert")

    def look(held, *values):
        if np.all(held.numpy()):
            return
        given = iter(values)
        shown = " ".join(f"[{d if isinstance(d, str) else next(given).numpy()}]" for d in data)
        raise tf.errors.InvalidArgumentError(None, None, f"assertion failed: {shown}")
    tensors = _tensors([condition] + [d for d in data if not isinstance(d, str)])
    return _at_each_run(graph, name or "Assert", look, tensors)


def check_numerics(tensor, message, name=None):
    """The tensor; a run in which it is not finite fails."""
    if has_unranked((tensor,)):
        return defer(get_default_graph(), check_numerics, (tensor, message), {}, name or "CheckNumerics")

    def look(value):
        for kind, bad in (("NaN", np.isnan), ("Inf", np.isinf)):
            if bad(value.numpy()).any():
                raise tf.errors.InvalidArgumentError(None, None, f"{message} : Tensor had {kind} values")
    graph = get_default_graph()
    done = _at_each_run(graph, "CheckNumerics", look, _tensors([tensor]))
    with graph.control_dependencies([done]):
        return in_graph(tf.identity, "CheckNumerics")(tensor, name=name)


def _asserter(name, compare, text):
    def check(x, y, data=None, summarize=None, message=None, name=None):
        condition = in_graph(lambda a, b: tf.reduce_all(compare(a, b)), "All")(x, y)
        return Assert(condition, [message or text, x, y])
    check.__name__ = name
    return check


assert_equal = _asserter("assert_equal", tf.equal, "Condition x == y did not hold.")
assert_less = _asserter("assert_less", tf.less, "Condition x < y did not hold.")
assert_less_equal = _asserter("assert_less_equal", tf.less_equal, "Condition x <= y did not hold.")
assert_greater = _asserter("assert_greater", tf.greater, "Condition x > y did not hold.")
assert_greater_equal = _asserter("assert_greater_equal", tf.greater_equal, "Condition x >= y did not hold.")


def assert_positive(x, data=None, summarize=None, message=None, name=None):
    """Fails after a run in which an element was not positive."""
    x = to_tensor(x)
    held = in_graph(lambda a: tf.reduce_all(a > tf.cast(0, a.dtype)), "All")(x)
    return Assert(held, [message or "", *(["x > 0 did not hold element-wise:", x] if data is None else data)], summarize, name)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Checks the rank, now."""
    if to_tensor(x).shape.rank != rank:
        shown = "" if data is None else f" {list(data)[:summarize]}"
        raise ValueError(f"{message or ''} Tensor {x} must have rank {rank}. Received rank {to_tensor(x).shape.rank}{shown}")
    from ._functions import no_op
    return no_op(name)
