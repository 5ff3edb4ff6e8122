"""keras.utils.PyDataset: batches that a Python object makes by number."""
import warnings


class PyDataset:
    """The base of datasets with __getitem__, which gives a batch, and __len__, the number of batches."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers, self.max_queue_size = workers, max_queue_size
        self.use_multiprocessing = use_multiprocessing
        if use_multiprocessing and workers > 1:
            warnings.warn("use_multiprocessing: batches are made by threads instead of processes", stacklevel=2)

    workers, use_multiprocessing, max_queue_size = 1, False, 10

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__(index)")

    @property
    def num_batches(self):
        """The number of batches; None if there is no end."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError("You need to implement the `num_batches` property")

    def on_epoch_begin(self):
        """Before each epoch."""

    def on_epoch_end(self):
        """After each epoch."""

    def __iter__(self):
        for i in range(self.num_batches):
            yield self[i]


Sequence = PyDataset
