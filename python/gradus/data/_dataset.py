"""tf.data.Dataset: the public class. What each kind of dataset does stands in _sources, _transforms and _combine."""
import collections

from .. import _core, errors, nest
from .._compositions import TensorSpec
from .._function import MustRunEagerly
from . import _shuffle, _structure

AUTOTUNE, INFINITE, UNKNOWN = -1, -1, -2


class Optional:
    """A value that may not be there: what get_next_as_optional gives."""

    def __init__(self, value=None, present=False):
        self._value, self._present = value, present

    @classmethod
    def from_value(cls, value):
        return cls(_structure.element(value), True)

    @classmethod
    def empty(cls, element_spec):
        return cls()

    def has_value(self, name=None):
        import gradus
        return gradus.constant(self._present)

    def get_value(self, name=None):
        if not self._present:
            raise errors.InvalidArgumentError(None, None, "The given optional does not have a value.")
        return self._value


class Iterator(collections.abc.Iterator):
    """The elements of a dataset, one after the other."""

    __slots__ = ("_dataset", "_next", "__weakref__")

    def __init__(self, dataset):
        self._dataset = dataset
        self._next = iter(dataset._iterate()).__next__

    def __next__(self):
        if _core._is_tracing():
            raise MustRunEagerly("elements of a dataset are not known while a function is traced")
        return self._next()

    def get_next(self, name=None):
        """The next element; OutOfRangeError after the last one."""
        try:
            return self.__next__()
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    next = __next__

    def get_next_as_optional(self):
        """The next element as an Optional."""
        try:
            return Optional(self.__next__(), True)
        except StopIteration:
            return Optional()

    @property
    def element_spec(self):
        return self._dataset.element_spec


class NumpyIterator:
    """The elements with NumPy arrays as their leaves."""

    def __init__(self, dataset):
        self._elements = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return _structure.to_numpy(next(self._elements))

    next = __next__


def unpacked(function):
    """The user's function for elements: those that are tuples are given as several arguments."""
    def call(value):
        return function(*value) if type(value) is tuple else function(value)
    return call


class Dataset(collections.abc.Iterable):
    """A sequence of elements, structures of tensors, that can be iterated over again and again."""

    _is_dataset = True
    _inputs = ()  # the datasets that this one is made of

    # What a kind of dataset says of itself.

    def _iterate(self):
        raise NotImplementedError

    def _rows(self):
        """As Rows, if the elements are rows of tensors in memory; called once per iteration."""
        return None

    def _spec(self):
        raise NotImplementedError

    def _cardinality(self):
        return UNKNOWN

    @property
    def element_spec(self):
        """The structure of the elements, with TensorSpecs as leaves."""
        known = self.__dict__.get("_known_spec")
        if known is None:
            known = self._known_spec = self._spec()
        return known

    def _first(self):
        """The first element, where nothing else is known of them; looking at it leaves no trace."""
        with _shuffle.probe():
            for value in self._iterate():
                return value
        raise ValueError("the dataset is empty: nothing is known of its elements")

    def cardinality(self, name=None):
        """The number of elements, or INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        import gradus
        return gradus.constant(self._cardinality(), gradus.int64)

    def __len__(self):
        size = self._cardinality()
        if size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __iter__(self):
        """The elements. A function that goes through them runs as plain Python; what it calls stays compiled."""
        if _core._is_tracing():
            raise MustRunEagerly("elements of a dataset are not known while a function is traced")
        return Iterator(self)

    def as_numpy_iterator(self):
        """An iterator whose elements have NumPy arrays as their leaves."""
        return NumpyIterator(self)

    def __repr__(self):
        return f"<_{type(self).__name__} element_spec={self.element_spec!r}>"

    def __debug_string__(self):
        return repr(self)

    # Sources.

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element."""
        return _kinds.TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """One element per row: the tensors are cut along their first axis."""
        return _kinds.TensorSliceDataset(tensors)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """What generator(*args) yields; it is called anew for each iteration."""
        return _kinds.generator_dataset(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def range(*args, **kwargs):
        """range(stop), range(start, stop) or range(start, stop, step), of int64 unless output_type says otherwise."""
        return _kinds.RangeDataset(*args, **kwargs)

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """start, start + step and so on without end."""
        return _kinds.CounterDataset(start, step, dtype)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random numbers of 32 bits, as int64, without end."""
        return _kinds.RandomDataset(seed, bool(rerandomize_each_iteration))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that match a pattern or several."""
        return _kinds.list_files(file_pattern, shuffle, seed)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, as long as all have some."""
        return _kinds.zip_datasets(args, datasets)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Each element from one of the datasets, drawn with the given weights."""
        return _kinds.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Each element from the dataset whose number choice_dataset gives."""
        return _kinds.DirectedDataset(datasets, choice_dataset, stop_on_empty_dataset)

    # Transformations.

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):
        """map_func of each element."""
        return _kinds.MapDataset(self, map_func, num_parallel_calls)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """batch_size elements as one, with a new first axis."""
        return _kinds.BatchDataset(self, batch_size, drop_remainder)

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """batch_size elements as one, each padded to the size of the largest."""
        return _kinds.PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """batch_size elements of different sizes as ragged tensors."""
        return _kinds.RaggedBatchDataset(self, batch_size, drop_remainder, row_splits_dtype)

    def unbatch(self, name=None):
        """The rows of each element as elements."""
        return _kinds.UnbatchDataset(self)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The rows of the elements in batches of another size, or of several sizes in turn."""
        import numpy as np
        sizes = np.asarray(batch_size).reshape(-1).tolist()
        if len(sizes) == 1:
            return self.unbatch().batch(sizes[0], drop_remainder)
        return _kinds.TurnsDataset(self.unbatch(), sizes, drop_remainder)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """The elements in random order: each is drawn from the next buffer_size ones."""
        return _kinds.ShuffleDataset(self, buffer_size, seed, reshuffle_each_iteration)

    def repeat(self, count=None, name=None):
        """The elements `count` times, or without end."""
        return _kinds.RepeatDataset(self, count)

    def prefetch(self, buffer_size, name=None):
        """The same elements, made ahead by a thread in the background."""
        return _kinds.PrefetchDataset(self, buffer_size)

    def take(self, count, name=None):
        """The first `count` elements."""
        return _kinds.TakeDataset(self, count)

    def skip(self, count, name=None):
        """All but the first `count` elements."""
        return _kinds.SkipDataset(self, count)

    def shard(self, num_shards, index, name=None):
        """Each num_shards-th element, from the one at `index` on."""
        return _kinds.ShardDataset(self, num_shards, index)

    def enumerate(self, start=0, name=None):
        """Pairs of a number and an element."""
        return _kinds.zip_datasets((_kinds.CounterDataset(start, 1, "int64"), self), None)

    def cache(self, filename="", name=None):
        """The same elements, kept after the first time."""
        return _kinds.CacheDataset(self, filename)

    def filter(self, predicate, name=None):
        """The elements for which the predicate is true."""
        return _kinds.FilterDataset(self, predicate)

    def take_while(self, predicate, name=None):
        """The elements up to the first for which the predicate is false."""
        return _kinds.TakeWhileDataset(self, predicate)

    def scan(self, initial_state, scan_func, name=None):
        """Outputs of (state, output) = scan_func(state, element)."""
        return _kinds.ScanDataset(self, initial_state, scan_func)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func makes of each element."""
        return _kinds.FlatMapDataset(self, map_func)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """As flat_map, with block_length elements in turn from cycle_length datasets at a time."""
        return _kinds.InterleaveDataset(self, map_func, cycle_length, block_length)

    def concatenate(self, dataset, name=None):
        """The elements of both, one dataset after the other."""
        return _kinds.ConcatenateDataset(self, dataset)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements each."""
        return _kinds.WindowDataset(self, size, shift, stride, drop_remainder)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Collects window_size elements of the same key and gives the elements of reduce_func(key, dataset of them)."""
        return _kinds.GroupByWindowDataset(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                                  drop_remainder=False, name=None):
        """Padded batches of elements of about the same length."""
        return _kinds.bucketed(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
                               padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)

    def unique(self, name=None):
        """Each element once."""
        return _kinds.UniqueDataset(self)

    def ignore_errors(self, log_warning=False, name=None):
        """Without those elements that could not be made."""
        return _kinds.IgnoreErrorsDataset(self, log_warning)

    def apply(self, transformation_func):
        """transformation_func(self), which must be a dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # Results.

    def reduce(self, initial_state, reduce_func, name=None):
        """The last of state = reduce_func(state, element)."""
        state = _structure.element(initial_state)
        expected = _structure.spec_of(state)
        for value in self:
            state = _kinds.checked_state(_structure.element(reduce_func(state, value)), expected, "reduce_func")
        return state

    def get_single_element(self, name=None):
        """The only element."""
        elements = iter(self)
        try:
            value = next(elements)
        except StopIteration:
            raise errors.InvalidArgumentError(None, None, "Dataset was empty.") from None
        if next(elements, elements) is not elements:
            raise errors.InvalidArgumentError(None, None, "Dataset had more than one element.")
        return value

    # Options, which are kept and given back; nothing here depends on them.

    def options(self):
        """The options that were set on the way."""
        made = Options()
        for dataset in self._inputs:
            made = made.merge(dataset.options())
        return made.merge(self.__dict__.get("_options") or Options())

    def with_options(self, options, name=None):
        """The same dataset with other options."""
        return _kinds.OptionsDataset(self, options)


class Options:
    """A bag of settings by name, at any depth."""

    def __init__(self):
        object.__setattr__(self, "_values", {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("autotune", "threading") or name.startswith("experimental_") and name in (
                "experimental_distribute", "experimental_optimization", "experimental_threading"):
            return self._values.setdefault(name, Options())
        return self._values.get(name)

    def __setattr__(self, name, value):
        self._values[name] = value

    def __eq__(self, other):
        return isinstance(other, Options) and self._values == other._values

    __hash__ = None

    def merge(self, options):
        """What either says; the other one wins."""
        made = Options()
        made._values.update(self._values)
        for name, value in options._values.items():
            mine = made._values.get(name)
            both = isinstance(value, Options) and isinstance(mine, Options)
            made._values[name] = mine.merge(value) if both else value
        return made


def traced_spec(function, arguments):
    """The spec of function(*arguments) of specs, found by tracing it; None if that does not work."""
    import gradus
    if not all(isinstance(s, TensorSpec) and type(s) is TensorSpec and s.shape.rank is not None
               for s in nest.flatten(arguments)):
        return None
    try:
        traced = gradus.function(lambda *a: _traced_element(function(*a)))
        outputs = traced.get_concrete_function(*arguments).structured_outputs
        return nest.map_structure(_structure.leaf_spec, outputs)
    except (Exception, MustRunEagerly):
        return None


def _traced_element(value):
    made = _structure.element(value)
    if any(type(leaf) is not _core.Tensor for leaf in nest.flatten(made)):
        raise TypeError("not only tensors")
    return made


_kinds = None  # the classes of all datasets, set by gradus/data/__init__.py
