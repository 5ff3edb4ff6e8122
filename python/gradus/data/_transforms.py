"""Datasets made of one other: rows, batches, orders, functions of elements."""
import itertools
import os

import numpy as np

from .. import errors, nest
from .._compositions import TensorSpec
from .._files import text_of
from .._safetensors import load_safetensors, save_safetensors
from .._types import TensorShape
from . import _rows, _shuffle, _structure, _threads
from ._dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset, traced_spec, unpacked
from ._sources import ElementsDataset, _number
from .._strings import StringTensor


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def as_int(value, name):
    """A number that may be a tensor, or None."""
    if value is None:
        return None
    value = _number(value)
    if int(value) != value:
        raise TypeError(f"`{name}` must be an integer, got {value!r}")
    return int(value)


class OneInput(Dataset):
    """The same elements unless a method says otherwise."""

    def __init__(self, dataset):
        self._input = dataset
        self._inputs = (dataset,)

    def _spec(self):
        return self._input.element_spec

    def _cardinality(self):
        return self._input._cardinality()

    def _iterate(self):
        rows = self._rows()
        return self._elements() if rows is None else rows.elements()

    def _elements(self):
        """One by one, when the input has no rows."""
        return self._input._iterate()


class OptionsDataset(OneInput):
    def __init__(self, dataset, options):
        super().__init__(dataset)
        self._options = options

    def _rows(self):
        return self._input._rows()


class TakeDataset(OneInput):
    def __init__(self, dataset, count):
        super().__init__(dataset)
        self._count = as_int(count, "count")

    def _rows(self):
        rows = self._input._rows()
        if rows is None or self._count < 0:
            return rows
        return rows.with_blocks(_rows.first_of(rows.blocks, self._count))

    def _elements(self):
        elements = self._input._iterate()
        return elements if self._count < 0 else itertools.islice(elements, self._count)

    def _cardinality(self):
        size = self._input._cardinality()
        if self._count < 0 or size == UNKNOWN:
            return size
        return self._count if size == INFINITE else min(size, self._count)


class SkipDataset(OneInput):
    def __init__(self, dataset, count):
        super().__init__(dataset)
        self._count = as_int(count, "count")

    def _rows(self):
        rows = self._input._rows()
        if rows is None:
            return None
        return rows.with_blocks([] if self._count < 0 else _rows.without_first(rows.blocks, self._count))

    def _elements(self):
        return iter(()) if self._count < 0 else itertools.islice(self._input._iterate(), self._count, None)

    def _cardinality(self):
        size = self._input._cardinality()
        return 0 if self._count < 0 else size if size < 0 else max(0, size - self._count)


class ShardDataset(OneInput):
    def __init__(self, dataset, num_shards, index):
        super().__init__(dataset)
        self._step, self._start = as_int(num_shards, "num_shards"), as_int(index, "index")
        if self._step < 1:
            raise invalid(f"Number of shards must be greater than zero (currently num_shards = {self._step}).")
        if not 0 <= self._start < self._step:
            raise invalid(f"Index must be between 0 and {self._step - 1} (currently index = {self._start}).")

    def _rows(self):
        rows = self._input._rows()
        return None if rows is None else rows.with_blocks(_rows.every(rows.blocks, self._step, self._start))

    def _elements(self):
        return itertools.islice(self._input._iterate(), self._start, None, self._step)

    def _cardinality(self):
        size = self._input._cardinality()
        return size if size < 0 else max(0, -(-(size - self._start) // self._step))


class RepeatDataset(OneInput):
    def __init__(self, dataset, count):
        super().__init__(dataset)
        self._count = as_int(count, "count")
        if self._count is not None and self._count < 0:
            self._count = None

    def _again(self):
        return itertools.repeat(None) if self._count is None else range(self._count)

    def _rows(self):
        first = self._input._rows() if self._count != 0 else None
        return None if first is None else first.with_blocks(self._blocks(first))

    def _blocks(self, first):
        for _ in self._again():
            rows, first = first or self._input._rows(), None
            empty = True
            for block in rows.blocks:
                if len(block):
                    empty = False
                    yield block
            if empty and self._count is None:
                return

    def _elements(self):
        for _ in self._again():
            empty = True
            for value in self._input._iterate():
                empty = False
                yield value
            if empty and self._count is None:
                return

    def _cardinality(self):
        size = self._input._cardinality()
        if size == 0 or self._count == 0:
            return 0
        return INFINITE if self._count is None or size == INFINITE else size if size < 0 else size * self._count


class ShuffleDataset(OneInput):
    def __init__(self, dataset, buffer_size, seed, reshuffle_each_iteration):
        super().__init__(dataset)
        size = as_int(buffer_size, "buffer_size")
        if size < 1 and size != UNKNOWN:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        self._buffer_size = None if size == UNKNOWN else size
        self._seeds = _shuffle.Seeds(seed, reshuffle_each_iteration is not False)

    def _order(self, elements):
        return _shuffle.shuffled(elements, self._buffer_size, _shuffle.random_numbers(*self._seeds.next()))

    def _rows(self):
        rows = self._input._rows()
        if rows is None:
            return None
        return rows.with_blocks(_rows.in_blocks(self._order(_rows.numbers(rows.blocks))))

    def _elements(self):
        return self._order(iter(self._input._iterate()))


class CacheDataset(OneInput):
    """Keeps the elements of the first complete iteration; from then on as rows, if they are all of one shape."""

    def __init__(self, dataset, filename):
        super().__init__(dataset)
        self._kept = self._columns = None
        name = text_of(filename)
        self._path = name + ".safetensors" if name else None

    def _stored(self):
        """Reads the cache file into memory, if there is one."""
        if self._path is None or self._columns is not None or not os.path.exists(self._path):
            return
        tensors = load_safetensors(self._path)
        structure = self._input.element_spec
        columns = [tensors[str(i)] for i in range(len(tensors))]
        self._columns = structure if nest.is_nested(structure) else None, columns, len(columns[0])

    def _store(self, columns):
        if self._path is None:
            return
        if isinstance(columns, list):
            raise NotImplementedError(f"the elements cannot be kept in '{self._path}': they are not tensors of one "
                                      "shape. "
                                      "cache() without a name keeps them in memory")
        save_safetensors(self._path, {str(i): c for i, c in enumerate(columns[1])})

    def _rows(self):
        plain = self._input
        while isinstance(plain, (CacheDataset, OptionsDataset, TakeDataset, SkipDataset, ShardDataset)):
            plain = plain._input
        if not plain._inputs and self._path is None:
            return self._input._rows()  # in memory and always the same
        self._stored()
        if self._kept:
            self._columns, self._kept = _as_columns(self._kept), None
        if not self._columns or isinstance(self._columns, list):
            return None
        structure, columns, count = self._columns
        return _rows.Rows(structure, columns, [range(count)])

    def _elements(self):
        kept = self._columns if self._kept is None else self._kept
        return iter(kept) if kept is not None else self._filling()

    def _filling(self):
        kept = []
        for value in self._input._iterate():
            kept.append(value)
            yield value
        if not _shuffle.probing() and self._columns is None:
            if self._path is not None and kept:
                self._columns = _as_columns(kept)
                self._store(self._columns)
            else:
                self._kept = kept


def _as_columns(elements):
    """(structure, columns, number of rows) of elements that are tensors of one shape; else the elements."""
    import gradus
    leaves = [nest.flatten(e) for e in elements]
    kinds = [[(v.dtype, tuple(v.shape)) if type(v) is _structure.Tensor else None for v in row] for row in leaves]
    if None in kinds[0] or any(kind != kinds[0] for kind in kinds):
        return elements
    structure = elements[0] if nest.is_nested(elements[0]) else None
    return structure, [gradus.stack(list(column)) for column in zip(*leaves)], len(elements)


class PrefetchDataset(OneInput):
    """Makes elements ahead in a thread."""

    AUTOMATIC = 2

    def __init__(self, dataset, buffer_size):
        super().__init__(dataset)
        size = as_int(buffer_size, "buffer_size")
        if size < 0 and size != AUTOTUNE:
            raise invalid(f"buffer_size must be >= 0 or set buffer_size to be {AUTOTUNE} for auto-tuning")
        self._size, self._iterations = self.AUTOMATIC if size == AUTOTUNE else size, 0

    def _iterate(self):
        if self._size == 0 or _shuffle.probing():
            return self._input._iterate()
        self._iterations += 1
        return _threads.prefetched(lambda: iter(self._input._iterate()), self._size,
                                   _threads.thread_seed(self._iterations))


class MapDataset(OneInput):
    def __init__(self, dataset, function, num_parallel_calls):
        super().__init__(dataset)
        if not callable(function):
            raise TypeError(f"map_func must be callable, got {function!r}")
        self._function, self._workers = function, as_int(num_parallel_calls, "num_parallel_calls")
        if self._workers is not None and self._workers < 1 and self._workers != AUTOTUNE:
            raise invalid("num_parallel_calls must be greater than zero.")
        self._iterations = 0

    def _iterate(self):
        call = unpacked(self._function)

        def one(value):
            return _structure.returned(call(value))

        elements = iter(self._input._iterate())
        if self._workers in (None, 1) or _shuffle.probing():
            return map(one, elements)
        self._iterations += 1
        seed = _threads.thread_seed(self._iterations)
        if self._workers == AUTOTUNE:
            return _threads.autotuned_map(one, elements, seed)
        return _threads.ParallelMap(one, elements, self._workers, seed)

    def _spec(self):
        given = self._input.element_spec
        arguments = given if type(given) is tuple else (given,)
        return traced_spec(self._function, arguments) or _structure.loose_spec_of(self._first())


class FilterDataset(OneInput):
    def __init__(self, dataset, predicate):
        super().__init__(dataset)
        self._predicate = predicate

    def _elements(self):
        return filter(unpacked(_checked_predicate(self._predicate)), self._input._iterate())

    def _cardinality(self):
        return UNKNOWN


class TakeWhileDataset(FilterDataset):
    def _elements(self):
        return itertools.takewhile(unpacked(_checked_predicate(self._predicate)), self._input._iterate())


def _checked_predicate(predicate):
    def call(*value):
        made = predicate(*value)
        if getattr(made, "shape", None) is not None and len(made.shape):
            raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return "
                             f"value is {made!r}.")
        return bool(made)
    return call


def checked_state(state, expected, name):
    """A state must stay of the kind that it was."""
    for made, spec in zip(nest.flatten(state), nest.flatten(expected)):
        if isinstance(spec, TensorSpec) and made.dtype != spec.dtype:
            raise TypeError("The element types for the new state must match the initial state. Expected "
                            f"{spec.dtype!r}; "
                            f"got {made.dtype!r} from `{name}`.")
    return state


class ScanDataset(OneInput):
    def __init__(self, dataset, initial_state, function):
        super().__init__(dataset)
        self._state, self._function = _structure.element(initial_state), function

    def _elements(self):
        state, expected = self._state, _structure.spec_of(self._state)
        for value in self._input._iterate():
            made = self._function(state, value)
            if not isinstance(made, (tuple, list)) or len(made) != 2:
                raise TypeError("`scan_func` should return a pair (tuple) of size 2, containing the new state and the "
                                "output value.")
            state = checked_state(_structure.element(made[0]), expected, "scan_func")
            yield _structure.element(made[1])

    def _spec(self):
        traced = traced_spec(lambda s, v: self._function(s, v)[1], (_structure.spec_of(self._state),
                                                                     self._input.element_spec))
        return traced or _structure.loose_spec_of(self._first())


class BatchDataset(OneInput):
    def __init__(self, dataset, batch_size, drop_remainder):
        super().__init__(dataset)
        self._size, self._drop = as_int(batch_size, "batch_size"), bool(_number(drop_remainder))
        if self._size < 1:
            raise invalid("Batch size must be greater than zero.")

    def _iterate(self):
        rows = self._input._rows()
        return self._groups() if rows is None else rows.batches(self._size, self._drop)

    def _groups(self):
        elements = iter(self._input._iterate())
        while True:
            group = list(itertools.islice(elements, self._size))
            if not group or self._drop and len(group) < self._size:
                return
            yield self._joined(group)

    def _joined(self, group):
        return _structure.stacked(group)

    def _spec(self):
        return _structure.batched(self._input.element_spec, self._size if self._drop else None)

    def _cardinality(self):
        size = self._input._cardinality()
        return size if size < 0 else size // self._size if self._drop else -(-size // self._size)


class TurnsDataset(BatchDataset):
    """Batches of several sizes in turn."""

    def __init__(self, dataset, sizes, drop_remainder):
        super().__init__(dataset, max(sizes), drop_remainder)
        self._sizes = sizes

    def _iterate(self):
        group, turn = [], 0
        for element in self._input._iterate():
            group.append(element)
            if len(group) == self._sizes[turn % len(self._sizes)]:
                yield self._joined(group)
                group, turn = [], turn + 1
        if group and not self._drop:
            yield self._joined(group)

    def _spec(self):
        return nest.map_structure(lambda s: _structure.with_shape(s, [None] + list(s.shape)), self._input.element_spec)

    def _cardinality(self):
        return UNKNOWN


class RaggedBatchDataset(BatchDataset):
    """Batches of elements of different sizes, as ragged tensors."""

    def __init__(self, dataset, batch_size, drop_remainder, row_splits_dtype="int64"):
        super().__init__(dataset, batch_size, drop_remainder)
        self._splits_dtype = row_splits_dtype

    def _iterate(self):
        return self._groups()

    def _joined(self, group):
        import gradus
        leaves = [nest.flatten(e) for e in group]
        columns = [gradus.ragged.stack(list(column)) for column in zip(*leaves)]
        columns = [c.with_row_splits_dtype(self._splits_dtype) if isinstance(c, gradus.RaggedTensor) else c for c in columns]
        return nest.pack_sequence_as(group[0], columns)

    def _spec(self):
        import gradus
        size = self._size if self._drop else None

        def one(s):
            if not len(s.shape):
                return _structure.with_shape(s, [size])
            return gradus.RaggedTensorSpec([size] + list(s.shape), s.dtype, len(s.shape), self._splits_dtype)
        return nest.map_structure(one, self._input.element_spec)


class PaddedBatchDataset(BatchDataset):
    def __init__(self, dataset, batch_size, padded_shapes, padding_values, drop_remainder):
        super().__init__(dataset, batch_size, drop_remainder)
        specs = nest.flatten(dataset.element_spec)
        if padded_shapes is None:
            if any(s.shape.rank is None for s in specs):
                raise ValueError("You must provide `padded_shapes` argument because component 0 has unknown rank.")
            self._shapes = [list(s.shape) for s in specs]
        else:
            self._shapes = _flat_up_to(dataset.element_spec, padded_shapes, _padded_shape)
        self._values = _flat_up_to(dataset.element_spec, padding_values, lambda v: v)

    def _iterate(self):
        return self._groups()

    def _joined(self, group):
        leaves = [nest.flatten(e) for e in group]
        columns = [_padded(list(c), s, v) for c, s, v in zip(zip(*leaves), self._shapes, self._values)]
        return nest.pack_sequence_as(group[0], columns) if nest.is_nested(group[0]) else columns[0]

    def _spec(self):
        def one(spec, shape):
            return _structure.with_shape(spec, [self._size if self._drop else None] + shape)
        given = self._input.element_spec
        made = [one(s, shape) for s, shape in zip(nest.flatten(given), self._shapes)]
        return nest.pack_sequence_as(given, made) if nest.is_nested(given) else made[0]


def _padded_shape(shape):
    if hasattr(shape, "numpy"):
        shape = shape.numpy().tolist()
    return [None if n is None or n == -1 else int(n) for n in TensorShape(shape)]


def _flat_up_to(spec, value, convert):
    """One value per leaf of the spec."""
    if isinstance(spec, dict):
        return [v for key in sorted(spec)
                for v in _flat_up_to(spec[key], None if value is None else value[key], convert)]
    if isinstance(spec, (tuple, list)):
        if value is None:
            value = [None] * len(spec)
        elif not isinstance(value, (tuple, list)):
            value = [value] * len(spec)
        return [v for s, each in zip(spec, value) for v in _flat_up_to(s, each, convert)]
    return [None if value is None else convert(value)]


def _padded(column, shape, value):
    import gradus
    if shape is None:
        shape = [None] * column[0].ndim
    arrays = [np.asarray(c, object) if isinstance(c, StringTensor) else np.asarray(c) for c in column]
    for array in arrays:
        if array.ndim != len(shape):
            raise invalid("All elements in a batch must have the same rank as the padded shape for component: "
                          "expected "
                          f"rank {len(shape)} got element with rank {array.ndim}")
    largest = [max(a.shape[i] for a in arrays) for i in range(len(shape))]
    sizes = [m if n is None else n for m, n in zip(largest, shape)]
    if any(n < m for m, n in zip(largest, sizes)):
        raise errors.DataLossError(None, None, "Attempted to pad to a smaller size than the input element.")
    strings = isinstance(column[0], StringTensor)
    fill = (b"" if strings else 0) if value is None else np.asarray(value)
    made = np.full([len(arrays)] + sizes, fill, dtype=arrays[0].dtype)
    for row, array in enumerate(arrays):
        made[(row, *(slice(n) for n in array.shape))] = array
    return StringTensor(made) if strings else gradus.convert_to_tensor(made, column[0].dtype)


class UnbatchDataset(OneInput):
    def _elements(self):
        for value in self._input._iterate():
            count = _structure.row_count(value)
            leaves = nest.flatten(value)
            structure = value if nest.is_nested(value) else None
            yield from _rows.Rows(structure, leaves, [range(count)]).elements()

    def _spec(self):
        return _structure.unbatched(self._input.element_spec)

    def _cardinality(self):
        size = self._input._cardinality()
        if size <= 0:
            return size
        try:
            rows = {s.shape[0] for s in nest.flatten(self._input.element_spec)}
        except (ValueError, IndexError, TypeError):
            return UNKNOWN
        return size * rows.pop() if len(rows) == 1 and None not in rows else UNKNOWN


class WindowDataset(OneInput):
    def __init__(self, dataset, size, shift, stride, drop_remainder):
        super().__init__(dataset)
        self._size, self._stride, self._drop = as_int(size, "size"), as_int(stride, "stride"), bool(drop_remainder)
        self._shift = self._size if shift is None else as_int(shift, "shift")
        for value, name in ((self._size, "size"), (self._shift, "shift"), (self._stride, "stride")):
            if value < 1:
                raise invalid(f"Window {name} must be greater than zero.")

    def _elements(self):
        spec, reach = self._input.element_spec, (self._size - 1) * self._stride + 1
        elements, held = iter(self._input._iterate()), []
        while True:
            held += itertools.islice(elements, reach - len(held))
            if not held or self._drop and len(held) < reach:
                return
            window = held[:reach:self._stride]
            if nest.is_nested(spec):
                columns = zip(*map(nest.flatten, window))
                yield nest.pack_sequence_as(spec, [
                    ElementsDataset(list(c), s) for c, s in zip(columns, nest.flatten(spec))])
            else:
                yield ElementsDataset(window, spec)
            missing = self._shift - len(held)
            held = held[self._shift:]
            if missing > 0 and len(list(itertools.islice(elements, missing))) < missing:
                return

    def _spec(self):
        return nest.map_structure(_structure.DatasetSpec, self._input.element_spec)

    def _cardinality(self):
        size = self._input._cardinality()
        if size < 0:
            return size
        reach = (self._size - 1) * self._stride + 1
        return max(0, (size - reach) // self._shift + 1) if self._drop else -(-size // self._shift)


class UniqueDataset(OneInput):
    def _elements(self):
        seen = set()
        for value in self._input._iterate():
            array = np.asarray(value)
            key = (array.shape, array.tobytes() if array.dtype != object else tuple(array.ravel()))
            if key not in seen:
                seen.add(key)
                yield value

    def _cardinality(self):
        return UNKNOWN


class IgnoreErrorsDataset(OneInput):
    def __init__(self, dataset, log_warning):
        super().__init__(dataset)
        self._log = log_warning

    def _elements(self):
        elements = iter(self._input._iterate())
        while True:
            try:
                value = next(elements)
            except StopIteration:
                return
            except Exception as error:
                if self._log:
                    import warnings
                    warnings.warn(f"an element is left out: {error}", stacklevel=2)
                continue
            yield value

    def _cardinality(self):
        return UNKNOWN
