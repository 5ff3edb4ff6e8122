"""Functions whose shape is Python's own: any number of arguments, structures, contexts."""
import contextlib
import enum
import sys

from . import _core
from ._types import IndexedSlices, TensorShape

__all__ = ["UnconnectedGradients", "TensorSpec", "broadcast_dynamic_shape", "broadcast_static_shape",
           "control_dependencies", "clip_by_global_norm", "device", "einsum", "ensure_shape",
           "get_static_value", "group", "meshgrid", "no_op", "shape_n", "tuple", "zeros_initializer", "ones_initializer",
           "constant_initializer", "random_normal_initializer", "random_uniform_initializer"]


class UnconnectedGradients(enum.Enum):
    """What a gradient is where there is no dependence."""
    NONE = "none"
    ZERO = "zero"


class TensorSpec:
    """The shape and dtype of a tensor."""

    def __new__(cls, shape, dtype="float32", name=None):
        if cls is TensorSpec and getattr(dtype, "name", dtype) == "string":
            from .data._structure import StringSpec
            cls = StringSpec
        return object.__new__(cls)

    def __init__(self, shape, dtype="float32", name=None):
        self._shape = TensorShape(shape)._of_all_calls()
        self._dtype = _tf().as_dtype("float32" if dtype is None else dtype)
        self._name = name

    shape = property(lambda self: self._shape, doc="A TensorShape.")
    dtype = property(lambda self: self._dtype, doc="A DType.")
    name = property(lambda self: self._name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec, name=None):
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_tensor):
        return self._dtype == spec_or_tensor.dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self._dtype, self._shape) == (other._dtype, other._shape)

    def __hash__(self):
        return hash((self._dtype, self._shape))

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return TensorSpec, (self._shape, self._dtype, self._name)


def _tf():
    return sys.modules["gradus"]


def einsum(equation, *inputs, **kwargs):
    """Sums of products over named axes: einsum("ij,jk->ik", a, b) is a matrix product."""
    if len(inputs) == 1 and isinstance(inputs[0], (list, builtin_tuple)):
        inputs = inputs[0]
    unknown = set(kwargs) - {"optimize", "name"}
    if unknown:
        raise TypeError(f"Invalid keyword arguments for this function: {', '.join(sorted(unknown))}.")
    return _core._einsum(equation, list(inputs))


builtin_tuple = tuple


def meshgrid(*args, **kwargs):
    """The coordinates of a grid, one tensor per axis; indexing is "xy" or "ij"."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` must be one of ('xy', 'ij'), but got '{indexing}'")
    return _core._meshgrid([_tf().convert_to_tensor(a) for a in args], indexing) if args else []


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """All tensors scaled by one factor, so that their common norm is at most clip_norm; and that norm."""
    tf = _tf()
    values = [t.values if isinstance(t, IndexedSlices) else t for t in t_list]
    norm = tf.linalg.global_norm(values) if use_norm is None else tf.convert_to_tensor(use_norm)
    scale = clip_norm / tf.maximum(norm, tf.cast(clip_norm, norm.dtype))
    scale = tf.where(tf.math.is_finite(norm), scale, norm - norm)  # NaN if the norm is not finite
    scaled = [None if v is None else v * tf.cast(scale, v.dtype) for v in values]
    return [IndexedSlices(v, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else v
            for v, t in zip(scaled, t_list)], norm


@contextlib.contextmanager
def device(device_name):
    """Accepted for TensorFlow's sake: there is one device, the CPU."""
    yield device_name


@contextlib.contextmanager
def control_dependencies(control_inputs):
    """Nothing to do: eager operations run in program order."""
    yield


def group(*inputs, **kwargs):
    """Nothing to do: the operations have run."""
    if set(kwargs) - {"name"}:
        raise ValueError(f"Unknown keyword arguments: {', '.join(sorted(kwargs))}")


def no_op(name=None):
    """Does nothing."""


def tuple(tensors, control_inputs=None, name=None):  # noqa: A001
    """The tensors themselves, as a list."""
    return list(tensors)


def get_static_value(tensor, partial=False):
    """The value as a NumPy array; None if it depends on the arguments of a function that is being traced."""
    if not _tf().is_tensor(tensor):
        return tensor
    value = _core._value_before_call(tensor) if isinstance(tensor, _core.Tensor) else tensor
    return None if value is None else value.numpy()


def shape_n(input, out_type="int32", name=None):  # noqa: A002
    """The shapes of several tensors."""
    tf = _tf()
    return [tf.shape(t, out_type) for t in input]


def ensure_shape(x, shape, name=None):
    """x, if it has this shape."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    if not x.shape.is_compatible_with(shape):
        sizes = [str(TensorShape(s).as_list()).replace("None", "?").replace(" ", "") for s in (x.shape, shape)]
        raise tf.errors.InvalidArgumentError(
            None, None, f"[ensure_shape] Shape of tensor input {sizes[0]} is not compatible with expected shape {sizes[1]}.")
    wanted = TensorShape(shape)
    for axis, size in enumerate(x.shape.as_list() if wanted.rank is not None else ()):
        if size is None and wanted[axis] is not None:  # only a call will know
            tf.debugging.assert_equal(tf.shape(x)[axis], wanted[axis], f"[ensure_shape] The size of axis {axis} of the tensor "
                                      f"is not compatible with the expected shape {wanted}.")
    return x


def broadcast_static_shape(shape_x, shape_y):
    """The shape to which both broadcast."""
    a, b = list(TensorShape(shape_x)), list(TensorShape(shape_y))
    longer = max(len(a), len(b))
    sizes = []
    for x, y in zip([1] * (longer - len(a)) + a, [1] * (longer - len(b)) + b):
        if x is not None and y is not None and x != y and 1 not in (x, y):
            raise ValueError(f"Incompatible shapes for broadcasting: {TensorShape(a)} and {TensorShape(b)}.")
        sizes.append(y if x == 1 else x if y == 1 or y is None else y)
    return TensorShape(sizes)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The same, of and as tensors."""
    tf = _tf()
    try:
        return tf.constant(broadcast_static_shape(shape_x, shape_y).as_list(), dtype="int32")
    except ValueError as error:
        raise tf.errors.InvalidArgumentError(None, None, str(error)) from error


def _numeric(dtype):
    dtype = _tf().as_dtype(dtype)
    if dtype.name == "string":
        raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")
    return dtype


class _Initializer:
    def get_config(self):
        return dict(self.__dict__)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


    def _size(self, shape, kwargs, partitioned=True):
        """The shape to fill: of a part of a variable, that part's."""
        unknown = set(kwargs) - {"partition_shape", "partition_offset", "layout"}
        if unknown:
            raise TypeError(f"Unknown keyword arguments: {', '.join(sorted(unknown))}")
        part = kwargs.get("partition_shape")
        if part is not None and not partitioned:
            raise ValueError(f"{type(self).__name__} initializer doesn't support partition-related arguments")
        return shape if part is None else part

    def _real(self, dtype):
        dtype = _tf().as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(f"Expected float dtype, got {dtype}.")
        return dtype


class zeros_initializer(_Initializer):  # noqa: N801
    """Zeros."""

    def __call__(self, shape, dtype="float32", **kwargs):
        return _tf().zeros(self._size(shape, kwargs), _numeric(dtype))


class ones_initializer(_Initializer):  # noqa: N801
    """Ones."""

    def __call__(self, shape, dtype="float32", **kwargs):
        return _tf().ones(self._size(shape, kwargs), _numeric(dtype))


class constant_initializer(_Initializer):  # noqa: N801
    """One value, or given values."""

    def __init__(self, value=0, support_partition=False):
        self.value, self.support_partition = value, support_partition

    def __call__(self, shape, dtype=None, **kwargs):
        self._size(shape, kwargs, self.support_partition)  # a part gets the shape that is asked for, too
        return _tf().constant(self.value, dtype=dtype, shape=shape)


class random_normal_initializer(_Initializer):  # noqa: N801
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype="float32", **kwargs):
        random, shape, dtype = _tf().random, self._size(shape, kwargs), self._real(dtype)
        if self.seed is None:
            return random.normal(shape, self.mean, self.stddev, dtype)
        return random.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)


class random_uniform_initializer(_Initializer):  # noqa: N801
    """Uniformly distributed numbers."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype="float32", **kwargs):
        random, shape, dtype = _tf().random, self._size(shape, kwargs), _tf().as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        if dtype.is_integer and not all(isinstance(v, int) for v in (self.minval, self.maxval)):
            raise TypeError(f"[random_uniform_initializer] got minval {self.minval!r} and maxval {self.maxval!r} for {dtype}; "
                            "expected integers")
        if self.seed is None:
            return random.uniform(shape, self.minval, self.maxval, dtype)
        return random.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)


def _is_non_decreasing(x, name=None):
    """Whether no element is below the one before it."""
    tf = _tf()
    x = tf.reshape(x, [-1])
    return tf.reduce_all(x[1:] >= x[:-1])


def _is_strictly_increasing(x, name=None):
    """Whether every element is above the one before it."""
    tf = _tf()
    x = tf.reshape(x, [-1])
    return tf.reduce_all(x[1:] > x[:-1])


def publish(namespace):
    """Puts these functions under their other names as well."""
    linalg, autodiff = namespace("linalg"), namespace("autodiff")
    linalg.einsum = einsum
    linalg.normalize = _normalize
    math = namespace("math")
    math.is_non_decreasing, math.is_strictly_increasing = _is_non_decreasing, _is_strictly_increasing
    autodiff.ForwardAccumulator = _core.ForwardAccumulator
    namespace("forward_diff").GradientTape = _core.ForwardGradientTape
    from . import _generator
    random = namespace("random")
    random.Generator, random.Algorithm = _generator.Generator, _generator.Algorithm
    random.create_rng_state = _generator.create_rng_state
    random.get_global_generator = _generator.get_global_generator
    random.set_global_generator = _generator.set_global_generator


def _normalize(tensor, ord="euclidean", axis=None, name=None):  # noqa: A002
    """The tensor divided by its norm, and the norm."""
    norm = _tf().norm(tensor, ord, axis, True)
    return tensor / norm, norm

