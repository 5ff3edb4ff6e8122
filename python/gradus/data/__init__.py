"""tf.data: sequences of elements for training loops.

    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000, seed=1).batch(32).prefetch(2)
    for images, labels in dataset:
        ...

Elements, orders for given seeds, specs and errors are TensorFlow's. Functions given to map() and the like are called as
they are, once per element. See docs/design/016.
"""
from . import _dataset, _kinds
from ._dataset import AUTOTUNE, Dataset, Iterator, NumpyIterator, Options
from ._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from ._structure import DatasetSpec

_dataset._kinds = _kinds
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = _dataset.INFINITE, _dataset.UNKNOWN
ThreadingOptions = Options

from . import experimental  # noqa: E402

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
           "FixedLengthRecordDataset", "Iterator", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset",
           "ThreadingOptions", "experimental"]
