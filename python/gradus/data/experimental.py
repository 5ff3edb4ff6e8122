"""tf.data.experimental: older names of what Dataset has as methods."""
from ._csv import CsvDataset, make_csv_dataset  # noqa: F401
from ._dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset, Optional, Options  # noqa: F401
from ._kinds import RandomDataset as _RandomDataset
from ._transforms import OneInput as _OneInput

INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = INFINITE, UNKNOWN
DistributeOptions = OptimizationOptions = ThreadingOptions = AutotuneOptions = Options
sample_from_datasets = Dataset.sample_from_datasets
choose_from_datasets = Dataset.choose_from_datasets
Counter = Dataset.counter


def RandomDataset(seed=None):  # noqa: N802
    """Random numbers of 32 bits without end."""
    return _RandomDataset(seed, False)


def cardinality(dataset):
    """The number of elements, or one of the constants."""
    return dataset.cardinality()


class _AssertedDataset(_OneInput):
    def __init__(self, dataset, size):
        super().__init__(dataset)
        self._size = int(size)

    def _elements(self):
        from .. import errors
        count = -1
        for count, value in enumerate(self._input._iterate()):
            if count >= self._size >= 0:
                break
            yield value
        else:
            if self._size in (count + 1, INFINITE, UNKNOWN):
                return
        raise errors.FailedPreconditionError(None, None, f"Input dataset was expected to contain {self._size} elements "
                                                         "but "
                                             f"contained {'more' if count >= self._size else f'only {count + 1}'}.")

    def _cardinality(self):
        return self._size


def assert_cardinality(expected_cardinality):
    """For apply(): says how many elements there are, and checks it."""
    return lambda dataset: _AssertedDataset(dataset, expected_cardinality)


def get_single_element(dataset):
    return dataset.get_single_element()


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning=False):
    return lambda dataset: dataset.ignore_errors(log_warning)


def unbatch():
    return lambda dataset: dataset.unbatch()


def unique():
    return lambda dataset: dataset.unique()


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(*args, **kwargs):
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def prefetch_to_device(device, buffer_size=None):
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    return lambda dataset: dataset


def get_structure(dataset_or_iterator):
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator):
    return iterator.get_next_as_optional()
