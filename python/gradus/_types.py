"""Dtypes, shapes and sparse gradients: what of them is not in C."""
import numbers

from . import _core


class DType(_core.DType):
    """The type of a tensor's elements."""

    __slots__ = ()

    @property
    def as_numpy_dtype(self):
        """The NumPy type with the same elements."""
        import numpy as np
        if self.name == "bfloat16":
            from . import _numpy
            return _numpy.bfloat16
        return np.dtype(self.name).type

    @property
    def as_datatype_enum(self):
        return _PROTO_NUMBERS[self.name]

    @property
    def base_dtype(self):
        return self

    @property
    def real_dtype(self):
        """float32 for complex64, float64 for complex128, else the dtype itself."""
        return DType({"complex64": "float32", "complex128": "float64"}.get(self.name, self.name))

    @property
    def is_numpy_compatible(self):
        return True

    @property
    def is_quantized(self):
        return False

    def _limits(self):
        import numpy as np
        if self.is_bool:
            return False, True
        if self.is_integer:
            info = np.iinfo(self.name)
            return info.min, info.max
        if self.name == "bfloat16":
            return -3.3895313892515355e38, 3.3895313892515355e38
        if self.is_complex:
            raise TypeError(f"Cannot find maximum value of {self}.")
        info = np.finfo(self.name)
        return info.min, info.max

    @property
    def min(self):
        """The lowest number of this dtype."""
        return self._limits()[0]

    @property
    def max(self):
        """The highest number of this dtype."""
        return self._limits()[1]

    @property
    def limits(self):
        return self._limits()

    def is_compatible_with(self, other):
        return self == as_dtype(other)


_PROTO_NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6,
                  "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17,
                  "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23}


def as_dtype(value):
    return DType(value)


class TensorShape(_core.TensorShape):
    """The sizes of a tensor along its axes; None where one is not known."""

    __slots__ = ()

    @property
    def dims(self):
        return None if self._dims is None else list(self._dims)

    def _of_all_calls(self):
        """The same, with None where the size changes from call to call of the function that is traced."""
        if not self._dims or all(type(n) is not _core.Size for n in self._dims):
            return self
        return TensorShape([None if type(n) is _core.Size else n for n in self._dims])

    def __array__(self, dtype=None, copy=None):
        import numpy as np
        return np.array(self.as_list(), dtype)

    def num_elements(self):
        """The number of elements, or None."""
        if not self.is_fully_defined():
            return None
        product = 1
        for size in self._dims:
            product *= size
        return product

    def is_fully_defined(self):
        """Whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other):
        """Whether some shape could be both."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def is_subtype_of(self, other):
        return isinstance(other, TensorShape) and self._is_within(other)

    def _is_within(self, other):
        return other._dims is None or (self._dims is not None and len(self._dims) == len(other._dims) and all(
            b is None or a == b for a, b in zip(self._dims, other._dims)))

    def merge_with(self, other):
        """What is known from either."""
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        """The sizes of both, one after the other."""
        return self + TensorShape(other)

    def with_rank(self, rank):
        if self._dims is None:
            return TensorShape([None] * rank)
        if len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank):
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank):
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def assert_same_rank(self, other):
        self.with_rank(TensorShape(other).rank)


class IndexedSlices:
    """A gradient that is zero but for some rows: `values` at `indices` along axis 0.

    It is what gather and embedding_lookup give. Repeated indices add up.
    """

    __slots__ = ("_values", "_indices", "_dense_shape", "__weakref__")

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self):
        """The rows."""
        return self._values

    @property
    def indices(self):
        """Where the rows belong."""
        return self._indices

    @property
    def dense_shape(self):
        """The shape of the whole, a tensor, or None."""
        return self._dense_shape

    @property
    def shape(self):
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape)

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def name(self):
        return self._values.name

    @property
    def device(self):
        return self._values.device

    def __gradus_tensor__(self):
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: give it one, or use its "
                             "values and indices")
        return _scatter_nd(_expand_dims(self._indices, -1), self._values, self._dense_shape)

    def __neg__(self):
        return self._with(-self._values)

    def _with(self, values):
        return IndexedSlices(values, self._indices, self._dense_shape)

    # Numbers scale the rows. Nothing else does: rows may be held in any order and more than once, so that only the dense
    # form can meet a tensor, whose operator makes it.

    def __mul__(self, factor):
        return self._with(self._values * factor) if isinstance(factor, numbers.Number) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self._with(self._values / divisor) if isinstance(divisor, numbers.Number) else NotImplemented

    @classmethod
    def __gradus_function__(cls, name, arguments):
        """What the few functions that keep rows do: they work on the values."""
        import gradus
        own, rows = next((k, v) for k, v in arguments.items() if isinstance(v, cls))
        path, _, last = name.rpartition(".")
        function = getattr(getattr(gradus, path) if path else gradus, last)
        return rows._with(function(**{**arguments, own: rows._values}))

    def __repr__(self):
        parts = {"indices": self._indices, "values": self._values, "dense_shape": self._dense_shape}
        return f"IndexedSlices({', '.join(f'{k}={v!s}' for k, v in parts.items() if v is not None)})"


_scatter_nd = _expand_dims = None  # set by gradus/__init__.py
