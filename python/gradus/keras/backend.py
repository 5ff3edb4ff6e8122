"""keras.backend: defaults, dtypes, and the old functions K.mean, K.sum and their like."""
import builtins as _builtins

import gradus as _tf

from ._operation import compute_output_spec, is_keras_tensor  # noqa: F401
from ._scopes import name_scope  # noqa: F401
from ._state import (clear_session, epsilon, floatx, get_uid, image_data_format, set_epsilon, set_floatx,  # noqa: F401
                     set_image_data_format)
from ._variable import Variable, standardize_dtype  # noqa: F401

_FLOAT_ORDER = ("float16", "bfloat16", "float32", "float64")
_INT_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UINT_BITS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def backend():
    """'tensorflow': whose functions the engine has."""
    return "tensorflow"


def is_float_dtype(dtype):
    """Whether it is float16, bfloat16, float32 or float64."""
    return standardize_dtype(dtype) in _FLOAT_ORDER


def is_int_dtype(dtype):
    """Whether it is an integer dtype."""
    return "int" in standardize_dtype(dtype)


def _meet(a, b):
    if a == b:
        return a
    if a == "bool":
        return b
    if b == "bool":
        return a
    if "complex" in a or "complex" in b:
        return "complex128" if "128" in a + b or "float64" in (a, b) else "complex64"
    if a in _FLOAT_ORDER and b in _FLOAT_ORDER:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        return _builtins.max(a, b, key=_FLOAT_ORDER.index)
    if a in _FLOAT_ORDER:
        return a
    if b in _FLOAT_ORDER:
        return b
    if a in _INT_BITS and b in _INT_BITS:
        return _builtins.max(a, b, key=_INT_BITS.get)
    if a in _UINT_BITS and b in _UINT_BITS:
        return _builtins.max(a, b, key=_UINT_BITS.get)
    signed, unsigned = (a, b) if a in _INT_BITS else (b, a)
    needed = _builtins.max(_INT_BITS[signed], 2 * _UINT_BITS[unsigned])
    return f"int{needed}" if needed <= 64 else floatx()


def result_type(*dtypes):
    """The dtype in which values of these dtypes meet; int and float stand for Python's numbers."""
    if not dtypes:
        return floatx()
    weak = [d for d in dtypes if d in (int, float, bool)]
    strong = [standardize_dtype(d) for d in dtypes if d not in (int, float, bool) and d is not None]
    if not strong:
        return floatx() if float in weak else "int32" if int in weak else "bool"
    result = strong[0]
    for dtype in strong[1:]:
        result = _meet(result, dtype)
    if float in weak and result not in _FLOAT_ORDER and "complex" not in result:
        result = floatx()
    elif int in weak and result == "bool":
        result = "int32"
    return result


def is_tensor(x):
    """Whether x is a tensor or a variable."""
    return _tf.is_tensor(x)


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """x as a tensor, cast if its dtype is another one."""
    from .ops.core import convert_to_tensor as convert
    return convert(x, None if dtype is None else standardize_dtype(dtype), sparse, ragged)


def convert_to_numpy(x):
    """x as a NumPy array."""
    import numpy as np
    return x.numpy() if hasattr(x, "numpy") else np.asarray(x)


def get_value(x):
    """The value of a variable or tensor, as NumPy has it."""
    return x.numpy() if hasattr(x, "numpy") else x


def set_value(x, value):
    """Assigns to a variable."""
    x.assign(value)


def batch_get_value(tensors):
    return [get_value(x) for x in tensors]


def batch_set_value(tuples):
    for variable, value in tuples:
        variable.assign(value)


def int_shape(x):
    """The shape as a tuple, None where a size is unknown."""
    return tuple(x.shape)


def ndim(x):
    return len(x.shape)


def dtype(x):
    return standardize_dtype(x.dtype)


def variable(value, dtype=None, name=None, constraint=None):  # noqa: A002
    return _tf.Variable(convert_to_tensor(value, dtype or floatx()), name=name, constraint=constraint)


def learning_phase():
    raise NotImplementedError("The learning phase is gone: take `training` as an argument of `call`")


def _reduction(function):
    def reduce(x, axis=None, keepdims=False):
        return function(_tf.convert_to_tensor(x), axis, keepdims)
    return reduce


def _variance(x, axis, keepdims):
    return _tf.math.reduce_variance(x, axis, keepdims)


def _deviation(x, axis, keepdims):
    return _tf.math.reduce_std(x, axis, keepdims)


sum, mean, prod = _reduction(_tf.reduce_sum), _reduction(_tf.reduce_mean), _reduction(_tf.reduce_prod)  # noqa: A001
max, min = _reduction(_tf.reduce_max), _reduction(_tf.reduce_min)  # noqa: A001
any, all = _reduction(_tf.reduce_any), _reduction(_tf.reduce_all)  # noqa: A001
logsumexp, var, std = _reduction(_tf.reduce_logsumexp), _reduction(_variance), _reduction(_deviation)
abs, exp, log, round, sign, sqrt, square = (_tf.abs, _tf.exp, _tf.math.log, _tf.round, _tf.sign,  # noqa: A001
                                            _tf.sqrt, _tf.square)
sin, cos, tanh, pow, shape, size, transpose = _tf.sin, _tf.cos, _tf.tanh, _tf.pow, _tf.shape, _tf.size, _tf.transpose  # noqa: A001
maximum, minimum, equal, not_equal, greater, less = (_tf.maximum, _tf.minimum, _tf.equal, _tf.not_equal, _tf.greater,
                                                     _tf.less)
greater_equal, less_equal, gather, expand_dims, squeeze = (_tf.greater_equal, _tf.less_equal, _tf.gather,
                                                           _tf.expand_dims,
                                                           _tf.squeeze)
reshape, tile, zeros_like, ones_like, stop_gradient, stack = (_tf.reshape, _tf.tile, _tf.zeros_like, _tf.ones_like,
                                                              _tf.stop_gradient, _tf.stack)
dot, cumsum, cumprod = _tf.matmul, _tf.cumsum, _tf.math.cumprod
relu, softmax, softplus, softsign, sigmoid, elu = (_tf.nn.relu, _tf.nn.softmax, _tf.math.softplus, _tf.nn.softsign,
                                                   _tf.sigmoid, _tf.nn.elu)


def argmax(x, axis=-1):
    return _tf.argmax(x, axis)


def argmin(x, axis=-1):
    return _tf.argmin(x, axis)


def cast(x, dtype):
    return _tf.cast(x, standardize_dtype(dtype))


def cast_to_floatx(x):
    """x with the default dtype."""
    if _tf.is_tensor(x):
        return _tf.cast(x, floatx())
    import numpy as np
    return np.asarray(x, dtype=floatx())


def clip(x, min_value, max_value):
    return _tf.clip_by_value(x, min_value, max_value)


def flatten(x):
    return _tf.reshape(x, [-1])


def batch_flatten(x):
    """All axes but the first as one."""
    return _tf.reshape(x, [_tf.shape(x)[0], -1])


def concatenate(tensors, axis=-1):
    return _tf.concat(tensors, axis)


def permute_dimensions(x, pattern):
    return _tf.transpose(x, pattern)


def l2_normalize(x, axis=None):
    return _tf.math.l2_normalize(x, axis)


def one_hot(indices, num_classes):
    return _tf.one_hot(indices, num_classes)


def constant(value, dtype=None, shape=None, name=None):  # noqa: A002
    return _tf.constant(value, dtype=dtype or floatx(), shape=shape)


def zeros(shape, dtype=None, name=None):  # noqa: A002
    return _tf.Variable(_tf.zeros(shape, dtype or floatx()))


def ones(shape, dtype=None, name=None):  # noqa: A002
    return _tf.Variable(_tf.ones(shape, dtype or floatx()))


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):  # noqa: A002
    return _tf.random.normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):  # noqa: A002
    return _tf.random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def switch(condition, then_expression, else_expression):
    """One of two values, by a condition."""
    if callable(then_expression):
        return _tf.cond(condition, then_expression, else_expression)
    return _tf.where(condition, then_expression, else_expression)


def binary_crossentropy(target, output, from_logits=False):
    """The cross entropy of each element."""
    if from_logits:
        return _tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = _tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -(target * _tf.math.log(output) + (1.0 - target) * _tf.math.log(1.0 - output))


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross entropy of each row."""
    if from_logits:
        return _tf.nn.softmax_cross_entropy_with_logits(labels=target, logits=output, axis=axis)
    output = output / _tf.reduce_sum(output, axis, True)
    return -_tf.reduce_sum(target * _tf.math.log(_tf.clip_by_value(output, epsilon(), 1.0 - epsilon())), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross entropy of each row, with class numbers."""
    from . import losses
    return losses.sparse_categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def __getattr__(name):
    from . import _old_backend
    if name.startswith("_") or not hasattr(_old_backend, name):
        raise AttributeError(f"module 'keras.backend' has no attribute '{name}'")
    return getattr(_old_backend, name)
