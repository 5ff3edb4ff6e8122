"""Elements of datasets and what is known of them: structures of tensors and of their specs.

As in tf.data, tuples and mappings are structure and lists are tensors. What has been through `element` has only
tensors, strings, datasets and None as leaves.
"""
import numpy as np

from .. import _core, nest
from .._compositions import TensorSpec
from .._kinds import Composite
from .._types import TensorShape
from .._strings import StringTensor, holds_strings, string

Tensor = _core.Tensor


class NoneTensorSpec:
    """Of a leaf that is None."""

    def __repr__(self):
        return "NoneTensorSpec()"

    def __eq__(self, other):
        return isinstance(other, NoneTensorSpec)

    def __hash__(self):
        return 0


class StringSpec(TensorSpec):
    """Of a leaf that is a string; what TensorSpec(shape, tf.string) would be."""

    def __init__(self, shape, dtype=None, name=None):
        self._shape, self._name = TensorShape(shape), name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: string)
    name = property(lambda self: self._name)

    def is_compatible_with(self, spec_or_tensor):
        value = spec_or_tensor
        return isinstance(value, (StringTensor, StringSpec)) and self._shape.is_compatible_with(value.shape)

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype=tf.string, name={self._name!r})"

    def __eq__(self, other):
        return isinstance(other, StringSpec) and list(self._shape) == list(other._shape)

    def __hash__(self):
        return hash("string")


class DatasetSpec:
    """Of a leaf that is a dataset, as window() makes them."""

    def __init__(self, element_spec, dataset_shape=()):
        self.element_spec, self._shape = element_spec, TensorShape(dataset_shape)

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r}, {self._shape!r})"

    def __eq__(self, other):
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    def __hash__(self):
        return hash("dataset")


def _leaf(value):
    import gradus
    if isinstance(value, _core.Variable):
        return value.read_value()
    if getattr(value, "_is_dataset", False) or isinstance(value, (StringTensor, Composite)):
        return value
    if holds_strings(value):
        return StringTensor(value)
    return gradus.convert_to_tensor(value)


def element(value):
    """A Python value as an element."""
    kind = type(value)
    if kind is Tensor or value is None:
        return value
    if kind is tuple:
        return tuple([v if type(v) is Tensor else element(v) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(element, value))
    if isinstance(value, dict):
        return kind([(k, element(v)) for k, v in value.items()]) if kind is not dict else {
            k: element(v) for k, v in value.items()}
    return _leaf(value)


def returned(value):
    """What a function of the user returns, as an element: a list with tensors in it is a tuple, as the results of an op."""
    if type(value) is list and any(isinstance(v, (Tensor, StringTensor, Composite)) for v in value):
        value = tuple(value)
    return element(value)


def leaf_spec(leaf):
    """The spec of one leaf."""
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, (TensorSpec, NoneTensorSpec, DatasetSpec)):
        return leaf
    if isinstance(leaf, StringTensor):
        return StringSpec(leaf.shape)
    if getattr(leaf, "_is_dataset", False):
        return DatasetSpec(leaf.element_spec)
    if isinstance(leaf, Composite):
        return leaf._type_spec
    return TensorSpec(leaf.shape, leaf.dtype)


def spec_of(value):
    """The spec of an element."""
    return nest.map_structure(leaf_spec, value)


def loose_spec_of(value):
    """The spec of elements of which one is known: the others may have other sizes."""
    def one(leaf):
        spec = leaf_spec(leaf)
        return with_shape(spec, [None] * spec.shape.rank) if isinstance(spec, TensorSpec) else spec
    return nest.map_structure(one, value)


def with_shape(spec, shape):
    """The same dtype with another shape."""
    return StringSpec(shape) if isinstance(spec, StringSpec) else TensorSpec(shape, spec.dtype)


def batched(structure, size):
    """The spec of several such elements; size None where it may vary."""
    def one(s):
        if not isinstance(s, TensorSpec):
            raise TypeError(f"elements with leaves of {s!r} cannot be batched")
        return with_shape(s, [size] + list(s.shape) if s.shape.rank is not None else None)
    return nest.map_structure(one, structure)


def unbatched(structure):
    """The spec of one of several elements."""
    def one(s):
        if s.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return with_shape(s, list(s.shape)[1:] if s.shape.rank is not None else None)
    return nest.map_structure(one, structure)


def widest(a, b):
    """What two specs have in common: for datasets that give elements of both."""
    def one(x, y):
        if not isinstance(x, TensorSpec) or not isinstance(y, TensorSpec):
            return x
        if x.dtype != y.dtype:
            raise TypeError(f"Incompatible dtypes of elements: {x.dtype!r} and {y.dtype!r}")
        if x.shape.rank is None or x.shape.rank != y.shape.rank:
            return with_shape(x, None)
        return with_shape(x, [m if m == n else None for m, n in zip(x.shape, y.shape)])
    return nest.map_structure(one, a, b)


def to_numpy(value):
    """An element with NumPy values as its leaves."""
    def one(leaf):
        if getattr(leaf, "_is_dataset", False):
            return leaf.as_numpy_iterator()
        return leaf if leaf is None else leaf.numpy()
    return nest.map_structure(one, value)


def stacked(elements):
    """Several elements as one, with a new first axis."""
    import gradus
    first = elements[0]
    if type(first) is Tensor:
        return _stack(elements, gradus)
    leaves = [nest.flatten(e) for e in elements]
    return nest.pack_sequence_as(first, [_stack(list(column), gradus) for column in zip(*leaves)])


def _stack(column, gradus):
    first = column[0]
    if isinstance(first, Composite):
        return first._stacked(column)
    if isinstance(first, StringTensor):
        return StringTensor(np.stack([np.asarray(c, object) for c in column]))
    if first is None or not isinstance(first, Tensor):
        raise TypeError(f"elements with leaves of {leaf_spec(first)!r} cannot be batched")
    try:
        return gradus.stack(column)
    except (gradus.errors.InvalidArgumentError, ValueError):
        for other in column:
            if list(other.shape) != list(first.shape):
                raise gradus.errors.InvalidArgumentError(
                    None, None, "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
                    f"[tensor]: {list(other.shape)}, [batch]: {list(first.shape)}; use padded_batch for elements of "
                    "different sizes") from None
        raise


def row_count(structure):
    """The size of the first axis, which all leaves must share."""
    sizes = []
    for leaf in nest.flatten(structure):
        if leaf.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes.append(leaf.shape[0])
    if not sizes:
        raise ValueError("a dataset needs at least one tensor")
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")
    return sizes[0]
