"""String tensors: NumPy arrays of bytes that answer as tensors do, and what functions of the module do with them.

No program has strings in it: a tf.function that takes them, or makes them of traced numbers, runs as plain Python.
"""
import builtins
import sys

import numpy as np

from . import _core
from ._kinds import Kind, is_traced
from ._types import DType, TensorShape


def _tf():
    return sys.modules["gradus"]


class StringDType(Kind):
    """The dtype tf.string."""

    __slots__ = ()
    __class__ = property(lambda self: DType)
    name = "string"
    as_numpy_dtype = np.object_
    as_datatype_enum = 7
    size = 0
    is_floating = is_integer = is_unsigned = is_bool = is_complex = is_quantized = False
    is_numpy_compatible = True
    base_dtype = real_dtype = property(lambda self: self)

    def is_compatible_with(self, other):
        return self == other

    def __repr__(self):
        return "tf.string"

    def __str__(self):
        return "<dtype: 'string'>"

    def __eq__(self, other):
        return isinstance(other, StringDType) or (isinstance(other, (str, type)) and other in ("string", str, bytes))

    def __hash__(self):
        return hash("string")

    def __reduce__(self):
        return "string"


string = StringDType()


def _as_bytes(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (list, np.ndarray)):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if isinstance(value, (int, float, bool, complex, np.generic)):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")


def _plain(value):
    """Nested lists of what is in nested lists, arrays and tensors."""
    if isinstance(value, StringTensor):
        return value._values.tolist()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def array_of(value):
    """Strings in any form as an array of bytes."""
    if isinstance(value, StringTensor):
        return value._values
    if isinstance(value, (str, bytes)):
        made = np.empty((), object)
        made[()] = _as_bytes(value)
        return made
    try:
        array = value if isinstance(value, np.ndarray) else np.array(_plain(value), dtype=object)
    except ValueError as error:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from error
    return each(_as_bytes, array)


def each(function, *arrays):
    """The function of all elements of arrays that broadcast, as an array of objects."""
    made = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if isinstance(made, np.ndarray):
        return made
    whole = np.empty((), object)
    whole[()] = made
    return whole


def numbers_of(value):
    """An argument that must have a value now, as a NumPy array."""
    if isinstance(value, _core.Tensor) and not isinstance(value, StringTensor) and is_traced(value):
        from ._function import MustRunEagerly
        raise MustRunEagerly("it makes strings of traced numbers, or needs their values otherwise")
    return np.array(value.as_list()) if isinstance(value, TensorShape) else np.asarray(value)


def holds_strings(value):
    """Whether a Python value is to become a StringTensor."""
    if isinstance(value, (str, bytes, StringTensor)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "SUO"
    return isinstance(value, (list, tuple)) and bool(value) and holds_strings(value[0])


def _key(key):
    if isinstance(key, tuple):
        return tuple(_key(k) for k in key)
    if isinstance(key, slice):
        return slice(*(k if k is None else int(k) for k in (key.start, key.stop, key.step)))
    return key if key is None or key is Ellipsis or isinstance(key, int) else numbers_of(key)


class StringTensor(Kind):
    """An array of byte strings."""

    __slots__ = ("_values", "__weakref__")
    __class__ = property(lambda self: _core.Tensor)
    __array_priority__ = 100
    _functions = {}

    @classmethod
    def __gradus_function__(cls, name, arguments):
        result = super().__gradus_function__(name, arguments)
        if result is NotImplemented:
            raise _refused(name)
        return result

    def __init__(self, values):
        self._values = array_of(values)

    shape = property(lambda self: TensorShape(self._values.shape))
    dtype = property(lambda self: string)
    ndim = property(lambda self: self._values.ndim)
    device = property(lambda self: "/job:localhost/replica:0/task:0/device:CPU:0")
    backing_device = device

    def get_shape(self):
        """The shape, a TensorShape."""
        return self.shape

    def set_shape(self, shape):
        """Checks that the tensor has this shape."""
        from ._text import check_shape
        check_shape(self, shape)

    def numpy(self):
        """bytes, or an array of them."""
        return self._values.copy() if self._values.ndim else self._values[()]

    _numpy = numpy

    def ref(self):
        """A hashable reference to this tensor."""
        from ._reference import Reference
        return Reference(self)

    def __array__(self, dtype=None, copy=None):
        return self._values.copy() if dtype is None else self._values.astype(dtype)

    def __getitem__(self, key):
        try:
            return StringTensor(array_of_any(self._values[_key(key)]))
        except IndexError as error:
            raise _tf().errors.InvalidArgumentError(None, None, f"slice index is out of bounds: {error}") from error

    def __len__(self):
        if not self._values.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._values)

    def __iter__(self):
        if not self._values.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (StringTensor(array_of_any(v)) for v in self._values)

    def __bool__(self):
        if self._values.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return builtins.bool(self._values.reshape(())[()])

    def __eq__(self, other):
        return NotImplemented if other is not None and not _is_text(other) else _equal(self, other)

    def __ne__(self, other):
        return NotImplemented if other is not None and not _is_text(other) else _not_equal(self, other)

    def __add__(self, other):
        return _add(self, other) if _is_text(other) else NotImplemented

    def __radd__(self, other):
        return _add(other, self) if _is_text(other) else NotImplemented

    def _order(self, other):
        raise _refused("less or greater")

    __lt__ = __le__ = __gt__ = __ge__ = _order

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return StringTensor, (self._values,)

    def __format__(self, spec):
        return format(self._values if self._values.ndim else self._values[()], spec)

    def __repr__(self):
        text = repr(self.numpy())
        return f"<tf.Tensor: shape={self.shape}, dtype=string, numpy={chr(10) + text if chr(10) in text else text}>"

    def __str__(self):
        text = str(self.numpy())
        return f"tf.Tensor({chr(10) + text if chr(10) in text else text}, shape={self.shape}, dtype=string)"


def _refused(name):
    return _tf().errors.InvalidArgumentError(None, None, f"[{name}] got strings; expected numbers. tf.strings has what can "
                                             "be done with strings")


def array_of_any(value):
    """An array, or one element of one, as an array."""
    if isinstance(value, np.ndarray):
        return value
    made = np.empty((), object)
    made[()] = value
    return made


def _is_text(value):
    return holds_strings(value)


# --------------------------------------------------------------------------------- functions of the module on string tensors

does = StringTensor.does


def _made(array):
    return StringTensor(array_of_any(array))


@does("constant", "convert_to_tensor")
def _constant(value, dtype=None, shape=None, name=None, dtype_hint=None):
    if dtype is not None and dtype != string:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_tf().as_dtype(dtype).name}")
    if not isinstance(value, (str, bytes, list, tuple, StringTensor, np.ndarray)):
        if isinstance(value, Kind):
            return NotImplemented
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    made = StringTensor(value) if not isinstance(value, StringTensor) else value
    if shape is None:
        return made
    shape = tuple(TensorShape(shape).as_list())
    array = made._values
    if array.size == 1:
        return _made(np.broadcast_to(array.reshape(()), shape).copy())
    if array.size != np.prod(shape):
        raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {made} (converted from {value}) has "
                        f"{array.size} elements, but got `shape` {shape}")
    return _made(array.reshape(shape))


@does("as_dtype")
def _as_dtype(type_value):
    return string


@does("cast")
def _cast(x, dtype, name=None):
    if dtype == string and holds_strings(x):
        return StringTensor(x)
    tf = _tf()
    source = "string" if holds_strings(x) else tf.convert_to_tensor(x).dtype.name
    raise tf.errors.UnimplementedError(None, None, f"Cast {source} to {tf.as_dtype(dtype).name} is not supported: use "
                                       "tf.strings.to_number or tf.strings.as_string")


@does("identity", "stop_gradient")
def _identity(input, name=None):  # noqa: A002
    return StringTensor(input)


def _as_tensor(array, dtype):
    return _tf().convert_to_tensor(np.asarray(array), dtype)


@does("shape")
def _shape(input, out_type=None, name=None):  # noqa: A002
    return _as_tensor(array_of(input).shape, out_type or "int32")


@does("size")
def _size(input, out_type=None, name=None):  # noqa: A002
    return _as_tensor(array_of(input).size, out_type or "int32")


@does("rank")
def _rank(input, name=None):  # noqa: A002
    return _as_tensor(array_of(input).ndim, "int32")


@does("reshape")
def _reshape(tensor, shape, name=None):
    array, shape = array_of(tensor), tuple(int(s) for s in np.atleast_1d(numbers_of(shape)))
    try:
        return _made(array.reshape(shape))
    except ValueError as error:
        raise _tf().errors.InvalidArgumentError(
            None, None, f"Input to reshape is a tensor with {array.size} values, but the requested shape has "
            f"{int(np.prod(shape))}") from error


@does("expand_dims")
def _expand_dims(input, axis, name=None):  # noqa: A002
    return _made(np.expand_dims(array_of(input), int(axis)))


@does("squeeze")
def _squeeze(input, axis=None, name=None):  # noqa: A002
    return _made(np.squeeze(array_of(input), None if axis is None else tuple(np.atleast_1d(axis).tolist())))


@does("stack")
def _stack(values, axis=0, name=None):
    return _made(np.stack([array_of(v) for v in values], int(axis)))


@does("unstack")
def _unstack(value, num=None, axis=0, name=None):
    parts = [_made(v) for v in np.moveaxis(array_of(value), int(axis), 0)]
    if num is not None and int(num) != len(parts):
        raise _tf().errors.InvalidArgumentError(None, None, f"[unstack] got num {num} for an axis of size {len(parts)}")
    return parts


@does("concat")
def _concat(values, axis, name=None):
    if any(isinstance(v, Kind) and not isinstance(v, StringTensor) for v in values):
        from ._ragged import RaggedTensor
        return RaggedTensor._functions["concat"](values, axis, name)
    return _made(np.concatenate([array_of(v) for v in values], int(axis)))


@does("split")
def _split(value, num_or_size_splits, axis=0, num=None, name=None):
    array = array_of(value)
    cuts = (np.cumsum(numbers_of(num_or_size_splits))[:-1] if np.ndim(num_or_size_splits)
            else int(num_or_size_splits))
    if num is not None and np.ndim(num_or_size_splits) and int(num) != len(num_or_size_splits):
        raise _tf().errors.InvalidArgumentError(None, None, f"[split] got num {num} and other sizes: {num_or_size_splits}")
    return [_made(v) for v in np.split(array, cuts, int(axis))]


@does("tile")
def _tile(input, multiples, name=None):  # noqa: A002
    return _made(np.tile(array_of(input), numbers_of(multiples)))


@does("repeat")
def _repeat(input, repeats, axis=None, name=None):  # noqa: A002
    return _made(np.repeat(array_of(input), numbers_of(repeats), axis))


@does("gather")
def _gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    array, indices = array_of(params), numbers_of(indices)
    axis = int(axis) if axis is not None else int(batch_dims)
    if batch_dims:
        raise NotImplementedError("tf.gather of strings with batch_dims is not covered")
    size = array.shape[axis] if array.ndim else 0
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        bad = int(np.flatnonzero((indices.reshape(-1) < 0) | (indices.reshape(-1) >= size))[0])
        raise _tf().errors.InvalidArgumentError(
            None, None, f"indices[{bad}] = {indices.reshape(-1)[bad]} is not in [0, {size})")
    return _made(np.take(array, indices, axis))


@does("gather_nd")
def _gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    array, indices = array_of(params), numbers_of(indices)
    if bad_indices_policy not in ("", "DEFAULT", "ERROR"):
        raise NotImplementedError(f"[gather_nd] got bad_indices_policy {bad_indices_policy!r} for strings; expected 'ERROR'")
    batch = np.indices(indices.shape[:-1])[:batch_dims]
    return _made(array[(*batch, *np.moveaxis(indices, -1, 0))])


@does("boolean_mask")
def _boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    array, mask = array_of(tensor), numbers_of(mask)
    axis = int(axis or 0)
    return _made(array[(slice(None),) * axis + (mask,)])


@does("transpose")
def _transpose(a, perm=None, conjugate=False, name="transpose"):
    return _made(np.transpose(array_of(a), None if perm is None else numbers_of(perm).tolist()))


@does("reverse")
def _reverse(tensor, axis, name=None):
    return _made(np.flip(array_of(tensor), tuple(np.atleast_1d(numbers_of(axis)).tolist())))


@does("roll")
def _roll(input, shift, axis, name=None):  # noqa: A002
    return _made(np.roll(array_of(input), numbers_of(shift).tolist(), numbers_of(axis).tolist()))


@does("slice")
def _slice(input_, begin, size, name=None):
    key = tuple(slice(int(b), None if s == -1 else int(b) + int(s))
                for b, s in zip(numbers_of(begin), numbers_of(size)))
    return _made(array_of(input_)[key])


@does("broadcast_to")
def _broadcast_to(input, shape, name=None):  # noqa: A002
    return _made(np.broadcast_to(array_of(input), tuple(int(s) for s in numbers_of(shape))).copy())


@does("fill")
def _fill(dims, value, name=None, layout=None):
    return _made(np.full(tuple(int(s) for s in np.atleast_1d(numbers_of(dims))), array_of(value)[()], object))


@does("zeros")
def _zeros(shape, dtype=None, name=None, layout=None):
    return _fill(list(TensorShape(shape)), b"")


@does("zeros_like")
def _zeros_like(input, dtype=None, name=None, layout=None):  # noqa: A002
    return _fill(array_of(input).shape, b"") if dtype in (None, string) else _tf().zeros(array_of(input).shape, dtype)


@does("ones_like")
def _ones_like(input, dtype=None, name=None, layout=None):  # noqa: A002
    if dtype in (None, string):
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return _tf().ones(array_of(input).shape, dtype)


@does("where")
def _where(condition, x=None, y=None, name=None):
    return _made(np.where(numbers_of(condition), array_of(x), array_of(y)))


def _compared(x, y, equal):
    if x is None or y is None:
        return _tf().constant(not equal)
    a, b = array_of(x), array_of(y)
    try:
        same = np.asarray(a == b, builtins.bool) if a.size and b.size else np.zeros(np.broadcast_shapes(a.shape, b.shape),
                                                                                   builtins.bool)
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError as error:
        raise _tf().errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: {list(a.shape)} vs. {list(b.shape)}") from error
    return _tf().convert_to_tensor(same if equal else ~same)


@does("equal")
def _equal(x, y, name=None):
    return _compared(x, y, True)


@does("not_equal")
def _not_equal(x, y, name=None):
    return _compared(x, y, False)


@does("add")
def _add(x, y, name=None):
    return _made(each(lambda a, b: a + b, array_of(x), array_of(y)))


@does("tensor_scatter_nd_update")
def _scatter(tensor, indices, updates, name=None):
    array = array_of(tensor).copy()
    array[tuple(np.moveaxis(numbers_of(indices), -1, 0))] = array_of(updates)
    return _made(array)


@does("scatter_nd")
def _scatter_nd(indices, updates, shape, name=None):
    return _scatter(_fill([int(s) for s in shape], b""), indices, updates)


@does("pad")
def _pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    value = b"" if isinstance(constant_values, int) else array_of(constant_values)[()]
    by, mode = numbers_of(paddings).tolist(), mode.lower()
    if mode == "constant":
        return _made(np.pad(array_of(tensor), by, constant_values=value))
    return _made(np.pad(array_of(tensor), by, mode))  # "reflect" and "symmetric" are NumPy's words, too


def _first_places(array):
    """Different strings in order of appearance, the number of each element's, and how often each occurs."""
    numbers, places = {}, np.empty(array.size, np.int64)
    for i, value in enumerate(array.reshape(-1).tolist()):
        places[i] = numbers.setdefault(value, len(numbers))
    return np.array(list(numbers), object), places, np.bincount(places, minlength=len(numbers))


@does("unique")
def _unique(x, out_idx=None, name=None):
    from ._results import Unique
    y, places, _ = _first_places(array_of(x))
    return Unique(_made(y), _as_tensor(places, out_idx or "int32"))


@does("unique_with_counts")
def _unique_with_counts(x, out_idx=None, name=None):
    from ._results import UniqueWithCounts
    y, places, counts = _first_places(array_of(x))
    kind = out_idx or "int32"
    return UniqueWithCounts(_made(y), _as_tensor(places, kind), _as_tensor(counts, kind))


@does("random.shuffle")
def _shuffle(value, seed=None, name=None):
    array = array_of(value)
    return _made(array[_tf().random.shuffle(_tf().range(len(array)), seed).numpy()])


