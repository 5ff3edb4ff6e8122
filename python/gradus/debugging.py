"""Checks of values, shapes and dtypes."""
import numbers as _numbers

import gradus as tf

from . import _core, _effects


def _fail(text):
    raise tf.errors.InvalidArgumentError(None, None, text)


def _prefix(message):
    return f"{message}.  " if message else ""


def _name(x):
    """The name of a traced tensor; others have none."""
    return f"{_core._traced_name(x) or ''}"


def _described(x):
    """A tensor in the words of a message."""
    return _name(x) or f"shape={x.shape} dtype={x.dtype.name}"


def _most(summarize):
    return 3 if summarize is None else 10 ** 9 if summarize < 0 else summarize


def _differences(x, y, holds, summarize):
    """Where, and which, the first elements are that fail."""
    if x.shape != y.shape or x.shape.rank == 0:
        return ""
    wrong = tf.logical_not(holds(x, y))
    places = tf.where(wrong)[:_most(summarize)]
    values = "".join(f"Corresponding {name} values:\n{tf.gather_nd(v, places).numpy()}\n" for name, v in (("x", x), ("y", y)))
    return f"Indices of first {len(places)} different values:\n{places.numpy()}\n{values}"


def _binary(symbol, holds):
    def check(x, y, message=None, summarize=None, name=None):
        if not (tf.is_tensor(x) or tf.is_tensor(y)):
            x = tf.convert_to_tensor(x)
            y = tf.convert_to_tensor(y, dtype_hint=x.dtype)
        elif tf.is_tensor(x):
            x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y, dtype_hint=x.dtype)
        else:
            x, y = tf.convert_to_tensor(x, dtype_hint=y.dtype), tf.convert_to_tensor(y)

        def fail(x, y):
            text = (f"{message}\n" if message else "") + f"Condition x {symbol} y did not hold.\n"
            text += _differences(x, y, holds, summarize)
            flat = [(name, tf.reshape(v, [-1])[:_most(summarize)].numpy()) for name, v in (("x", x), ("y", y))]
            _fail(text + "\n".join(f"First {len(v)} elements of {name}:\n{v}" for name, v in flat))
        _effects.check(holds(x, y), fail, [x, y])
    check.__doc__ = f"Raises InvalidArgumentError unless x {symbol} y everywhere."
    return check


assert_equal = _binary("==", tf.equal)
_none_equal = _binary("!=", tf.not_equal)
assert_less = _binary("<", tf.less)
assert_less_equal = _binary("<=", tf.less_equal)
assert_greater = _binary(">", tf.greater)
assert_greater_equal = _binary(">=", tf.greater_equal)


def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raises InvalidArgumentError unless x != y everywhere. (The order of the parameters is TensorFlow's.)"""
    return _none_equal(x, y, message, summarize, name)


def _unary(what, holds):
    def check(x, message=None, summarize=None, name=None):
        x = tf.convert_to_tensor(x)
        described, most = _described(x), _most(summarize)

        def fail(x):
            values = [str(v) for v in x.numpy().ravel()[:most]] + ["..."] * (x.shape.num_elements() > most)
            shown = values if x.shape.rank else values[0]
            _fail(f"{_prefix(message)}\nCondition {what} did not hold element-wise:\nx ({described}) = \n{shown}")
        _effects.check(holds(x, tf.zeros_like(x)), fail, [x])
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
    rtol, atol = (tf.convert_to_tensor(epsilon if t is None else t, x.dtype) for t in (rtol, atol))
    holds = tf.reduce_all(tf.abs(x - y) <= atol + rtol * tf.abs(y))
    tf.Assert(holds, [_prefix(message), f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
                      f"x ({_described(x)}) = ", x, f"y ({_described(y)}) = ", y], summarize)


def assert_all_finite(x, message, name=None):
    """x, if all of it is finite."""
    x = tf.convert_to_tensor(x)

    def fail(has_inf, has_nan):
        kind = " and ".join(kind for kind, found in (("Inf", has_inf), ("NaN", has_nan)) if found)
        _fail(f"{message} : Tensor had {kind} values")
    _effects.check(tf.math.is_finite(x), fail, [tf.reduce_any(tf.math.is_inf(x)), tf.reduce_any(tf.math.is_nan(x))])
    return x


def check_numerics(tensor, message, name=None):
    """The tensor, if all of it is finite."""
    return assert_all_finite(tensor, message)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raises ValueError unless tensors have shapes in which equal symbols are equal sizes."""
    known = {}  # symbol -> its size and where it was found
    for tensor, expected in shapes.items() if isinstance(shapes, dict) else shapes:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tf.convert_to_tensor(tensor)
        described, actual = _described(tensor), tensor.shape.as_list()
        if not (hasattr(expected, "__iter__") or hasattr(expected, "__getitem__")):
            raise ValueError(f"{_prefix(message)}Tensor {described}.  Specified shape must be an iterable.  An iterable has the "
                             f"attribute `__iter__` or `__getitem__`.  Received specified shape: {expected}")
        expected = list(expected)
        if expected[:1] in (["*"], [Ellipsis]):
            expected = expected[1:]
            actual = actual[len(actual) - len(expected):]
        elif expected == [1] and not actual:
            continue  # a scalar is taken for a vector of one element
        if len(actual) != len(expected):
            assert_rank(tensor, len(expected), message)
        for axis, (size, symbol) in enumerate(zip(actual, expected)):
            if symbol is None or symbol == ".":
                continue
            if size is None:
                size = tf.shape(tensor)[axis]  # only a call will know
            want, where = (symbol, "explicitly") if isinstance(symbol, _numbers.Integral) else known.setdefault(
                symbol, (size, f"by tensor {described} dimension {axis}"))
            if not (isinstance(size, int) and isinstance(want, _numbers.Integral)):
                assert_equal(size, want, f"{_prefix(message)}Specified {where}.  Tensor {described} dimension {axis} must have "
                                         "another size.", summarize)
            elif size != want:
                raise ValueError(f"{_prefix(message)}Specified {where}.  Tensor {described} dimension {axis} must have size "
                                 f"{want}.  Received size {size}, shape {tensor.shape}{_shown(data, summarize)}")


def _shown(data, summarize):
    """What the caller wants to see beside the words: tensors, cut to so many elements."""
    from ._effects import tensor_text
    return "".join(f"\n{d if isinstance(d, str) else tensor_text(tf.convert_to_tensor(d), 3 if summarize is None else summarize)}"
                   for d in data or ())


def _check_rank(x, holds, what, message):
    if not holds:
        raise ValueError(f"{_prefix(message)}Tensor {_name(x)} must have rank {what}.  Received rank {x.ndim}, shape {x.shape}")


def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError unless x has this many axes."""
    x = tf.convert_to_tensor(x)
    _check_rank(x, x.ndim == int(rank), int(rank), message)


def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError unless x has at least this many axes."""
    x = tf.convert_to_tensor(x)
    _check_rank(x, x.ndim >= int(rank), f"at least {int(rank)}", message)


def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError unless the number of axes is one of these."""
    x, ranks = tf.convert_to_tensor(x), tuple(int(r) for r in ranks)
    _check_rank(x, x.ndim in ranks, f"in {ranks}", message)


def assert_scalar(tensor, message=None, name=None):
    """Raises ValueError unless the tensor has no axes."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.ndim != 0:
        of = f" for {_name(tensor)}" if _name(tensor) else ""
        raise ValueError(f"{_prefix(message)}Expected scalar shape{of}, saw shape: {tensor.shape}.")


def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless the tensor has this dtype."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype != tf_type:
        raise TypeError(f"{_prefix(message)}{_name(tensor) or 'tensor'} must be of type {tf.as_dtype(tf_type)!r}; got "
                        f"{tensor.dtype!r}")


def assert_integer(x, message=None, name=None):
    """Raises TypeError unless x is an integer tensor."""
    x = tf.convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(f"{_prefix(message)}Expected \"x\" to be integer type.  Found: {_name(x) or 'tensor'} of dtype "
                        f"{x.dtype!s}")


def assert_proper_iterable(values):
    """Raises TypeError if this is a tensor, an array or a string, or cannot be iterated over."""
    if tf.is_tensor(values) or isinstance(values, (str, bytes)) or hasattr(values, "__array__") or not hasattr(
            values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors=None, dtype=None):
    """The common float dtype; ValueError if there is none."""
    found, first = dtype, None
    for tensor in tensors or ():
        if found is None:
            found, first = tensor.dtype, tensor
        elif tensor.dtype != found:
            of = "" if first is None else f" as {first!s}"
            raise ValueError(f"{tensor!s}, type={tensor.dtype!s}, must be of the same type ({tf.as_dtype(found)!s}){of}.")
    found = tf.as_dtype(found or "float32")
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!s}.")
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
