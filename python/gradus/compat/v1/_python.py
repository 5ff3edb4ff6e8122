"""Python in graphs: functions that a run calls, and what it prints and checks."""
import sys

import numpy as np

import gradus as tf

from ... import _core
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


def _effect(tensor, tensors, function):
    """After each run that needs the tensor, the function gets the values of the tensors."""
    graph = get_default_graph()
    graph._effects.setdefault(_core._place(tensor)[2], []).append((tensors, function))
    return tensor


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802
    """The input; the data are printed to standard error after each run that needs it."""
    if has_unranked((input_, data)):
        return defer(get_default_graph(), Print, (input_, data, message, first_n, summarize), {}, name or "Print")
    left = [first_n]

    def show(values):
        if left[0] is not None:
            if left[0] <= 0:
                return
            left[0] -= 1
        limit = 3 if summarize is None else summarize
        parts = []
        for value in values:
            flat = np.ravel(value)
            shown = " ".join(f"{v:g}" if np.issubdtype(flat.dtype, np.floating) else str(v)
                             for v in (flat if limit < 0 else flat[:limit]))
            parts.append(f"[{shown}{'...' if 0 <= limit < flat.size else ''}]")
        print((message or "") + "".join(parts), file=sys.stderr)
    out = in_graph(tf.identity, "Print")(input_, name=name)
    return _effect(out, [to_tensor(d) for d in data], show)


def print_(*inputs, **kwargs):
    """An operation that prints tensors and other objects after a run."""
    from ._functions import no_op
    kwargs.pop("name", None)
    graph = get_default_graph()
    if has_unranked(inputs):
        return defer(graph, print_, inputs, kwargs, "print")
    tensors = [i for i in inputs if isinstance(i, (_core.Tensor, _core.Variable))]

    def show(values):
        given = iter(values)
        tf.print(*[tf.constant(next(given)) if isinstance(i, (_core.Tensor, _core.Variable)) else i for i in inputs],
                 **kwargs)
    with graph.control_dependencies(tensors):
        operation = no_op("PrintV2")
    graph._effects.setdefault(operation._nodes[0], []).append(([to_tensor(t) for t in tensors], show))
    return operation


def Assert(condition, data, summarize=None, name=None):  # noqa: N802
    """An operation that fails after a run in which the condition did not hold."""
    from ._functions import no_op
    graph = get_default_graph()
    if has_unranked((condition, data)):
        return defer(graph, Assert, (condition, data, summarize), {}, name or "Assert")
    condition = to_tensor(condition)
    tensors = [to_tensor(d) for d in data if not isinstance(d, str)]

    def look(values):
        if not np.all(values[0]):
            given = iter(values[1:])
            shown = "".join(f"[{d if isinstance(d, str) else next(given)}]" for d in data)
            raise tf.errors.InvalidArgumentError(None, None, f"assertion failed: {shown}")
    with graph.control_dependencies([condition]):
        operation = no_op(name or "Assert")
    graph._effects.setdefault(operation._nodes[0], []).append(([condition] + tensors, look))
    return operation


def check_numerics(tensor, message, name=None):
    """The tensor; a run in which it is not finite fails."""
    out = in_graph(tf.identity, "CheckNumerics")(tensor, name=name)

    def look(values):
        for kind, bad in (("NaN", np.isnan), ("Inf", np.isinf)):
            if bad(values[0]).any():
                raise tf.errors.InvalidArgumentError(None, None, f"{message} : Tensor had {kind} values")
    return _effect(out, [out], look)


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
    return Assert(in_graph(lambda a: tf.reduce_all(a > tf.cast(0, a.dtype)), "All")(x), [message or "x > 0 did not hold", x])


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Checks the rank, now."""
    if to_tensor(x).shape.rank != rank:
        raise ValueError(f"{message or ''} Tensor {x} must have rank {rank}. Received rank {to_tensor(x).shape.rank}")
    from ._functions import no_op
    return no_op()
