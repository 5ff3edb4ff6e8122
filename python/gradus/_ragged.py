"""Ragged tensors: rows of different lengths, one after the other in one tensor, and where each row ends.

The functions of tf.ragged are in ragged.py. What is computed is computed on the values, by ops.
"""
import sys

from . import _core
from ._kinds import Composite, Kind, is_traced
from ._types import TensorShape


def _tf():
    return sys.modules["gradus"]


def _integers(value, name):
    tf = _tf()
    value = tf.convert_to_tensor(value, dtype_hint=tf.int64)
    if value.dtype.name not in ("int32", "int64"):
        raise ValueError(f"{name} must have dtype int32 or int64, got {value.dtype!r}")
    return tf.cast(value, tf.int64) if value.dtype.name == "int32" else value


def _is_narrow(partition):
    """Whether what says where rows are is given as int32: the row splits are then int32 outside, too."""
    return str(getattr(partition, "dtype", "")).endswith(("int32", "int32'>")) and not str(partition.dtype).endswith("uint32")


def _is_int32(dtype):
    """Of a row_splits_dtype."""
    name = "int64" if dtype is None else _tf().as_dtype(dtype).name
    if name not in ("int32", "int64"):
        raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {name}.")
    return name == "int32"


def _values_of(value):
    return value if isinstance(value, Kind) else _tf().convert_to_tensor(value)


def _invalid(message):
    return _tf().errors.InvalidArgumentError(None, None, message)


class RaggedTensor(Composite):
    """Rows of different lengths: row i is values[row_splits[i]:row_splits[i + 1]]. Values may be ragged themselves."""

    # Row splits are int64 inside. _narrow: users see them as int32, as they gave them or asked for.
    __slots__ = ("_values", "_row_splits", "_uniform", "_narrow", "__weakref__")
    _functions = {}
    __array_priority__ = 110

    def __init__(self, *args, **kwargs):
        raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead "
                         "(e.g., RaggedTensor.from_row_lengths())")

    # ------------------------------------------------------------------------------------------------------------- making

    @classmethod
    def _made(cls, values, row_splits, uniform=None, narrow=False):
        self = cls.__new__(cls)
        self._values, self._row_splits, self._uniform, self._narrow = values, row_splits, uniform, narrow
        return self

    def _parts(self):
        return (self._values, self._row_splits), (self._uniform, self._narrow)

    @classmethod
    def _from_parts(cls, tensors, rest):
        return cls._made(*tensors, *rest)

    def _as_seen(self, splits):
        """Row splits, lengths or numbers of rows in the dtype that users see."""
        return _tf().cast(splits, "int32") if self._narrow else splits

    def _with_narrow(self, narrow):
        values = self._values._with_narrow(narrow) if isinstance(self._values, RaggedTensor) else self._values
        return self._made(values, self._row_splits, self._uniform, narrow)

    @classmethod
    def __gradus_function__(cls, name, arguments):
        """Functions see row splits of int64; if some were int32, so are those of the results."""
        from . import nest
        narrow = any(isinstance(v, RaggedTensor) and v._narrow for v in nest.flatten(list(arguments.values())))
        if narrow:
            arguments = {k: nest.map_structure(lambda v: v._with_narrow(False) if isinstance(v, RaggedTensor) else v, v)
                         for k, v in arguments.items()}
        made = super().__gradus_function__(name, arguments)
        return made if not narrow else nest.map_structure(
            lambda v: v._with_narrow(True) if isinstance(v, RaggedTensor) else v, made)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Row i is values[row_splits[i]:row_splits[i + 1]]."""
        tf = _tf()
        values, splits = _values_of(values), _integers(row_splits, "row_splits")
        if splits.shape.rank != 1:
            raise ValueError(f"Shape {splits.shape} must have rank 1")
        if splits.shape[0] == 0:
            raise ValueError("row_splits may not be empty: it must have at least one element")
        if validate and not is_traced(splits):
            numbers = splits.numpy()
            if numbers[0] != 0:
                raise _invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: row_splits must begin "
                               f"with 0, got {numbers[0]}")
            if (numbers[1:] < numbers[:-1]).any():
                raise _invalid("Arguments to from_row_splits do not form a valid RaggedTensor: row_splits must not "
                               "decrease")
            size = values.shape[0]
            if size is not None and numbers[-1] != size:
                raise _invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: the last of row_splits "
                               f"must be the number of values, {size}, got {numbers[-1]}")
        return cls._made(values, tf.identity(splits), None, _is_narrow(row_splits))

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows of these lengths."""
        tf = _tf()
        lengths = _integers(row_lengths, "row_lengths")
        if lengths.shape.rank != 1:
            raise ValueError(f"Shape {lengths.shape} must have rank 1")
        values = _values_of(values)
        if validate and not is_traced(lengths):
            numbers = lengths.numpy()
            if (numbers < 0).any():
                raise _invalid("Arguments to from_row_lengths do not form a valid RaggedTensor: row_lengths must not be "
                               "negative")
            if values.shape[0] is not None and numbers.sum() != values.shape[0]:
                raise _invalid(f"Arguments to from_row_lengths do not form a valid RaggedTensor: the sum of row_lengths "
                               f"must be the number of values, {values.shape[0]}, got {numbers.sum()}")
        return cls._made(values, tf.concat([[0], tf.cumsum(lengths)], 0), None, _is_narrow(row_lengths))

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """The values of row i are those whose number is i; numbers must be sorted."""
        tf = _tf()
        ids = _integers(value_rowids, "value_rowids")
        values = _values_of(values)
        if nrows is None:
            nrows = int(ids[-1]) + 1 if ids.shape[0] else 0
        nrows = int(nrows)
        if nrows < 0:
            raise ValueError(f"Expected nrows >= 0; got {nrows}")
        if validate and not is_traced(ids):
            numbers = ids.numpy()
            if (numbers[1:] < numbers[:-1]).any() or (len(numbers) and not 0 <= numbers[0] <= numbers[-1] < nrows):
                raise _invalid("Arguments to from_value_rowids do not form a valid RaggedTensor: value_rowids must be "
                               f"sorted and in [0, {nrows})")
        lengths = tf.math.unsorted_segment_sum(tf.ones_like(ids), ids, nrows)
        return cls.from_row_lengths(values, lengths, validate=validate)._with_narrow(_is_narrow(value_rowids))

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Rows that start there."""
        tf = _tf()
        values, starts = _values_of(values), _integers(row_starts, "row_starts")
        splits = tf.concat([starts, [values.shape[0]]], 0)
        return cls.from_row_splits(values, splits, validate=validate)._with_narrow(_is_narrow(row_starts))

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Rows that end there."""
        splits = _tf().concat([[0], _integers(row_limits, "row_limits")], 0)
        return cls.from_row_splits(values, splits, validate=validate)._with_narrow(_is_narrow(row_limits))

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        """Rows of one length."""
        tf = _tf()
        values, length = _values_of(values), int(uniform_row_length)
        size = values.shape[0]
        rows = int(nrows) if nrows is not None else size // length if length else 0
        if validate and rows * length != size:
            raise _invalid("Arguments to from_uniform_row_length do not form a valid RaggedTensor: uniform_row_length * "
                           f"nrows is {rows * length}, there are {size} values")
        return cls._made(values, tf.range(rows + 1, dtype=tf.int64) * length, length)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Rows of rows, the outermost splits first."""
        result = flat_values
        for splits in reversed(list(nested_row_splits)):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Rows of rows, the outermost lengths first."""
        result = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype="int64"):
        """The rows of a dense tensor, cut to lengths or without the padding at their end."""
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        return cls._rows_of(tensor, lengths, padding, ragged_rank)._with_narrow(_is_int32(row_splits_dtype))

    @classmethod
    def _rows_of(cls, tensor, lengths, padding, ragged_rank):
        tf = _tf()
        tensor = tf.convert_to_tensor(tensor)
        if ragged_rank > 1:
            inner = cls._rows_of(tf.reshape(tensor, [-1] + tensor.shape.as_list()[2:]), lengths, padding,
                                    ragged_rank - 1)
            return cls.from_uniform_row_length(inner, tensor.shape[1], nrows=tensor.shape[0])
        rows, width = tensor.shape[0], tensor.shape[1]
        if padding is not None:
            used = tf.not_equal(tensor, tf.convert_to_tensor(padding, dtype=tensor.dtype))
            if used.shape.rank > 2:
                used = tf.reduce_any(used, list(range(2, used.shape.rank)))
            lengths = tf.reduce_max(tf.where(used, tf.range(1, width + 1), 0), 1)
        if lengths is None:
            values = tf.reshape(tensor, [-1] + tensor.shape.as_list()[2:])
            return cls._made(values, tf.range(rows + 1, dtype=tf.int64) * width, width)
        lengths = tf.minimum(tf.maximum(_integers(lengths, "lengths"), 0), width)
        kept = tf.where(tf.sequence_mask(lengths, width))
        return cls.from_row_lengths(tf.gather_nd(tensor, kept), lengths)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype="int64"):
        """The rows of a sparse matrix, whose elements must be the first of each row."""
        if st_input.shape.rank != 2:
            raise ValueError(f"rank(st_input) must be 2, got {st_input.shape.rank}")
        tf = _tf()
        made = cls.from_value_rowids(st_input.values, st_input.indices[:, 0], st_input.shape[0])
        if not is_traced(st_input.indices):
            columns = made._column_numbers()
            if not bool(tf.reduce_all(columns == st_input.indices[:, 1])):
                raise _invalid("SparseTensor is not right-ragged")
        return made._with_narrow(_is_int32(row_splits_dtype))

    # ---------------------------------------------------------------------------------------------------------- attributes

    values = property(lambda self: self._values, doc="The rows one after the other.")
    row_splits = property(lambda self: self._as_seen(self._row_splits), doc="Where each row ends, from 0 on.")
    dtype = property(lambda self: self._values.dtype)
    uniform_row_length = property(lambda self: None if self._uniform is None else _tf().constant(self._uniform, "int64"))

    @property
    def flat_values(self):
        """The innermost values."""
        value = self._values
        while isinstance(value, RaggedTensor):
            value = value._values
        return value

    @property
    def ragged_rank(self):
        """How many axes are ragged, at most."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def nested_row_splits(self):
        """The row splits of all axes, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    @property
    def shape(self):
        """The sizes; None where rows differ."""
        rows = self._row_splits.shape[0]
        return TensorShape([None if rows is None else rows - 1, self._uniform] + self._values.shape.as_list()[1:])

    def get_shape(self):
        """The sizes; None where rows differ."""
        return self.shape

    ndim = property(lambda self: self.shape.rank)

    def nrows(self, out_type=None, name=None):
        """The number of rows."""
        return _tf().shape(self._row_splits, out_type or ("int32" if self._narrow else "int64"))[0] - 1

    def _row_count(self):
        """The number of rows; a tensor where it is not known."""
        size = self._row_splits.shape[0]
        return self.nrows("int64") if size is None else size - 1

    def row_starts(self, name=None):
        return self.row_splits[:-1]

    def row_limits(self, name=None):
        return self.row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows; for axis 2 those of their rows, and so on."""
        axis = axis + self.shape.rank if axis < 0 else axis
        if axis == 0:
            return self.nrows()
        if axis > 1:
            if not isinstance(self._values, RaggedTensor):
                raise ValueError(f"[row_lengths] got axis {axis}; expected one of the ragged axes and those before")
            return self.with_values(self._values.row_lengths(axis - 1))
        return self._as_seen(self._row_splits[1:] - self._row_splits[:-1])

    def nested_row_lengths(self, name=None):
        """The row lengths of all axes, the outermost first."""
        return tuple(s[1:] - s[:-1] for s in self.nested_row_splits)

    def value_rowids(self, name=None):
        """The row of each value."""
        return self._as_seen(self._rows_of_values())

    def _rows_of_values(self):
        """The same, always int64."""
        tf = _tf()
        count = self._values.nrows() if isinstance(self._values, RaggedTensor) else tf.shape(self._values, tf.int64)[0]
        return tf.searchsorted(self._row_splits[1:], tf.range(tf.cast(count, tf.int64), dtype=tf.int64), side="right",
                               out_type=tf.int64)

    def nested_value_rowids(self, name=None):
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def _column_numbers(self):
        """The place of each value in its row."""
        tf = _tf()
        ids = self._rows_of_values()
        return tf.range(tf.shape(ids, tf.int64)[0], dtype=tf.int64) - tf.gather(self._row_splits, ids)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The sizes of the smallest dense tensor that holds it."""
        tf = _tf()
        lengths = self._row_splits[1:] - self._row_splits[:-1]
        longest = tf.reduce_max(tf.concat([lengths, [0]], 0))
        inner = (self._values.bounding_shape(out_type=tf.int64) if isinstance(self._values, RaggedTensor)
                 else tf.shape(self._values, tf.int64))
        sizes = tf.concat([[self.nrows(tf.int64)], [longest], inner[1:]], 0)
        sizes = self._as_seen(sizes) if out_type is None else tf.cast(sizes, out_type)
        return sizes if axis is None else tf.gather(sizes, axis)

    # ----------------------------------------------------------------------------------------------------------- other forms

    def with_values(self, new_values):
        """The same rows with other values."""
        new_values = _values_of(new_values)
        mine, other = self._values.shape[0], new_values.shape[0]
        if mine is not None and other is not None and mine != other:
            raise ValueError(f"new_values must have {mine} rows, as the values have, got {other}")
        return self._made(new_values, self._row_splits, self._uniform, self._narrow)

    def with_flat_values(self, new_values):
        """The same rows of rows with other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with row splits of int32 or int64."""
        return self._with_narrow(_is_int32(dtype))

    def merge_dims(self, outer_axis, inner_axis):
        """Several axes as one."""
        tf = _tf()
        rank = self.shape.rank
        outer, inner = outer_axis % rank, inner_axis % rank
        if outer == inner:
            return self
        if outer > 1:
            return self.with_values(self._values.merge_dims(outer - 1, inner - 1))
        if outer == 0:
            return self._values if inner == 1 else _merged(self._values, inner - 1)
        if isinstance(self._values, RaggedTensor):
            rows = self._made(self._values._values, tf.gather(self._values._row_splits, self._row_splits))
            return rows if inner == 2 else rows.merge_dims(1, inner - 1)
        sizes = self._values.shape.as_list()
        factor = 1
        for s in sizes[1:inner]:
            factor *= s
        return self._made(tf.reshape(self._values, [-1] + sizes[inner:]), self._row_splits * factor)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A dense tensor with default_value (zero) where rows are short; a shape pads or cuts."""
        tf = _tf()
        values = self._values
        sizes = [None] * self.shape.rank if shape is None else TensorShape(shape).as_list()
        if isinstance(values, RaggedTensor):
            values = values.to_tensor(default_value, shape=None if shape is None else [None] + sizes[2:])
        if default_value is None:
            default_value = "" if values.dtype.name == "string" else tf.zeros([], values.dtype)
        default_value = tf.convert_to_tensor(default_value, dtype=values.dtype)
        rows = self._row_splits.shape[0] - 1
        lengths = self.row_lengths()
        width = tf.reduce_max(tf.concat([lengths, [0]], 0)) if sizes[1] is None else sizes[1]
        height = rows if sizes[0] is None else sizes[0]
        places = tf.stack([self._rows_of_values(), self._column_numbers()], 1)
        if sizes[1] is not None or height < rows:
            kept = tf.where((places[:, 1] < width) & (places[:, 0] < height))[:, 0]
            places, values = tf.gather(places, kept), tf.gather(values, kept)
        inner = values.shape.as_list()[1:]
        filled = tf.broadcast_to(default_value, [height, width] + inner)
        return tf.tensor_scatter_nd_update(filled, places, values)

    def to_sparse(self, name=None):
        """The values with their places."""
        tf = _tf()
        columns = [tf.cast(c, tf.int64) for c in (self._rows_of_values(), self._column_numbers())]
        values, bounds = self._values, tf.cast(self.bounding_shape(), tf.int64)
        if isinstance(values, RaggedTensor):
            inner = values.to_sparse()
            columns = [tf.gather(c, inner.indices[:, 0]) for c in columns]
            return tf.SparseTensor(tf.concat([tf.stack(columns, 1), inner.indices[:, 1:]], 1), inner.values, bounds)
        return tf.SparseTensor(tf.stack(columns, 1), values, bounds)

    def to_list(self):
        """Nested Python lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self._row_splits.numpy().tolist()
        return [rows[a:b] for a, b in zip(splits, splits[1:])]

    def numpy(self):
        """An array of arrays if rows differ, else one array."""
        import numpy as np
        rows = self._values.numpy()
        splits = self._row_splits.numpy()
        parts = [rows[a:b] for a, b in zip(splits, splits[1:])]
        if parts and len({len(p) for p in parts}) > 1 or isinstance(self._values, RaggedTensor):
            made = np.empty(len(parts), object)
            for i, part in enumerate(parts):
                made[i] = part
            return made
        return np.stack(parts) if parts else np.zeros((0, 0), rows.dtype)

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    @property
    def _type_spec(self):
        return _tf().RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank)

    @staticmethod
    def _stacked(parts):
        """Several as one, along a new first axis."""
        return _tf().stack(parts)

    # -------------------------------------------------------------------------------------------------------------- indexing

    def __len__(self):
        return self._row_splits.shape[0] - 1

    def __iter__(self):
        splits = self._row_splits.numpy().tolist()
        return (self._values[a:b] for a, b in zip(splits, splits[1:]))

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if Ellipsis in key:
            at = key.index(Ellipsis)
            named = sum(k is not None for k in key) - 1
            key = key[:at] + (slice(None),) * (self.shape.rank - named) + key[at + 1:]
        return _subscript(self, key)

    def consumers(self):
        return []

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    __hash__ = None

    def __repr__(self):
        if is_traced(self._row_splits) or is_traced(self.flat_values):
            return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"
        return f"<tf.RaggedTensor {_text(self.numpy())}>"

    __str__ = __repr__


def _merged(value, axis):
    """The axes up to this one as one."""
    if isinstance(value, RaggedTensor):
        return value.merge_dims(0, axis)
    return _tf().reshape(value, [-1] + value.shape.as_list()[axis + 1:])


def _text(rows):
    """An array, or an array of arrays, on one line."""
    if getattr(rows, "ndim", 0):
        return "[" + ", ".join(map(_text, rows)) + "]"
    return repr(rows) if isinstance(rows, bytes) else str(rows)


def _integer(key):
    return isinstance(key, int) or isinstance(key, _core.Tensor) and key.shape.rank == 0 or hasattr(key, "__index__")


def _subscript(x, key):
    """x[key], where the first of the key is about rows and the rest about what is in them."""
    tf = _tf()
    if not key:
        return x
    first, rest = key[0], key[1:]
    if not isinstance(x, RaggedTensor):
        return x[tuple(key)]
    if first is None:
        return RaggedTensor.from_uniform_row_length(_subscript(x, rest), len(_subscript(x, rest)), nrows=1)
    if _integer(first):
        row = int(first)
        rows = len(x)
        if not -rows <= row < rows:
            raise IndexError(f"slice index {row} of dimension 0 out of bounds.")
        start, end = (int(v) for v in x._row_splits[row % rows:row % rows + 2])
        return _subscript(x._values[start:end], rest)
    if isinstance(first, slice):
        numbers = range(*slice(*(v if v is None else int(v) for v in (first.start, first.stop, first.step))).indices(
            len(x)))
        rows = x if numbers == range(len(x)) else gather_rows(x, tf.constant(list(numbers), tf.int64))
        return _in_rows(rows, rest) if rest else rows
    raise ValueError(f"Unsupported key of a ragged tensor: {first!r}; use tf.gather or tf.ragged.boolean_mask")


def _in_rows(x, key):
    """x[:, *key]."""
    tf = _tf()
    first, rest = key[0], key[1:]
    if first is None:
        return RaggedTensor.from_uniform_row_length(_in_rows(x, rest) if rest else x, 1, nrows=len(x))
    lengths = x.row_lengths()
    if _integer(first):
        at = int(first)
        if not is_traced(lengths) and bool(tf.reduce_any(lengths < (at + 1 if at >= 0 else -at))):
            raise _invalid(f"slice index {at} is out of bounds of a row")
        places = (x.row_starts() if at >= 0 else x.row_limits()) + at
        picked = gather_rows(x._values, places)
        return picked if not rest else _in_rows(picked, rest) if isinstance(picked, RaggedTensor) else (
            picked[(slice(None), *rest)])
    if isinstance(first, slice):
        if first.step not in (None, 1):
            numbers = [list(range(*first.indices(int(n)))) for n in lengths]
            starts = x.row_starts().numpy().tolist()
            places = tf.constant([s + i for s, row in zip(starts, numbers) for i in row], tf.int64)
            picked = RaggedTensor.from_row_lengths(gather_rows(x._values, places), [len(r) for r in numbers])
        elif first.start is None and first.stop is None:
            picked = x
        else:
            def bound(value, otherwise):
                if value is None:
                    return otherwise
                value = tf.constant(int(value), lengths.dtype)
                return tf.minimum(tf.maximum(tf.where(value < 0, lengths + value, value), 0), lengths)
            begin, end = bound(first.start, tf.zeros_like(lengths)), bound(first.stop, lengths)
            columns, ids = tf.cast(x._column_numbers(), lengths.dtype), x._rows_of_values()
            kept = tf.where((columns >= tf.gather(begin, ids)) & (columns < tf.gather(end, ids)))[:, 0]
            picked = RaggedTensor.from_row_lengths(gather_rows(x._values, kept), tf.maximum(end - begin, 0))
        if not rest:
            return picked
        inner = picked._values
        return picked.with_values(_in_rows(inner, rest) if isinstance(inner, RaggedTensor) else
                                  inner[(slice(None), *rest)])
    raise ValueError(f"Unsupported key of a ragged tensor: {first!r}")


def gather_rows(x, rows):
    """Rows by number, of a ragged tensor or of a dense one."""
    tf = _tf()
    if not isinstance(x, RaggedTensor):
        return tf.gather(x, rows)
    starts, lengths = tf.gather(x.row_starts(), rows), tf.gather(x.row_lengths(), rows)
    made = RaggedTensor._made(None, tf.concat([[0], tf.cumsum(lengths)], 0), x._uniform)
    count = int(made._row_splits[-1])
    numbers = tf.range(count, dtype=made._row_splits.dtype)
    ids = tf.searchsorted(made._row_splits[1:], numbers, side="right", out_type=tf.int64)
    places = numbers - tf.gather(made._row_splits, ids) + tf.gather(starts, ids)
    made._values = gather_rows(x._values, places)
    return made
