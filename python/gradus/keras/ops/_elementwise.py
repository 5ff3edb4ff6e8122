"""Functions of single elements, as NumPy has them."""
import math

import gradus as tf

from ._op import as_bools as _as_bools
from ._op import binary as _binary
from ._op import binary_xy as _binary_xy
from ._op import floating as _floating
from ._op import op as _op
from ._op import publish as _publish
from ._op import tensor as _tensor
from ._op import together as _together
from ._op import unary as _unary

_publish(globals(), [_unary(*pair, _floating) for pair in {
    "arccos": tf.acos, "arccosh": tf.acosh, "arcsin": tf.asin, "arcsinh": tf.asinh, "arctan": tf.atan,
    "arctanh": tf.atanh,
    "ceil": tf.math.ceil, "cos": tf.cos, "cosh": tf.cosh, "exp": tf.exp, "expm1": tf.math.expm1, "floor": tf.floor,
    "log": tf.math.log, "log1p": tf.math.log1p, "reciprocal": tf.math.reciprocal, "sin": tf.sin, "sinh": tf.sinh,
    "sqrt": tf.sqrt, "tan": tf.tan, "tanh": tf.tanh}.items()])
_publish(globals(), [_unary(*pair) for pair in {
    "absolute": tf.abs, "angle": tf.math.angle, "conjugate": tf.math.conj, "imag": tf.math.imag,
    "isfinite": tf.math.is_finite, "isinf": tf.math.is_inf, "isnan": tf.math.is_nan, "negative": tf.negative,
    "real": tf.math.real, "sign": tf.sign, "square": tf.square}.items()])
_publish(globals(), [_binary(*pair) for pair in {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
    "floor_divide": tf.math.floordiv, "mod": tf.math.floormod, "fmod": tf.truncatemod, "equal": tf.equal,
    "not_equal": tf.not_equal, "greater": tf.greater, "greater_equal": tf.greater_equal, "less": tf.less,
    "less_equal": tf.less_equal}.items()])
_publish(globals(), [_binary_xy(*pair) for pair in {
    "bitwise_and": tf.bitwise.bitwise_and, "bitwise_or": tf.bitwise.bitwise_or, "bitwise_xor": tf.bitwise.bitwise_xor,
    "left_shift": tf.bitwise.left_shift, "right_shift": tf.bitwise.right_shift}.items()])
_publish(globals(), [_binary(*pair, _as_bools) for pair in {
    "logical_and": tf.logical_and, "logical_or": tf.logical_or, "logical_xor": tf.math.logical_xor}.items()])
abs, conj = globals()["absolute"], globals()["conjugate"]  # noqa: A001
bitwise_left_shift, bitwise_right_shift = globals()["left_shift"], globals()["right_shift"]


@_op
def divide(x1, x2):
    """x1 / x2, of integers as floats."""
    x1, x2 = _together(x1, x2)
    return _floating(x1) / _floating(x2)


true_divide = divide


@_op
def divide_no_nan(x1, x2):
    """x1 / x2, and 0 where x2 is 0."""
    x1, x2 = _together(x1, x2)
    return tf.math.divide_no_nan(_floating(x1), _floating(x2))


@_op
def power(x1, x2):
    """x1 to the power x2."""
    return tf.pow(*_together(x1, x2))


@_op
def arctan2(x1, x2):
    """The angle of the point (x2, x1)."""
    x1, x2 = _together(x1, x2)
    return tf.atan2(_floating(x1), _floating(x2))


@_op
def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2))."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.maximum(x1, x2) + tf.math.log1p(tf.exp(-tf.abs(x1 - x2)))


@_op
def hypot(x1, x2):
    """sqrt(x1^2 + x2^2)."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.sqrt(tf.square(x1) + tf.square(x2))


@_op
def log2(x):
    """The logarithm to base 2."""
    return tf.math.log(_floating(x)) / math.log(2)


@_op
def log10(x):
    """The logarithm to base 10."""
    return tf.math.log(_floating(x)) / math.log(10)


@_op
def exp2(x):
    """2 to the power x."""
    return tf.exp(_floating(x) * math.log(2))


@_op
def deg2rad(x):
    """Degrees as radians."""
    return _floating(x) * (math.pi / 180)


@_op
def rad2deg(x):
    """Radians as degrees."""
    return _floating(x) * (180 / math.pi)


@_op
def round(x, decimals=0):  # noqa: A001
    """The nearest number with so many decimals, ties to even."""
    x = _tensor(x)
    if decimals == 0:
        return tf.round(x)
    factor = 10.0 ** decimals
    return tf.cast(tf.round(_floating(x) * factor) / factor, x.dtype)


@_op
def trunc(x):
    """x without its fraction."""
    x = _tensor(x)
    return x if x.dtype.is_integer else tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


@_op
def logical_not(x):
    """Not x."""
    return tf.logical_not(tf.cast(x, "bool"))


@_op
def clip(x, x_min, x_max):
    """x between two bounds."""
    x = _tensor(x)
    if x.dtype == "bool":
        x = tf.cast(x, "int32")
    x_min, x_max = (-math.inf if x_min is None else x_min), (math.inf if x_max is None else x_max)
    return tf.clip_by_value(x, tf.cast(x_min, x.dtype), tf.cast(x_max, x.dtype))


@_op
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """x with numbers in place of what is not finite."""
    x = _tensor(x)
    if x.dtype.is_integer:
        return x
    high, low = (x.dtype.max if posinf is None else posinf), (x.dtype.min if neginf is None else neginf)
    x = tf.where(tf.math.is_nan(x), tf.cast(nan, x.dtype), x)
    infinite = tf.math.is_inf(x)
    x = tf.where(tf.logical_and(infinite, x > 0), tf.cast(high, x.dtype), x)
    return tf.where(tf.logical_and(infinite, x < 0), tf.cast(low, x.dtype), x)


@_op
def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether elements are nearly equal."""
    x1, x2 = map(_floating, _together(x1, x2))
    near = tf.logical_or(tf.abs(x1 - x2) <= atol + rtol * tf.abs(x2), tf.equal(x1, x2))
    return tf.logical_or(near, tf.logical_and(tf.math.is_nan(x1), tf.math.is_nan(x2))) if equal_nan else near


@_op
def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all are."""
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))
