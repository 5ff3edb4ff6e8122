"""Batches for training from whatever the user has: arrays, datasets, generators and PyDatasets.

Each source gives batches of (x, y, sample_weight) with `batches()`, one pass at a time, and says in `count` how many
there are, if it knows. Arrays are cut by row; a shuffled pass gathers rows in the order of a permutation.
"""
import random
import warnings

import numpy as np

import gradus as _tf

from .. import _core, nest
from .._kinds import Composite, Kind
from . import _state


def unpack_x_y_sample_weight(data):
    """(x, y, sample_weight) of a batch, None where there is nothing."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) == 1:
        return data[0], None, None
    if len(data) == 2:
        return data[0], data[1], None
    if len(data) == 3:
        return data
    raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
                     f"found: {data}")


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """The shortest tuple that holds them."""
    if y is None:
        return x if not isinstance(x, (tuple, list)) else (x,)
    return (x, y) if sample_weight is None else (x, y, sample_weight)


_FLOATX = {"bfloat16": np.dtype("float32"), **{name: np.dtype(name) for name in ("float16", "float32", "float64")}}


def _as_array(value):
    """A NumPy array or a tensor whose floats have the default dtype."""
    if type(value) is np.ndarray:
        array = value
    elif isinstance(value, _core.Tensor):
        if value.dtype.is_floating and value.dtype.name == "float64":
            return _tf.cast(value, _state.floatx())
        return value
    elif _tf.is_tensor(value):
        return _as_array(_tf.convert_to_tensor(value))
    elif type(value).__module__.startswith("pandas"):
        array = value.to_numpy()
        if array.ndim == 1:
            array = array[:, None]
    else:
        array = np.asarray(value)
    kind = array.dtype.kind
    if kind in "OUS":
        raise ValueError(f"Failed to convert data of dtype {array.dtype} to a tensor: give arrays of numbers")
    if kind == "f" and array.dtype != _FLOATX[_state.floatx()]:
        array = array.astype(_FLOATX[_state.floatx()])
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _over(array):
    """A tensor over the memory of a NumPy array, which training only reads; a copy where NumPy cannot share it."""
    if array.nbytes > 4096:
        try:
            return _core._share(array)
        except (TypeError, BufferError):
            pass  # an old NumPy, or one that may not be written to
    return _tf.convert_to_tensor(array)


def is_array_like(value):
    """Whether training data can be cut into rows: arrays, tensors, or lists and dicts of them."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(hasattr(x, "shape") or isinstance(x, (int, float, bool, list)) for x in leaves)


def _arrays(value):
    """The leaves of a structure as arrays; a list of numbers is one array, a list of arrays is several."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {k: _arrays(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if any(hasattr(v, "shape") or isinstance(v, dict) for v in value):
            parts = [_arrays(v) for v in value]
            return tuple(parts) if type(value) is tuple else parts
        return _as_array(value)
    return _as_array(value)


def _rows(leaves):
    return [int(x.shape[0]) if len(x.shape) else None for x in leaves]


def _check_rows(x, y, sample_weight):
    parts = [("x", x), ("y", y), ("sample_weight", sample_weight)]
    sizes = {n for _, part in parts if part is not None for n in _rows(nest.flatten(part))}
    if None in sizes:
        raise ValueError("Data must have at least one axis: the rows")
    if len(sizes) > 1:
        text = "".join(f"'{name}' sizes: {', '.join(str(n) for n in _rows(nest.flatten(part)))}\n"
                       for name, part in parts if part is not None)
        raise ValueError(f"Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                         f"samples.{text}")
    return sizes.pop()


def class_weights_of(y, class_weight):
    """The weight of each row, by its class."""
    y = y.numpy() if hasattr(y, "numpy") else np.asarray(y)
    if y.ndim > 1 and y.shape[-1] > 1:
        y = np.argmax(y, axis=-1)
    y = np.round(y).astype("int32").reshape(len(y), -1)[:, 0] if y.ndim > 1 else np.round(y).astype("int32")
    weights = np.ones(y.shape, "float32")
    for label, weight in class_weight.items():
        weights[y == label] = weight
    return weights


def split_rows(arrays, validation_split):
    """The first rows and the last ones, which are a part of `validation_split`."""
    for part in arrays:
        for leaf in nest.flatten(part):
            if leaf is not None and not hasattr(leaf, "shape") and not isinstance(leaf, (list, int, float)):
                raise ValueError("Argument `validation_split` is only supported for tensors or NumPy arrays."
                                 f"Found incompatible type in the input: {[type(leaf)]}")
    parts = [_arrays(part) for part in arrays]
    count = _rows([x for part in parts if part is not None for x in nest.flatten(part)])[0]
    at = int(np.floor(count * (1.0 - validation_split)))
    if at == 0 or at == count:
        raise ValueError(f"Training data contains {count} samples, which is not sufficient to split it into a "
                         f"validation and training set as specified by `validation_split={validation_split}`. Either "
                         "provide more data, or a different value for the `validation_split` argument.")
    cut = lambda part, where: None if part is None else nest.map_structure(lambda x: x[where], part)  # noqa: E731
    return [cut(part, slice(0, at)) for part in parts], [cut(part, slice(at, None)) for part in parts]


_NO_GLOBAL_SEED = 87654321  # what TensorFlow takes in its place


def _permutation(size):
    """A random order of rows. After tf.random.set_seed it is Keras's, which is the same in every epoch."""
    from ..data._shuffle import op_seeds, order
    seeds = op_seeds(0)
    return np.random.permutation(size) if seeds[0] == _NO_GLOBAL_SEED else order(*seeds, size)


class ArrayData:
    """Rows of arrays."""

    def __init__(self, x, y=None, sample_weight=None, batch_size=None, shuffle=False, class_weight=None, steps=None):
        x, y, sample_weight = _arrays(x), _arrays(y), _arrays(sample_weight)
        self._size = _check_rows(x, y, sample_weight)
        if class_weight is not None:
            if y is None or isinstance(y, (list, tuple, dict)):
                raise ValueError("`class_weight` is only supported for Models with a single output.")
            if sample_weight is not None:
                raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
            sample_weight = class_weights_of(y, class_weight)
        self.batch_size = int(batch_size or 32)
        self._data = (x, y, sample_weight)
        self._leaves = nest.flatten(self._data)
        self._shuffle = shuffle
        self.count = -(-self._size // self.batch_size)

    def batches(self):
        x, y, w = self._data
        size, step = self._size, self.batch_size
        if self._shuffle:
            yield from self._shuffled()
            return
        if type(x) is np.ndarray and w is None and type(y) is np.ndarray:
            for start in range(0, size, step):
                yield _over(x[start:start + step]), _over(y[start:start + step])
            return
        for start in range(0, size, step):
            yield self._packed([leaf[start:start + step] if leaf is not None else None for leaf in self._leaves])

    def _shuffled(self):
        if self._shuffle == "batch":
            order = np.arange(self._size)
            starts = np.random.permutation(self._size // self.batch_size) * self.batch_size
            pieces = [order[s:s + self.batch_size]
                      for s in starts] + [order[self._size // self.batch_size * self.batch_size:]]
            order = np.concatenate(pieces)
        else:
            order = _permutation(self._size)
        for start in range(0, self._size, self.batch_size):
            rows = order[start:start + self.batch_size]
            yield self._packed([None if leaf is None else leaf[rows] if isinstance(leaf, np.ndarray)
                                else _tf.gather(leaf, rows) for leaf in self._leaves])

    def _packed(self, leaves):
        return pack_x_y_sample_weight(
            *nest.pack_sequence_as(self._data, [_over(v) if isinstance(v, np.ndarray) else v for v in leaves]))

    def on_epoch_begin(self):
        pass

    def on_epoch_end(self):
        pass

    def peek(self):
        pass


class _Weighted:
    """What the sources of whole batches share: class weights, and structures as tensors."""

    batch_size, count, _class_weight = None, None, None

    def _made_ready(self, batch):
        if self._class_weight is not None:
            x, y, w = unpack_x_y_sample_weight(batch)
            if y is None or w is not None:
                raise ValueError("`class_weight` is not supported with a source that gives sample weights or no "
                                 "targets.")
            batch = (x, y, class_weights_of(y, self._class_weight))
        if isinstance(batch, (tuple, list)):
            return tuple(as_tensors(part) for part in batch)
        return as_tensors(batch)

    def on_epoch_begin(self):
        pass

    def on_epoch_end(self):
        pass

    def peek(self):
        """Looks at the data before the first pass, where the user's code can tell."""


def as_tensors(value):
    """A batch as tensors, in the same structure; floats have the default dtype."""
    if type(value) is _core.Tensor or value is None or isinstance(value, Kind):
        return value
    if type(value) is np.ndarray:
        return _tf.convert_to_tensor(_as_array(value))
    if isinstance(value, dict):
        return {k: as_tensors(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if any(hasattr(v, "shape") or isinstance(v, dict) for v in value):
            parts = [as_tensors(v) for v in value]
            return tuple(parts) if type(value) is tuple else parts
    return _tf.convert_to_tensor(_as_array(value))


class DatasetData(_Weighted):
    """A tf.data.Dataset, or anything that can be iterated again and again."""

    def __init__(self, dataset, class_weight=None, steps=None):
        self._dataset, self._class_weight, self._steps = dataset, class_weight, steps
        self._iterator = None
        if hasattr(dataset, "cardinality"):
            count = int(dataset.cardinality())
            self.count = count if count >= 0 else None
        elif hasattr(dataset, "__len__"):
            self.count = len(dataset)

    def batches(self):
        if self._steps is None:
            for batch in self._dataset:
                yield self._made_ready(batch)
            return
        if self._iterator is None:
            self._iterator = iter(self._dataset)
        while True:
            try:
                batch = next(self._iterator)
            except StopIteration:
                self._iterator = None
                return
            yield self._made_ready(batch)


class GeneratorData(_Weighted):
    """A Python generator, which goes on where it stopped."""

    def __init__(self, generator, class_weight=None):
        self._generator, self._class_weight = generator, class_weight

    def batches(self):
        for batch in self._generator:
            yield self._made_ready(batch)


class PyDatasetData(_Weighted):
    """A keras.utils.PyDataset, with its batches in order or shuffled, and made by threads if it says so."""

    def __init__(self, dataset, class_weight=None, shuffle=False):
        self._dataset, self._class_weight, self._shuffle = dataset, class_weight, shuffle
        self.count = getattr(dataset, "num_batches", None)
        if self.count is None:
            try:
                self.count = len(dataset)
            except (TypeError, NotImplementedError, AttributeError):
                self.count = None

    def batches(self):
        workers = getattr(self._dataset, "workers", 1) or 1
        if self.count is None:
            i = 0
            while True:
                yield self._made_ready(self._dataset[i])
                i += 1
        order = list(range(self.count))
        if self._shuffle:
            random.shuffle(order)
        if workers <= 1:
            for i in order:
                yield self._made_ready(self._dataset[i])
            return
        from concurrent.futures import ThreadPoolExecutor
        ahead = getattr(self._dataset, "max_queue_size", 10) or 10
        with ThreadPoolExecutor(workers) as pool:
            waiting, rest = [], iter(order)
            for i in rest:
                waiting.append(pool.submit(self._dataset.__getitem__, i))
                if len(waiting) >= ahead:
                    break
            while waiting:
                batch = waiting.pop(0).result()
                for i in rest:
                    waiting.append(pool.submit(self._dataset.__getitem__, i))
                    break
                yield self._made_ready(batch)

    def peek(self):
        """Keras makes two batches to see what they are like; datasets that count or draw in __getitem__ notice."""
        for i in range(2 if self.count is None else min(2, self.count)):
            self._dataset[i]

    def on_epoch_begin(self):
        if hasattr(self._dataset, "on_epoch_begin"):
            self._dataset.on_epoch_begin()

    def on_epoch_end(self):
        if hasattr(self._dataset, "on_epoch_end"):
            self._dataset.on_epoch_end()


def _refuse_targets(kind, y, sample_weight):
    if y is not None:
        raise ValueError(f"When providing `x` as a {kind}, `y` should not be passed. Instead, the targets should be "
                         f"included as part of the {kind}.")
    if sample_weight is not None:
        raise ValueError(f"When providing `x` as a {kind}, `sample_weight` should not be passed. Instead, the sample "
                         f"weights should be included as part of the {kind}.")


def data_source(x, y=None, sample_weight=None, batch_size=None, shuffle=False, class_weight=None, steps=None):
    """The source of batches for what fit, evaluate or predict was given."""
    kind = type(x)
    if isinstance(x, Composite):  # rows of sparse and ragged tensors are what a dataset makes of them
        parts = pack_x_y_sample_weight(x, y, sample_weight)
        rows = _tf.data.Dataset.from_tensor_slices(parts)
        rows = rows.shuffle(max(int(rows.cardinality()), 1)) if shuffle else rows
        return DatasetData(rows.batch(batch_size or 32), class_weight, steps)
    if kind is np.ndarray or kind is _core.Tensor:
        return ArrayData(x, y, sample_weight, batch_size, shuffle, class_weight, steps)
    if any(c.__name__ == "Dataset" and c.__module__.startswith("gradus.") for c in kind.__mro__):
        _refuse_targets("tf.data.Dataset", y, sample_weight)
        return DatasetData(x, class_weight, steps)
    if any(c.__name__ in ("PyDataset", "Sequence") and c.__module__.startswith("gradus.") for c in kind.__mro__):
        _refuse_targets("PyDataset", y, sample_weight)
        return PyDatasetData(x, class_weight, shuffle)
    if kind.__module__.startswith("torch.utils.data"):
        _refuse_targets("torch DataLoader", y, sample_weight)
        return DatasetData(x, class_weight, steps)
    if x is not None and is_array_like(x):
        return ArrayData(x, y, sample_weight, batch_size, shuffle, class_weight, steps)
    if hasattr(x, "__next__"):
        _refuse_targets("generator", y, sample_weight)
        return GeneratorData(x, class_weight)
    if hasattr(x, "__iter__"):
        return DatasetData(x, class_weight, steps)
    raise ValueError(f"Unrecognized data type: x={x} (of type {kind})")


def warn_out_of_data():
    warnings.warn("Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                  "generate at least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function "
                  "when building your dataset.", stacklevel=3)
