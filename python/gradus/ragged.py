"""tf.ragged: functions of ragged tensors."""
import builtins

import gradus as tf

from ._compositions import TensorSpec
from ._ragged import RaggedTensor, _integers, _is_int32
from ._ragged_functions import _from_rows, _stack, map_flat_values  # noqa: F401

__all__ = [
    "boolean_mask", "constant", "map_flat_values", "range", "row_splits_to_segment_ids",
    "segment_ids_to_row_splits", "stack",
]


def _depth(value):
    if isinstance(value, (list, tuple)) or hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return 1 + max((_depth(v) for v in value), default=0)
    return 0


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=tf.int64):
    """A ragged tensor from nested lists; a dense one if no axis is ragged."""
    depth = _depth(pylist)
    if depth == 0:
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
        return tf.constant(pylist, dtype)
    inner = 0 if inner_shape is None else len(inner_shape)
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1 - inner)
    if ragged_rank < 0 or ragged_rank >= depth and depth > 1:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    splits, level = [], pylist
    for _ in builtins.range(ragged_rank):
        lengths, inside = [0], []
        for row in level:
            if _depth(row) == 0 and not isinstance(row, (list, tuple)) and not hasattr(row, "__len__"):
                raise ValueError(f"Invalid pylist={pylist}: all scalar values must have the same nesting depth")
            lengths.append(lengths[-1] + len(row))
            inside.extend(row)
        splits.append(lengths)
        level = inside
    if any(_depth(v) != _depth(level[0]) for v in level):
        raise ValueError("all scalar values must have the same nesting depth")
    if not level:
        values = tf.zeros([0] + list(inner_shape or []), dtype or tf.float32)
    else:
        values = tf.constant([v.tolist() if hasattr(v, "tolist") else v for v in level], dtype)
    if inner_shape is not None and list(values.shape)[1:] != list(inner_shape):
        values = tf.reshape(values, [-1] + list(inner_shape))
    narrow = _is_int32(row_splits_dtype)
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)._with_narrow(narrow) if splits else values


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=tf.int64):  # noqa: A001
    """The numbers from starts to limits, one row for each pair."""
    starts = tf.convert_to_tensor(starts, dtype)
    if limits is None:
        starts, limits = tf.zeros_like(starts), starts
    limits, deltas = (tf.convert_to_tensor(v, dtype_hint=starts.dtype) for v in (limits, deltas))
    rows = max([t.shape[0] for t in (starts, limits, deltas) if t.shape.rank] + [0]) or 1
    starts, limits, deltas = (tf.broadcast_to(t, [rows]) for t in (starts, limits, deltas))
    tf.debugging.Assert(tf.reduce_all(deltas != 0), ["Requires delta != 0"])
    if starts.dtype.is_floating:
        lengths = tf.cast(tf.maximum(tf.math.ceil((limits - starts) / deltas), 0), tf.int64)
    else:
        lengths = tf.cast(tf.maximum(-((starts - limits) // deltas), 0), tf.int64)
    made = RaggedTensor.from_row_lengths(tf.zeros([tf.reduce_sum(lengths)], starts.dtype), lengths)
    ids, made = made._rows_of_values(), made._with_narrow(_is_int32(row_splits_dtype))
    return made.with_values(tf.gather(starts, ids) + tf.cast(made._column_numbers(), starts.dtype) * tf.gather(deltas, ids))


def stack(values, axis=0, name=None):
    """Tensors of the same rank, dense or ragged, along a new axis."""
    parts = [v if isinstance(v, RaggedTensor) else tf.convert_to_tensor(v) for v in values]
    if any(isinstance(p, RaggedTensor) for p in parts):
        return _stack(parts, axis)
    if axis == 0 and parts[0].shape.rank:
        if parts[0].shape.rank == 1:
            return _from_rows(parts)
        return _stack([RaggedTensor.from_tensor(p) for p in parts], 0)
    return tf.stack(parts, axis)


def boolean_mask(data, mask, name=None):
    """What of data is where mask is true; ragged, since rows keep different numbers."""
    ragged = isinstance(mask, RaggedTensor)
    if not ragged:
        mask = tf.convert_to_tensor(mask)
        if mask.shape.rank == 1:
            kept = tf.where(mask)[:, 0]
            return tf.gather(data, kept)
        mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1)
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(tf.convert_to_tensor(data), ragged_rank=mask.ragged_rank)
    if isinstance(mask.values, RaggedTensor):
        inner = boolean_mask(data.values, mask.values)
        return data.with_values(inner)
    kept = tf.where(mask.values)[:, 0]
    lengths = tf.math.unsorted_segment_sum(tf.cast(mask.values, tf.int64), mask.value_rowids(), len(mask))
    return RaggedTensor.from_row_lengths(tf.gather(data.values, kept), lengths)


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value."""
    splits = _integers(splits, "splits")
    if splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    made = RaggedTensor._made(tf.zeros([int(splits[-1])]), splits)
    return tf.cast(made.value_rowids(), out_type or tf.int64)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where the rows of sorted numbers end."""
    ids = _integers(segment_ids, "segment_ids")
    made = RaggedTensor.from_value_rowids(ids, ids, num_segments)
    return tf.cast(made.row_splits, out_type or tf.int64)


class RaggedTensorSpec(TensorSpec):
    """The shape and dtype of a ragged tensor."""

    def __new__(cls, shape=None, dtype="float32", ragged_rank=None, row_splits_dtype="int64", name=None):
        return object.__new__(cls)

    def __init__(self, shape=None, dtype=tf.float32, ragged_rank=None, row_splits_dtype=tf.int64, name=None):
        self._shape, self._name = tf.TensorShape(shape)._of_all_calls(), name
        self._dtype = tf.as_dtype(dtype)
        self._ragged_rank = self._shape.rank - 1 if ragged_rank is None and self._shape.rank else ragged_rank
        self._row_splits_dtype = tf.int32 if _is_int32(row_splits_dtype) else tf.int64

    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    value_type = property(lambda self: RaggedTensor)

    @classmethod
    def from_value(cls, value):
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def is_compatible_with(self, spec_or_value):
        value = spec_or_value
        return (isinstance(value, (RaggedTensor, RaggedTensorSpec)) and self._dtype == value.dtype
                and self._shape.is_compatible_with(value.shape))

    def __eq__(self, other):
        return (isinstance(other, RaggedTensorSpec)
                and self.__reduce__() == other.__reduce__())

    def __hash__(self):
        return hash(("ragged", self._dtype, self._shape))

    def __repr__(self):
        return (f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank!r}, "
                f"{self._row_splits_dtype!r})")

    def __reduce__(self):
        return RaggedTensorSpec, (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)


def __getattr__(name):
    raise AttributeError(f"module 'gradus.ragged' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")
