"""Checks of values, shapes and dtypes."""
import numbers as _numbers

import gradus as tf

from . import _effects


def _fail(message, default, parts, summarize):
    shown = []
    for name, value in parts:
        flat = tf.reshape(value, [-1])
        count = min(flat.shape[0], 3 if summarize is None or summarize < 0 else summarize)
        shown.append(f"First {count} elements of {name}:\n{flat[:count].numpy()}")
    text = "\n".join(([message] if message else []) + [default] + shown)
    raise tf.errors.InvalidArgumentError(None, None, text)


def _binary(symbol, holds):
    def check(x, y, message=None, summarize=None, name=None):
        if not (tf.is_tensor(x) or tf.is_tensor(y)):
            x = tf.convert_to_tensor(x)
            y = tf.convert_to_tensor(y, dtype_hint=x.dtype)
        elif tf.is_tensor(x):
            x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y, dtype_hint=x.dtype)
        else:
            x, y = tf.convert_to_tensor(x, dtype_hint=y.dtype), tf.convert_to_tensor(y)
        text = f"Condition x {symbol} y did not hold."
        _effects.check(holds(x, y), lambda x, y: _fail(message, text, [("x", x), ("y", y)], summarize), [x, y])
    check.__doc__ = f"Raises InvalidArgumentError unless x {symbol} y everywhere."
    return check


assert_equal = _binary("==", tf.equal)
assert_none_equal = _binary("!=", tf.not_equal)
assert_less = _binary("<", tf.less)
assert_less_equal = _binary("<=", tf.less_equal)
assert_greater = _binary(">", tf.greater)
assert_greater_equal = _binary(">=", tf.greater_equal)


def _unary(what, holds):
    def check(x, message=None, summarize=None, name=None):
        x = tf.convert_to_tensor(x)
        text = f"Condition {what} did not hold element-wise:"
        _effects.check(holds(x, tf.zeros_like(x)), lambda x: _fail(message, text, [("x", x)], summarize), [x])
    check.__doc__ = f"Raises InvalidArgumentError unless {what} everywhere."
    return check


assert_positive = _unary("x > 0", tf.greater)
assert_negative = _unary("x < 0", tf.less)
assert_non_negative = _unary("x >= 0", tf.greater_equal)
assert_non_positive = _unary("x <= 0", tf.less_equal)


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless |x - y| <= atol + rtol * |y| everywhere."""
    x = tf.convert_to_tensor(x)
    y = tf.convert_to_tensor(y, dtype_hint=x.dtype)
    import numpy as np
    epsilon = 10 * float(np.finfo(x.dtype.as_numpy_dtype).eps)
    rtol, atol = epsilon if rtol is None else rtol, epsilon if atol is None else atol
    text = "x and y not equal to tolerance"
    _effects.check(tf.abs(x - y) <= atol + rtol * tf.abs(y),
                   lambda x, y: _fail(message, text, [("x", x), ("y", y)], summarize), [x, y])


def assert_all_finite(x, message="", name=None):
    """x, if all of it is finite."""
    x = tf.convert_to_tensor(x)

    def fail(has_nan):
        kind = "NaN" if has_nan else "Inf"
        raise tf.errors.InvalidArgumentError(None, None, f"{message} : Tensor had {kind} values")
    _effects.check(tf.math.is_finite(x), fail, [tf.reduce_any(tf.math.is_nan(x))])
    return x


def check_numerics(tensor, message, name=None):
    """The tensor, if all of it is finite."""
    return assert_all_finite(tensor, message)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raises ValueError unless tensors have shapes in which equal symbols are equal sizes."""
    known = {}
    for tensor, expected in shapes.items() if isinstance(shapes, dict) else shapes:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tf.convert_to_tensor(tensor)
        actual = tensor.shape.as_list()
        expected = list(expected) if isinstance(expected, (list, tuple, str, tf.TensorShape)) else [expected]
        if expected[:1] in (["*"], [Ellipsis]):
            expected = expected[1:]
            actual = actual[len(actual) - len(expected):]
        if len(actual) != len(expected):
            raise ValueError(f"{message or ''} Tensor of shape {tensor.shape} must have rank {len(expected)}.".strip())
        for size, symbol in zip(actual, expected):
            if size is None or symbol is None or symbol == ".":
                continue
            want = symbol if isinstance(symbol, _numbers.Integral) else known.setdefault(symbol, size)
            if size != want:
                raise ValueError(f"{message or ''} Tensor of shape {tensor.shape}: the size {symbol} must be {want}, "
                                 f"but is {size}.".strip())


def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError unless x has this many axes."""
    x = tf.convert_to_tensor(x)
    if x.ndim != int(rank):
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank {x.ndim}, shape {x.shape}".strip())


def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError unless x has at least this many axes."""
    x = tf.convert_to_tensor(x)
    if x.ndim < int(rank):
        raise ValueError(f"{message or ''} Tensor must have rank at least {rank}. Received rank {x.ndim}".strip())


def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError unless the number of axes is one of these."""
    x = tf.convert_to_tensor(x)
    if x.ndim not in [int(r) for r in ranks]:
        raise ValueError(f"{message or ''} Tensor must have rank in {ranks}. Received rank {x.ndim}".strip())


def assert_scalar(tensor, message=None, name=None):
    """The tensor, if it has no axes."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.ndim != 0:
        raise ValueError(f"{message or ''} Expected scalar shape, saw shape: {tensor.shape}.".strip())
    return tensor


def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless the tensor has this dtype."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype != tf_type:
        raise TypeError(f"{message or ''} tensor must be of type {tf.as_dtype(tf_type)!r}; got {tensor.dtype!r}".strip())


def assert_integer(x, message=None, name=None):
    """Raises TypeError unless x is an integer tensor."""
    x = tf.convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(f"{message or ''} Expected \"x\" to be integer type. Found: {x.dtype!r}".strip())


def assert_same_float_dtype(tensors=None, dtype=None):
    """The common float dtype; ValueError if there is none."""
    found = dtype
    for tensor in tensors or ():
        if found is None:
            found = tensor.dtype
        elif tensor.dtype != found:
            raise ValueError(f"Tensor has dtype {tensor.dtype!r}, expected {found!r}")
    found = tf.as_dtype(found or "float32")
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!r}.")
    return found


def is_numeric_tensor(tensor):
    """Whether it is a tensor of numbers."""
    return tf.is_tensor(tensor) and not tensor.dtype.is_bool


def enable_check_numerics(*args, **kwargs):
    raise AttributeError("enable_check_numerics is not covered yet: call tf.debugging.check_numerics on single tensors")


def set_log_device_placement(enabled):
    """Accepted; there is one device."""


def get_log_device_placement():
    return False


Assert = tf.Assert
