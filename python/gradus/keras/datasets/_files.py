"""Where the files of datasets lie, and how they are read without running anything that is in them."""
import io
import math
import os
import pickle

import numpy as np

from ..._archives import opened
from ..._archives import read as read_entry
from ..utils._files import cache_folder


def found(*names, what):
    """The first of several files or folders of the cache that is there; `what` it is, for the error."""
    for name in names:
        path = name if os.path.isabs(name) else os.path.join(cache_folder(), name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"'{os.path.join(cache_folder(), names[0])}' is not there, and Gradus does not download. "
                            f"Fetch {what} and put it there (another folder: set KERAS_HOME).")


def hosted(name):
    return found(name, what=f"'{os.path.basename(name)}' of Keras's datasets")


class _PlainUnpickler(pickle.Unpickler):
    """Makes lists, dicts, numbers, strings and arrays; everything else is refused."""

    _KNOWN = {("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
              ("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"), ("numpy._core.multiarray", "scalar"),
              ("numpy.core.multiarray", "scalar")}

    def find_class(self, module, name):
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"the file wants to use {module}.{name}, which is not allowed")
        if name == "_reconstruct":
            return _reconstruct
        if module == "_codecs":
            return super().find_class(module, name)
        if name == "scalar":
            return np.core.multiarray.scalar if hasattr(np, "core") else None
        return getattr(np, name)


def _reconstruct(cls, shape, dtype):
    if cls is not np.ndarray:
        raise pickle.UnpicklingError("only plain arrays are allowed")
    return np.ndarray.__new__(cls, shape, dtype)


def unpickled(file, path, **options):
    try:
        return _PlainUnpickler(file, **options).load()
    except Exception as error:
        raise ValueError(f"'{path}' is damaged or is not the file it should be: {error}") from None


def arrays(path):
    """The arrays of an .npz file; those of Python lists are read by the unpickler that knows lists and numbers only."""
    made = {}
    archive, entries = opened(path)
    with archive:
        for name, entry in entries.items():
            content = io.BytesIO(read_entry(archive, entry))
            version = np.lib.format.read_magic(content)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(content)
            left = len(content.getbuffer()) - content.tell()
            if any(n < 0 for n in shape) or not dtype.hasobject and math.prod(shape) * dtype.itemsize > left:
                raise ValueError(f"'{path}' is damaged: '{name}' describes an array of shape {shape}, {left} bytes follow")
            if dtype.hasobject:
                array = unpickled(content, path)
                made[name.removesuffix(".npy")] = np.asarray(array, dtype=object).reshape(shape)
            else:
                content.seek(0)
                made[name.removesuffix(".npy")] = np.lib.format.read_array(content, allow_pickle=False)
    return made
