"""tf.TensorArray: tensors that are written and read by number.

Eagerly it is a list that is changed in place. While a function is traced, writing gives a new array: a list as long
as all positions are known numbers, and from the first traced position on (or from the loop that carries it on) one
tensor with a row for each element, which the loops of the program write in place. How large an array becomes that grows
in a loop is found out by tracing the loop once with an array that only measures itself; where only the data know, it
gets longer as it is written. Elements that may differ in length (infer_shape=False, and a length that only the data
know) lie one after the other in the tensor, with their lengths beside it.
"""
import sys

from . import _core
from ._effects import check

__all__ = ["TensorArray"]


def _tf():
    return sys.modules["gradus"]


def _known(index):
    """The position as a number, or None if only the program will know it."""
    if _core._has_value(index):
        return int(index)
    return None


class CannotMeasure(Exception):
    """What an array holds was asked for, whose length is being found out."""


class TensorArray:
    """A list of tensors that are written and read by number."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        tf = _tf()
        if handle is not None or flow is not None:
            raise NotImplementedError("[TensorArray] got a handle or a flow of another array; expected none: assign the array")
        self._dtype = tf.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._element_shape = tf.TensorShape(element_shape)
        self._infer_shape = bool(infer_shape)
        self._clear = (True if clear_after_read is None else clear_after_read) and not _core._is_tracing()
        self._length = size if not _core._has_value(size) else None  # before there are rows, if traced
        self._items = [None] * (0 if size is None or self._length is not None else int(size))
        self._cleared = set()  # positions that were read and may not be read again
        self._rows = None  # one tensor with all elements, instead of the list
        self._lengths = None  # if elements differ in length, which lie one after the other in the rows then
        self._count = None  # with rows, if it may grow into them: how many elements there are so far, shape [1]
        self._seen = None  # a list: this array only measures itself, and keeps a row here

    dtype = property(lambda self: self._dtype)
    dynamic_size = property(lambda self: self._dynamic)
    element_shape = property(lambda self: self._element_shape)
    flow = property(lambda self: _tf().constant(0.0))
    handle = property(lambda self: None)

    # How loops and branches carry an array.

    def _tensors(self):
        """The tensors that a loop carries: the rows, or nothing as long as nobody knows what a row is like."""
        if self._seen is not None:
            return [self._count]
        if self._items_differ():
            return self._in_parts()._tensors()
        rows = self._as_rows()
        return [] if rows is None else [rows] + [t for t in (self._count, self._lengths) if t is not None]

    def _with_tensors(self, tensors):
        copy = self._copy()
        if self._seen is not None:
            copy._count = tensors[0]
        elif tensors:
            copy._items, copy._rows = None, tensors[0]
            in_parts = self._is_in_parts()
            copy._count = tensors[1] if len(tensors) > 1 and not in_parts else None
            copy._lengths = tensors[1] if in_parts else None
        return copy

    def _kind(self):
        """What an empty array must know to become like this one; None if this one is empty."""
        tensors = self._tensors()
        return (_core._row_like(tensors[0]), self._is_in_parts()) if tensors else None

    def _begun(self, kind):
        """This array, which is empty so far, with rows of that kind; they may be of a loop's body or of a branch."""
        row, in_parts = kind
        copy = self._copy()
        copy._items, copy._rows = None, _core._zero_rows(0, row) if in_parts else self._zeros_like(row)
        copy._lengths = self._no_lengths() if in_parts else None
        return copy

    def _may_grow(self):
        return (self._dynamic and self._count is None and self._lengths is None
                and (self._rows is None or self._rows.shape[0] is not None))

    # Elements that differ in length.

    def _may_differ(self, value):
        """Whether elements like this one may have lengths of their own."""
        return not self._infer_shape and bool(value.shape.rank) and value.shape[0] is None

    def _is_in_parts(self):
        return self._lengths is not None or self._items_differ()

    def _joined(self):
        """At the end of a branch: in parts if the elements of another branch may make it so."""
        has_length = bool(self._element_shape.rank) and self._element_shape[0] is not None
        if self._infer_shape or self._seen is not None or has_length:
            return self
        tensors = self._tensors()
        return self._in_parts() if tensors and tensors[0].shape.rank > 1 else self

    def _items_differ(self):
        return self._rows is None and any(t is not None and self._may_differ(t) for t in self._items)

    def _no_lengths(self):
        return _tf().zeros([len(self._items) if self._length is None else self._length], "int32")

    def _in_parts(self):
        """The same with a length for each element."""
        tf, copy = _tf(), self._copy()
        if self._lengths is not None:
            return copy
        if self._rows is None:
            written = [t for t in self._items if t is not None]
            lengths = [tf.constant(0) if t is None else tf.shape(t)[0] for t in self._items]
            copy._rows, copy._lengths = tf.concat(written, 0), tf.stack(lengths)
        else:
            sizes = tf.shape(self._written_rows())
            copy._rows, copy._lengths = self.concat(), tf.fill(sizes[:1], sizes[1])
        copy._items, copy._count = None, None
        return copy

    def _part(self, index):
        """Where an element lies in the rows."""
        tf = _tf()
        first = tf.reduce_sum(self._lengths[:index])
        return first, first + tf.gather(self._lengths, index)

    def _with_part(self, index, value):
        tf, array, index = _tf(), self._copy(), _tf().cast(index, "int32")
        if self._dynamic:
            array._lengths = self._longer(self._lengths, index + 1)
        first, last = array._part(index)
        array._rows = tf.concat([self._rows[:first], value, self._rows[last:]], 0)
        array._lengths = _core._set_row(array._lengths, index, tf.shape(value)[0])
        return array

    def _parts_as_rows(self):
        """One row for each element, which must all have the same length."""
        tf = _tf()

        def fail(*_):
            raise tf.errors.InvalidArgumentError(None, None, "TensorArray has elements of different shapes to stack")
        check(tf.equal(self._lengths, self._lengths[:1]), fail)
        length = tf.reduce_max(tf.concat([self._lengths, [0]], 0))
        return tf.reshape(self._rows, tf.concat([tf.shape(self._lengths), [length], tf.shape(self._rows)[1:]], 0))

    def _known_size(self):
        return len(self._items) if self._rows is None else self._rows.shape[0]

    def _measuring(self):
        copy = self._copy()
        copy._count, copy._seen = _tf().constant([self._known_size()]), []
        return copy

    def _with_room(self, size, row):
        """The same with room for so many elements like `row`."""
        copy, known = self._copy(), self._known_size()
        rows = self._as_rows() if known else None
        if size > known:
            more = _core._zero_rows(size - known, row)
            rows = more if rows is None else _tf().concat([rows, more], 0)
        if rows is None:  # nothing is written in any turn
            rows = _core._zero_rows(0, row)
        copy._items, copy._rows, copy._count = None, rows, _tf().constant([known])
        return copy

    def _zeros_like(self, row):
        """Rows for this array, which is empty so far; `row` may be a tensor of a loop's body or of a branch."""
        rows = _core._zero_rows(len(self._items), row)
        return rows if self._length is None else self._longer(rows, self._length)

    @staticmethod
    def _longer(rows, length):
        """At least so many rows; new ones are zeros."""
        tf = _tf()
        more = tf.maximum(tf.cast(length, tf.int32) - tf.shape(rows)[0], 0)
        return tf.pad(rows, [[0, more]] + [[0, 0]] * (rows.shape.rank - 1))

    def _is_empty(self):
        return self._rows is None and all(item is None for item in self._items)

    def _has_no_length(self):
        return self._rows is None and not self._items and self._length is None

    def _copy(self):
        copy = object.__new__(TensorArray)
        copy.__dict__.update(self.__dict__)
        if self._items is not None:
            copy._items, copy._cleared = list(self._items), set(self._cleared)
        return copy

    def _target(self):
        return self._copy() if _core._is_tracing() else self

    def _as_rows(self):
        """One tensor with all elements, or None as long as nobody knows what they are like."""
        if self._rows is not None:
            return self._rows
        if self._is_empty() and not self._element_shape.is_fully_defined():
            return None
        if not self._items:
            length = 0 if self._length is None else self._length
            return _tf().zeros([length] + self._element_shape.as_list(), self._dtype)
        return _tf().stack(self._filled())

    def _check(self, value):
        """The value as a tensor of the right dtype and shape."""
        tf = _tf()
        if not isinstance(value, tf.Tensor):
            value = tf.convert_to_tensor(value, self._dtype)
        if value.dtype != self._dtype:
            raise tf.errors.InvalidArgumentError(
                None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name}")
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Inconsistent shapes: saw {value.shape} but expected {self._element_shape}")
        return value

    def size(self, name=None):
        """The number of elements, a tensor."""
        tf = _tf()
        if self._count is not None:
            return self._count[0]
        if self._lengths is not None:
            return tf.shape(self._lengths)[0]
        if self._rows is None:
            return tf.constant(len(self._items)) if self._length is None else tf.cast(self._length, tf.int32)
        return tf.shape(self._rows)[0]

    def __len__(self):
        return len(self._items) if self._rows is None else len(self._rows if self._lengths is None else self._lengths)

    def write(self, index, value, name=None):
        """Puts a tensor at a position; returns the array, to be used from then on."""
        tf = _tf()
        value, position = self._check(value), _known(index)
        array = self._target()
        if self._infer_shape:
            array._element_shape = array._element_shape.merge_with(value.shape)
        if self._count is not None:
            array._count = tf.maximum(self._count, tf.cast(index, tf.int32) + 1)
        if self._seen is not None:
            self._seen[:] = [value]
            return array
        if array._rows is None and (position is None or array._length is not None):
            array = array._stored_like(value)
        if array._rows is not None and array._may_differ(value):
            array = array._in_parts()
        if array._lengths is not None:
            return array._with_part(index, value)
        if array._rows is not None:
            if array._dynamic and array._count is None:
                array._rows = self._longer(array._rows, tf.convert_to_tensor(index) + 1)
            array._rows = _core._set_row(array._rows, tf.convert_to_tensor(index), value)
            return array
        if position < 0:
            raise tf.errors.OutOfRangeError(None, None, f"Writing to negative indices (index {position}) is not allowed.")
        if position >= len(array._items):
            if not array._dynamic:
                raise tf.errors.OutOfRangeError(
                    None, None, f"Tried to write to index {position} but array is not resizeable and size is: "
                    f"{len(array._items)}")
            array._items.extend([None] * (position + 1 - len(array._items)))
        array._items[position] = value
        array._cleared.discard(position)
        return array

    def _stored_like(self, value):
        """The elements in tensors instead of a list, for more like this one."""
        tensors = self._tensors()
        return self._with_tensors(tensors) if tensors else self._begun((value[0], True) if self._may_differ(value)
                                                                       else (value, False))

    def read(self, index, name=None):
        """The tensor at a position."""
        tf, position = _tf(), _known(index)
        if self._seen:  # what it is does not matter here
            return _core._zero_rows(1, self._seen[0])[0]
        if self._lengths is not None or position is None and self._items_differ():
            array = self._in_parts()
            first, last = array._part(index)
            return array._rows[first:last]
        if self._rows is not None or position is None:
            return tf.gather(self._written_rows(), index)
        if not 0 <= position < len(self._items):
            raise tf.errors.OutOfRangeError(
                None, None, f"Tried to read from index {position} but array size is: {len(self._items)}")
        if position in self._cleared:
            raise tf.errors.InvalidArgumentError(
                None, None, f"Could not read index {position} twice because it was cleared after a previous read (perhaps "
                "try setting clear_after_read = false?)")
        value = self._items[position]
        if value is None:
            if self._element_shape.is_fully_defined():
                return tf.zeros(self._element_shape, self._dtype)
            raise tf.errors.InvalidArgumentError(
                None, None, f"Could not read index {position}: it was never written, and element_shape is not given")
        if self._clear:
            self._items[position] = None
            self._cleared.add(position)
        return value

    def _filled(self):
        like = next((t for t in self._items if t is not None), None)
        if like is None and self._items and not self._element_shape.is_fully_defined():
            self._nothing()
        tf = _tf()
        empty = tf.zeros(self._element_shape, self._dtype) if like is None else tf.zeros_like(like)
        return [empty if t is None else t for t in self._items]

    def _nothing(self):
        raise _tf().errors.InvalidArgumentError(
            None, None, "TensorArray has nothing to stack or read: no element was written and element_shape is not given")

    def _written_rows(self):
        if self._seen is not None:
            raise CannotMeasure
        if self._lengths is not None:
            return self._parts_as_rows()
        rows = self._as_rows()
        if rows is not None and self._count is not None:
            if not _core._has_value(self._count):
                rows = rows[:self._count[0]]
            elif int(self._count[0]) != rows.shape[0]:
                rows = rows[:int(self._count[0])]
        return self._nothing() if rows is None else rows

    def stack(self, name=None):
        """All tensors along a new first axis."""
        if self._has_no_length():
            sizes = self._element_shape.as_list() if self._element_shape.is_fully_defined() else []
            return _tf().zeros([0] + sizes, self._dtype)
        return self._written_rows()

    def concat(self, name=None):
        """All tensors along their first axis."""
        tf = _tf()
        if self._lengths is not None:
            return self._rows
        if self._rows is None and self._items:
            return tf.concat(self._filled(), 0)
        rows = self._written_rows()
        sizes = tf.shape(rows)
        return tf.reshape(rows, tf.concat([sizes[:1] * sizes[1:2], sizes[2:]], 0))

    def gather(self, indices, name=None):
        """Some tensors, stacked."""
        return _tf().gather(self._written_rows(), indices)

    def unstack(self, value, name=None):
        """Fills the array with the slices of a tensor."""
        array, value = self._target(), _tf().convert_to_tensor(value, self._dtype)
        rows, most = value.shape[0], len(self._items) if self._items is not None else None
        if not self._dynamic and None not in (rows, most) and rows > most:
            raise ValueError(f"Cannot unstack {rows} tensors into a TensorArray of static size {most}")
        if array._infer_shape and value.shape.rank:
            array._element_shape = array._element_shape.merge_with(value.shape[1:])
        if _core._is_tracing():
            array._items, array._rows = None, value
        else:
            array._items = list(_tf().unstack(value))
        return array

    def scatter(self, indices, value, name=None):
        """Puts the slices of a tensor at positions."""
        array, tf = self, _tf()
        value = tf.convert_to_tensor(value, self._dtype)
        if self._rows is None and _core._has_value(indices):
            for i, item in zip(indices, tf.unstack(value)):
                array = array.write(i, item)
            return array
        array = self._copy()
        rows = self._as_rows()
        if rows is None:
            rows = self._zeros_like(value[0])
        array._items = None
        array._rows = tf.tensor_scatter_nd_update(rows, tf.expand_dims(indices, -1), value)
        return array

    def split(self, value, lengths, name=None):
        """Fills the array with parts of a tensor."""
        array, tf = self._target(), _tf()
        if _core._has_value(lengths):
            array._items, array._rows = list(tf.split(value, lengths)), None
        else:
            array._items, array._rows = None, tf.convert_to_tensor(value, self._dtype)
            array._lengths = tf.cast(lengths, "int32")
            self._check_lengths(array._rows, array._lengths)
        return array

    @staticmethod
    def _check_lengths(rows, lengths):
        """That the parts of a tensor are all of it."""
        tf = _tf()
        length, used = tf.shape(rows)[0], tf.reduce_sum(lengths)

        def fail(*_):
            raise tf.errors.InvalidArgumentError(None, None, "TensorArray.split: the lengths do not add up to the number of "
                                                 "rows; give each row to one part")
        check(tf.equal(length, used), fail)

    def identity(self):
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("Use a GradientTape")

    def close(self, name=None):
        self._items, self._rows, self._lengths = [], None, None
