"""The classes of sparse tensors; the functions of tf.sparse are in sparse.py."""
import operator
import sys

from ._compositions import TensorSpec
from ._kinds import Composite, static_sizes
from ._types import TensorShape


def _tf():
    return sys.modules["gradus"]


def _rank(tensor, rank):
    if tensor.shape.rank != rank:
        raise ValueError(f"Shape {tensor.shape} must have rank {rank}")
    return tensor


class SparseTensor(Composite):
    """A tensor given by its elements that are not zero: `values` [n] at `indices` [n, rank] of `dense_shape`.

    Most functions want the indices in row-major order, without repetitions: tf.sparse.reorder sorts them.
    """

    __slots__ = ("_indices", "_values", "_dense_shape", "_sizes", "__weakref__")
    _functions = {}
    __array_priority__ = 110

    def __init__(self, indices, values, dense_shape):
        tf = _tf()
        self._indices = _rank(tf.convert_to_tensor(indices, tf.int64), 2)
        self._values = _rank(tf.convert_to_tensor(values), 1)
        self._sizes = static_sizes(dense_shape)
        self._dense_shape = _rank(tf.convert_to_tensor(dense_shape, tf.int64), 1)
        count, rank = self._indices.shape
        for a, b in ((count, self._values.shape[0]), (rank, self._dense_shape.shape[0])):
            if a is not None and b is not None and a != b:
                raise ValueError(f"Dimensions {a} and {b} are not compatible: indices have shape "
                                 f"{self._indices.shape}, values {self._values.shape}, dense_shape "
                                 f"{self._dense_shape.shape}")

    def _parts(self):
        sizes = self._sizes
        return (self._indices, self._values, self._dense_shape), None if sizes.rank is None else tuple(sizes.as_list())

    @classmethod
    def _from_parts(cls, tensors, sizes):
        self = cls.__new__(cls)
        self._indices, self._values, self._dense_shape = tensors
        self._sizes = TensorShape(sizes)
        if not self._sizes.is_fully_defined() and self._dense_shape is not None:
            self._sizes = self._sizes.merge_with(static_sizes(self._dense_shape))
        return self

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor with the parts of anything that has them."""
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    indices = property(lambda self: self._indices, doc="The places of the elements, [n, rank], int64.")
    values = property(lambda self: self._values, doc="The elements, [n].")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole, a vector of int64.")
    shape = property(lambda self: self._sizes, doc="The shape of the whole, a TensorShape.")
    dtype = property(lambda self: self._values.dtype)
    ndim = property(lambda self: self._sizes.rank)

    def get_shape(self):
        """The shape of the whole, a TensorShape."""
        return self._sizes

    def set_shape(self, shape):
        """Says more about the shape."""
        self._sizes = self._sizes.merge_with(shape)

    def with_values(self, new_values):
        """The same places with other elements."""
        new_values = _tf().convert_to_tensor(new_values)
        if not new_values.shape[:1].is_compatible_with(self._values.shape[:1]):
            raise ValueError(f"new_values has shape {new_values.shape}, but there are {self._values.shape[0]} places")
        return self._from_parts((self._indices, new_values, self._dense_shape), tuple(self._sizes.as_list()))

    @property
    def _type_spec(self):
        return SparseTensorSpec(self._sizes, self.dtype)

    @staticmethod
    def _stacked(parts):
        """Several as one, along a new first axis."""
        sparse = _tf().sparse
        return sparse.concat(0, [sparse.expand_dims(p, 0) for p in parts])

    __iter__ = None  # by rows it would be slow: tf.sparse.split

    def __getitem__(self, key):
        """Rows: x[i] or x[a:b]."""
        tf = _tf()
        if isinstance(key, slice):
            first, last, step = key.indices(self._sizes[0])
            if step != 1:
                raise ValueError("a slice of a sparse tensor has step 1")
            return tf.sparse.slice(self, [first] + [0] * (self._sizes.rank - 1),
                                   [max(last - first, 0)] + self._sizes.as_list()[1:])
        at, rows = operator.index(key), self._sizes[0]
        if not -rows <= at < rows:
            raise IndexError(f"row {at} of a sparse tensor with {rows} rows")
        at %= rows
        row = self[at:at + 1]
        return self._from_parts((row.indices[:, 1:], row.values, row.dense_shape[1:]), tuple(self._sizes.as_list()[1:]))

    def numpy(self):
        """The parts as NumPy arrays, a SparseTensorValue."""
        return SparseTensorValue(self._indices.numpy(), self._values.numpy(), self._dense_shape.numpy())

    def _at_places(self, dense):
        """The elements of a dense tensor, broadcast to the shape, at the places of the elements of this one."""
        tf = _tf()
        dense = tf.convert_to_tensor(dense, dtype_hint=self.dtype)
        if dense.shape.rank == 0:
            return dense
        first = self._sizes.rank - dense.shape.rank
        if first < 0 or any(size not in (1, whole, None) and whole is not None
                            for size, whole in zip(dense.shape.as_list(), self._sizes.as_list()[first:])):
            raise tf.errors.InvalidArgumentError(None, None, f"a dense operand of shape {dense.shape} does not broadcast "
                                                 f"to the sparse one's, {self._sizes}")
        places = self._indices[:, first:]
        return tf.gather_nd(dense, tf.minimum(places, tf.shape(dense, tf.int64) - 1))

    def __mul__(self, other):
        return self.with_values(self._values * self._at_places(other))

    def __truediv__(self, other):
        return self.with_values(self._values / self._at_places(other))

    def __neg__(self):
        return self.with_values(-self._values)

    def __repr__(self):
        return (f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
                f"dense_shape={self._dense_shape!s})")


from collections import namedtuple  # noqa: E402
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensorSpec(TensorSpec):
    """The shape and dtype of a sparse tensor."""

    def __new__(cls, shape=None, dtype="float32", name=None):
        return object.__new__(cls)

    value_type = property(lambda self: SparseTensor)

    @classmethod
    def from_value(cls, value):
        return cls(value.shape, value.dtype)

    def is_compatible_with(self, spec_or_value):
        value = spec_or_value
        return (isinstance(value, (SparseTensor, SparseTensorSpec)) and self._dtype == value.dtype
                and self._shape.is_compatible_with(value.shape))

    def __eq__(self, other):
        return isinstance(other, SparseTensorSpec) and (self._dtype, self._shape) == (other._dtype, other._shape)

    def __hash__(self):
        return hash(("sparse", self._dtype, self._shape))

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"

    def __reduce__(self):
        return SparseTensorSpec, (self._shape, self._dtype)


# ------------------------------------------------------------------------------- functions of the module on sparse tensors

def _of_values(name):
    def function(**arguments):
        own, x = next((k, v) for k, v in arguments.items() if isinstance(v, SparseTensor))
        path, _, last = name.rpartition(".")
        place = getattr(_tf(), path) if path else _tf()
        return x.with_values(getattr(place, last)(**{**arguments, own: x.values}))
    return function


for _name in ("abs negative sign square sqrt sin cos tan sinh tanh asin asinh atan atanh floor round "
              "math.expm1 math.log1p math.ceil math.rint cast math.real math.imag math.conj").split():
    SparseTensor._functions[_name] = _of_values(_name)


@SparseTensor.does("identity")
def _identity(input, name=None):  # noqa: A002
    return input


@SparseTensor.does("shape")
def _shape(input, out_type=None, name=None):  # noqa: A002
    return _tf().cast(input.dense_shape, out_type or "int32")


@SparseTensor.does("size")
def _size(input, out_type=None, name=None):  # noqa: A002
    return _tf().cast(_tf().reduce_prod(input.dense_shape), out_type or "int32")


@SparseTensor.does("rank")
def _rank_of(input, name=None):  # noqa: A002
    return _tf().constant(input.shape.rank)


@SparseTensor.does("convert_to_tensor")
def _convert(value, dtype=None, dtype_hint=None, name=None):
    raise ValueError(f"Failed to convert elements of {value} to Tensor. Consider casting elements to a supported type, or "
                    "make it dense: tf.sparse.to_dense.")
