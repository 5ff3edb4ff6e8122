"""Calls in converted code: the user's functions are converted, a few of Python's take traced tensors."""
import builtins
import functools
import types

from .. import _core
from ._branches import is_traced, tf
from ._convert import converted
from ._datasets import next_element


def call(function):
    """What to call instead of a function."""
    try:
        special = _SPECIAL.get(function)
    except TypeError:  # not hashable
        special = None
    return special(function) if special is not None else converted(function)


def iterated(function):
    """The same, where a loop goes over the result: ranges of tensors are counted, not made."""
    if _core._is_tracing():
        if function is tf().range:
            return _range
        if function is builtins.range:
            return lambda *args: _range(*args) if any(map(is_traced, args)) else range(*args)
    return call(function)


class Stream:
    """Something to loop over inside the program: a size, and an item for each number below it."""

    def __init__(self, size, item, plain):
        self.size, self.item, self._plain = size, item, plain

    def __iter__(self):
        return iter(self._plain())

    def __len__(self):
        return len(self._plain())


def stream_of(value):
    """A tensor or a stream as a stream, or None."""
    if isinstance(value, Stream):
        return value
    if isinstance(value, _core.Tensor) and _core._is_tracing():
        if value.ndim == 0:
            raise ValueError(f"iterating over a scalar tensor is not possible: {value}")
        size = value.shape[0]
        return Stream(tf().shape(value)[0] if size is None else size, lambda i: tf().gather(value, i), lambda: value)
    return None


def _range(start, limit=None, delta=1, dtype=None, name=None):
    plain = lambda: tf().range(start, limit, delta, dtype)  # noqa: E731
    first, last = (0, start) if limit is None else (start, limit)
    tensors = [v for v in (first, last) if isinstance(v, _core.Tensor)]
    kind = tf().as_dtype(dtype) if dtype is not None else tensors[0].dtype if tensors else tf().int32
    integral = all(isinstance(v, int) or isinstance(v, _core.Tensor) and v.dtype == kind and v.ndim == 0
                   for v in (first, last))
    if not kind.is_integer or not integral or type(delta) is not int or delta == 0:
        return stream_of(plain())
    if tensors:
        size = tf().maximum((last - first + (delta - 1 if delta > 0 else delta + 1)) // delta, 0)
    else:
        size = len(range(first, last, delta))
    if type(first) is int and (first, delta) == (0, 1):
        return Stream(size, lambda i: tf().cast(i, kind), plain)
    return Stream(size, lambda i: tf().cast(i, kind) * delta + first, plain)


def _converts_functions(function):
    """Functions of Gradus and Python that call those they are given."""
    def wrapper(*args, **kwargs):
        return function(*map(_if_function, args), **{k: _if_function(v) for k, v in kwargs.items()})
    return wrapper


def _if_function(value):
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return converted(value)
    if type(value) in (list, tuple):  # tf.case, tf.switch_case
        return type(value)(map(_if_function, value))
    return value


def _int(_):
    def overload(*args):
        if args and is_traced(args[0]):
            return tf().cast(args[0], tf().int32)
        return int(*args)
    return overload


def _float(_):
    def overload(*args):
        if args and is_traced(args[0]):
            return tf().cast(args[0], tf().float32)
        return float(*args)
    return overload


def _len(_):
    def overload(value):
        if is_traced(value) and value.ndim and value.shape[0] is None:
            return tf().shape(value)[0]
        return len(value)
    return overload


def _enumerate(_):
    def overload(iterable, start=0):
        stream = stream_of(iterable) if is_traced(iterable) or isinstance(iterable, Stream) else None
        if stream is None:
            return enumerate(iterable, start)
        return Stream(stream.size, lambda i: (i + start, stream.item(i)), lambda: enumerate(iterable, start))
    return overload


def _zip(_):
    def overload(*iterables, **options):
        if not iterables or options or not all(is_traced(v) or isinstance(v, Stream) for v in iterables):
            return zip(*iterables, **options)
        streams = [stream_of(v) for v in iterables]
        size = streams[0].size
        for s in streams[1:]:
            known = isinstance(size, int) and isinstance(s.size, int)
            size = min(size, s.size) if known else tf().minimum(size, s.size)
        return Stream(size, lambda i: tuple(s.item(i) for s in streams), lambda: zip(*iterables))
    return overload


def _next(_):
    def overload(iterator, *default):
        if _core._is_tracing() and not default and hasattr(iterator, "element_spec"):
            return next_element(iterator)
        return next(iterator, *default)
    return overload


def _python_range(_):
    def overload(*args):
        return tf().range(*args) if any(map(is_traced, args)) else range(*args)
    return overload


_SPECIAL = {int: _int, float: _float, len: _len, enumerate: _enumerate, zip: _zip, range: _python_range,
            next: _next}
for _function in (map, filter, sorted, functools.reduce, min, max):
    _SPECIAL[_function] = _converts_functions


def publish(namespace):
    """Functions of Gradus that take functions."""
    for path, names in (("", "cond case switch_case while_loop map_fn foldl foldr scan vectorized_map custom_gradient "
                             "recompute_grad grad vjp jvp hvp jacobian hessian"),):
        module = namespace(path)
        for name in names.split():
            function = getattr(module, name, None)
            if function is not None:
                _SPECIAL[function] = _converts_functions
