"""Pieces of clothing: 28 x 28 bytes."""
import gzip

import numpy as np

from . import _files


def _read(name, head):
    with gzip.open(_files.hosted(f"fashion-mnist/{name}"), "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=head)


def load_data():
    """((x_train, y_train), (x_test, y_test))."""
    made = []
    for part in ("train", "t10k"):
        labels = _read(f"{part}-labels-idx1-ubyte.gz", 8)
        made.append((_read(f"{part}-images-idx3-ubyte.gz", 16).reshape(len(labels), 28, 28), labels))
    return tuple(made)
