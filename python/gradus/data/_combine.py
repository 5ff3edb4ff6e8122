"""Datasets made of several: side by side, one after the other, in turn, by choice, by key."""
import itertools
import os

import numpy as np

from .. import nest
from . import _rows, _structure
from ._dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset, unpacked
from ._sources import ElementsDataset, RandomDataset, TensorSliceDataset, _number
from ._transforms import OneInput, as_int, invalid


def zip_datasets(args, datasets):
    """Both ways to name the datasets: zip(a, b) and zip((a, b)), zip({"x": a})."""
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    if len(args) == 1:
        datasets = args[0]
    elif args:
        datasets = tuple(args)
    if isinstance(datasets, list):
        raise TypeError("Invalid input to `zip`: it must be a nested structure of `tf.data.Dataset`, where lists are "
                        "no "
                        "structure; use a tuple.")
    for dataset in nest.flatten(datasets):
        if not isinstance(dataset, Dataset):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                            "`tf.data.Dataset` "
                            f"objects, got {type(dataset)}.")
    return ZipDataset(datasets)


class ZipDataset(Dataset):
    def __init__(self, datasets):
        self._structure, self._inputs = datasets, tuple(nest.flatten(datasets))

    def _rows(self):
        sizes = {d._cardinality() for d in self._inputs}
        if len(sizes) != 1 or not all(isinstance(d, TensorSliceDataset) for d in self._inputs):
            return None
        parts = [d._rows() for d in self._inputs]
        columns = [c for part in parts for c in part.columns]
        leaves = iter(columns)
        shaped = [next(leaves) if p.structure is None else nest.pack_sequence_as(
            p.structure, list(itertools.islice(leaves, len(p.columns)))) for p in parts]
        return _rows.Rows(self._packed(shaped), columns, parts[0].blocks)

    def _packed(self, values):
        return values[0] if isinstance(self._structure, Dataset) else _packed(self._structure, iter(values))

    def _iterate(self):
        rows = self._rows()
        if rows is not None:
            return rows.elements()
        iterators = [iter(d._iterate()) for d in self._inputs]
        if type(self._structure) is tuple and not any(map(nest.is_nested, self._structure)):
            return zip(*iterators)
        return map(self._packed, zip(*iterators))

    def _spec(self):
        return self._packed([d.element_spec for d in self._inputs])

    def _cardinality(self):
        sizes = [d._cardinality() for d in self._inputs]
        if UNKNOWN in sizes:
            return UNKNOWN
        return min((s for s in sizes if s >= 0), default=INFINITE)


def _packed(structure, values):
    """As nest.pack_sequence_as, for values that are structures themselves."""
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], values) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)
    if isinstance(structure, tuple):
        parts = [_packed(s, values) for s in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return next(values)


class ConcatenateDataset(Dataset):
    def __init__(self, first, second):
        self._inputs = (first, second)
        if type(first) is type(second) and first.__dict__.get("_known_spec") and second.__dict__.get("_known_spec"):
            _structure.widest(first.element_spec, second.element_spec)

    def _iterate(self):
        return itertools.chain.from_iterable(d._iterate() for d in self._inputs)

    def _spec(self):
        return _structure.widest(*(d.element_spec for d in self._inputs))

    def _cardinality(self):
        sizes = [d._cardinality() for d in self._inputs]
        return INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)


def _dataset_function(function):
    call = unpacked(function)

    def checked(value):
        made = call(value)
        if not isinstance(made, Dataset):
            raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(made)!r}.")
        return made
    return checked


class FlatMapDataset(OneInput):
    def __init__(self, dataset, function):
        super().__init__(dataset)
        self._function = _dataset_function(function)

    def _elements(self):
        return itertools.chain.from_iterable(self._function(v)._iterate() for v in self._input._iterate())

    def _spec(self):
        return self._function(self._input._first()).element_spec

    def _cardinality(self):
        return UNKNOWN


class InterleaveDataset(FlatMapDataset):
    def __init__(self, dataset, function, cycle_length, block_length):
        super().__init__(dataset, function)
        cycle_length = as_int(cycle_length, "cycle_length")
        self._cycle = os.cpu_count() or 1 if cycle_length in (None, AUTOTUNE) else cycle_length
        self._block = 1 if block_length is None else as_int(block_length, "block_length")
        if self._cycle < 1 or self._block < 1:
            raise invalid("`cycle_length` and `block_length` must be greater than zero.")

    def _elements(self):
        inputs, open_ = iter(self._input._iterate()), [None] * self._cycle
        at, given, more = 0, 0, True
        while more or any(open_):
            current = open_[at]
            if current is None and more:
                try:
                    open_[at] = iter(self._function(next(inputs))._iterate())
                except StopIteration:
                    more = False
                continue
            if current is not None:
                try:
                    value = next(current)
                except StopIteration:
                    open_[at] = None
                else:
                    yield value
                    given += 1
                    if given < self._block:
                        continue
            at, given = (at + 1) % self._cycle, 0


class DirectedDataset(Dataset):
    """Elements of the dataset whose number another one gives."""

    def __init__(self, datasets, choices, stop_on_empty):
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        self._inputs, self._choices, self._stop = tuple(datasets), choices, stop_on_empty

    def _iterate(self):
        iterators = [iter(d._iterate()) for d in self._inputs]
        left = len(iterators)
        for choice in self._choices._iterate():
            number = int(_number(choice))
            if not 0 <= number < len(iterators):
                raise invalid(f"Selector index out of range: {number} >= {len(iterators)}")
            if iterators[number] is None:
                continue
            try:
                value = next(iterators[number])
            except StopIteration:
                iterators[number] = None
                left -= 1
                if self._stop or left == 0:
                    return
                continue
            yield value

    def _spec(self):
        made = self._inputs[0].element_spec
        for dataset in self._inputs[1:]:
            made = _structure.widest(made, dataset.element_spec)
        return made


def sample_from_datasets(datasets, weights, seed, stop_on_empty, rerandomize=None):
    """Draws as TensorFlow does: a pair of random numbers is the seed of each choice."""
    import gradus
    datasets = list(datasets)
    if isinstance(weights, Dataset):
        logits = weights.map(lambda w: gradus.math.log(gradus.reshape(w, [1, -1])))
    else:
        weights = np.full(len(datasets), 1 / len(datasets)) if weights is None else np.asarray(
            weights.numpy() if hasattr(weights, "numpy") else weights)
        if weights.shape != (len(datasets),):
            raise ValueError("Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` "
                             "but is "
                             f"{weights.shape}.")
        if weights.dtype.kind != "f":
            raise TypeError("Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64`")
        if (weights == 0).any():  # datasets that are never drawn do not keep the others waiting
            datasets = [d for d, w in zip(datasets, weights) if w > 0] or [datasets[0].take(0)]
            weights = weights[weights > 0] if (weights > 0).any() else np.ones(1)
        if len(datasets) == 1:
            return datasets[0]
        logits = np.log(weights)[None]
    seeds = RandomDataset(seed, bool(rerandomize)).batch(2)
    if isinstance(weights, Dataset):
        choices = zip_datasets((logits, seeds), None)
    else:
        fixed = gradus.constant(logits)
        choices = seeds.map(lambda pair: (fixed, pair))
    choices = choices.map(lambda l, pair: gradus.random.stateless_categorical(l, 1, pair)[0, 0])  # noqa: E741
    return DirectedDataset(datasets, choices, stop_on_empty)


class GroupByWindowDataset(OneInput):
    def __init__(self, dataset, key, reduce, size, size_of):
        super().__init__(dataset)
        if (size is None) == (size_of is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        self._key, self._reduce = unpacked(key), reduce
        self._size_of = size_of or (lambda _: size)

    def _elements(self):
        import gradus
        spec, groups = self._input.element_spec, {}

        def reduced(key):
            made = self._reduce(gradus.constant(key, gradus.int64), ElementsDataset(groups.pop(key), spec))
            if not isinstance(made, Dataset):
                raise TypeError(f"Invalid `reduce_func`. `reduce_func` must return a `tf.data.Dataset`, got {made!r}.")
            return made._iterate()

        for value in self._input._iterate():
            key = int(_number(self._key(value)))
            groups.setdefault(key, []).append(value)
            if len(groups[key]) >= int(_number(self._size_of(gradus.constant(key, gradus.int64)))):
                yield from reduced(key)
        for key in sorted(groups):
            yield from reduced(key)

    def _spec(self):
        return _structure.loose_spec_of(self._first())

    def _cardinality(self):
        return UNKNOWN


def bucketed(dataset, length_of, boundaries, sizes, padded_shapes, padding_values, to_boundary, no_padding, drop):
    """Batches of elements whose lengths fall between the same boundaries."""
    boundaries, sizes = [int(b) for b in boundaries], [int(s) for s in sizes]
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                         f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`.")

    def key(*value):
        length = int(_number(length_of(*value)))
        return sum(length >= b for b in boundaries)

    def batch(key, group):
        number = int(_number(key))
        size = sizes[number]
        if no_padding:
            return group.batch(size, drop)
        shapes = padded_shapes
        if shapes is None:
            shapes = nest.map_structure(lambda s: s.shape, dataset.element_spec)
        if to_boundary:
            if number == len(boundaries):
                raise invalid("When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
            shapes = _filled(shapes, boundaries[number] - 1)
        return group.padded_batch(size, shapes, padding_values, drop)

    return GroupByWindowDataset(dataset, key, batch, None, lambda k: sizes[int(_number(k))])


def _filled(shapes, size):
    if isinstance(shapes, dict):
        return {k: _filled(v, size) for k, v in shapes.items()}
    if isinstance(shapes, tuple):
        return tuple(_filled(s, size) for s in shapes)
    return [size if n is None or n == -1 else n for n in shapes]
