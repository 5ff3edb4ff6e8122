"""keras.Variable: a tf.Variable with Keras's name, path and dtype name."""
import gradus as _tf

from .. import _core
from .. import _variable as _tf_variable
from . import _scopes, _state

_BASE, _Tensor = _core.Variable, _core.Tensor
_value_of, _shape_of, _dtype_of, _trainable = _BASE.value, _BASE.shape, _BASE.dtype, _BASE.trainable


def standardize_dtype(dtype):
    """The name of a dtype in any of its forms; None is floatx."""
    if dtype is None:
        return _state.floatx()
    if dtype == "float":
        return _state.floatx()
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    if dtype is int:
        return "int32"
    if dtype is float:
        return _state.floatx()
    try:
        return _tf.as_dtype(dtype).name
    except (TypeError, ValueError):
        raise ValueError(f"Invalid dtype: {dtype}") from None


_NAMES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
                   "complex128".split())


def _sizes(shape):
    if isinstance(shape, int):
        return (shape,)
    return tuple(None if s is None else int(s) for s in shape)


class Variable(_tf.Variable):
    """A weight. Its path is its name behind the names of the layers in which it was made."""

    def __init__(self, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation="none",
                 synchronization="auto", name=None, **kwargs):
        del kwargs
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(f"Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name}")
        name = name or _state.auto_name(type(self).__name__)
        parent = _scopes.current_path()
        self._path = f"{parent}/{name}" if parent else name
        if isinstance(initializer, str):
            from . import initializers
            initializer = initializers.get(initializer)
        if callable(initializer) and not _tf.is_tensor(initializer):
            if shape is None:
                raise ValueError("When creating a Variable from an initializer, the `shape` argument should be "
                                 f"specified. Received: initializer={initializer} and shape={shape}")
            sizes, kind = _sizes(shape), standardize_dtype(dtype)
            if None in sizes:
                raise ValueError("Shapes used to initialize variables must be fully-defined (no `None` dimensions). "
                                 f"Received: shape={sizes} for variable path='{self._path}'")
            value = _tf_variable._outside_of_traces(lambda: _tf.cast(initializer(sizes, dtype=kind), kind))
        else:
            value = initializer
            if isinstance(value, _BASE):
                value = _value_of(value)
            if dtype is None and not _tf.is_tensor(value):
                import numpy as np
                array = np.asarray(value)
                dtype = array.dtype.name if array.dtype.name != "float64" or hasattr(value,
                                                                                     "dtype") else _state.floatx()
            value = _tf.cast(_tf.convert_to_tensor(value), standardize_dtype(dtype if dtype is not None
                                                                             else value.dtype))
        if tuple(value.shape) != (_sizes(shape) if shape is not None else tuple(value.shape)):
            raise ValueError(f"The value of the variable has shape {tuple(value.shape)}, expected {_sizes(shape)}.")
        self._set(value, name, bool(trainable))
        self._plain_shape, self._plain_dtype = tuple(value.shape), value.dtype.name
        self._autocast = bool(autocast) and value.dtype.is_floating
        self._constraint = self._regularizer = self._initializer = None
        self._aggregation, self._synchronization = aggregation, synchronization
        self.overwrite_with_gradient = False

    @property
    def name(self):
        return self._name

    @property
    def path(self):
        """'sequential/dense/kernel'."""
        return self._path

    @property
    def value(self):
        """The value, a tensor."""
        return _tf.convert_to_tensor(self)

    def read_value(self):
        return self.value

    @property
    def shape(self):
        return _shape_of.__get__(self)

    @property
    def ndim(self):
        return len(self._plain_shape)

    @property
    def dtype(self):
        return self._plain_dtype

    @property
    def autocast(self):
        return self._autocast

    @property
    def trainable(self):
        return _trainable.__get__(self)

    @trainable.setter
    def trainable(self, value):
        _trainable.__set__(self, bool(value))
        _state.note_change()

    @property
    def regularizer(self):
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value):
        self._regularizer = value

    @property
    def constraint(self):
        return self._constraint

    @constraint.setter
    def constraint(self, value):
        self._constraint = value

    @property
    def initializer(self):
        return self._initializer

    @property
    def _raw(self):
        return _value_of(self)

    def assign(self, value):
        """Replaces the value; what has another dtype is cast."""
        if type(value) is not _Tensor or value.dtype != self._plain_dtype:
            value = _tf.cast(value, self._plain_dtype)
        if tuple(value.shape) != self._plain_shape:
            raise ValueError("The shape of the target variable and the shape of the target value in "
                             f"`variable.assign(value)` must match. variable.shape={self._plain_shape}, Received: "
                             f"value.shape={tuple(value.shape)}. Target variable: {self}")
        return _BASE.assign(self, value)

    def __deepcopy__(self, memo):
        copy = type(self).__new__(type(self))
        memo[id(self)] = copy
        copy._set(self._raw, self._name, self.trainable)
        copy._autocast = self._autocast
        copy.__dict__.update(self.__dict__)
        return copy

    def __reduce__(self):
        return _restored, (type(self), self._raw, self._name, self.trainable, self._autocast, dict(self.__dict__))

    def get_shape(self):
        return self.shape

    def __repr__(self):
        shown = "" if not _tf.executing_eagerly() else f", value={_value_of(self).numpy()}"
        return f"<Variable path={self._path}, shape={self._plain_shape}, dtype={self._plain_dtype}{shown}>"

    __str__ = __repr__

    def __hash__(self):
        return id(self)


def _restored(cls, value, name, trainable, autocast, attributes):
    variable = cls.__new__(cls)
    variable._set(value, name, trainable)
    variable._autocast = autocast
    variable.__dict__.update(attributes)
    return variable
