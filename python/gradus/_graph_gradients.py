"""tf.gradients and tf.hessians: derivatives inside of a tf.function, with respect to any tensor that it has made."""
import sys

from . import _core, nest

__all__ = ["gradients", "hessians"]


def _tf():
    return sys.modules["gradus"]


def _list(x):
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]


def _traced(x):
    """A variable is known to the function by the value that it read."""
    return _tf().convert_to_tensor(x)


def _must_trace():
    if not _core._is_tracing():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients=None):
    """The gradients of the sum of ys with respect to each of xs, a list; None where there is no dependence."""
    tf = _tf()
    _must_trace()
    ys, xs, stops = _list(ys), _list(xs), _list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"Length mismatch. Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    if isinstance(unconnected_gradients, str):
        unconnected_gradients = tf.UnconnectedGradients(unconnected_gradients)
    ys = [tf.convert_to_tensor(y) for y in ys]
    grad_ys = [None if g is None else tf.convert_to_tensor(g, y.dtype) for g, y in zip(grad_ys, ys)]
    return _core._graph_gradients(ys, [_traced(x) for x in xs], grad_ys, [_traced(s) for s in stops],
                                  unconnected_gradients or tf.UnconnectedGradients.NONE)


def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """The second derivatives of the sum of ys with respect to each of xs: shape x.shape + x.shape."""
    tf = _tf()
    _must_trace()
    found = []
    for x in [_traced(x) for x in nest.flatten(_list(xs))]:
        first = gradients(ys, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)[0]
        found.append(_core._graph_jacobian(tf.convert_to_tensor(first), x))
    return found
