"""Looking into checkpoints without objects."""
import os

from .. import errors
from .._files import text_of
from ._checkpoint import read_file
from ._state_file import latest_checkpoint


class CheckpointReader:
    """The values of a checkpoint by key."""

    def __init__(self, prefix):
        self._tensors, _ = read_file(prefix)

    def get_variable_to_shape_map(self):
        return {key: list(t.shape) for key, t in self._tensors.items()}

    def get_variable_to_dtype_map(self):
        return {key: t.dtype for key, t in self._tensors.items()}

    def has_tensor(self, name):
        return name in self._tensors

    def get_tensor(self, name):
        """The value, a NumPy array."""
        if name not in self._tensors:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._tensors[name].numpy()


def _prefix(ckpt_dir_or_file):
    path = text_of(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        return latest
    return path


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the latest one of a folder."""
    return CheckpointReader(_prefix(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file, name):
    """One value, a NumPy array."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file):
    """[(key, shape)] of all values."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of that name."""
    return os.path.exists(text_of(checkpoint_prefix) + ".index")


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """The names of checkpoints of a folder as they appear."""
    import time
    last = None
    while True:
        begin = time.monotonic()
        while (latest := latest_checkpoint(checkpoint_dir)) in (None, last):
            if timeout is not None and time.monotonic() - begin > timeout:
                if timeout_fn is None or timeout_fn():
                    return
                begin = time.monotonic()
            time.sleep(0.05)
        last = latest
        yield latest
        time.sleep(min_interval_secs)
