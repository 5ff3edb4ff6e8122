"""Digits written by hand: 28 x 28 bytes."""
from . import _files


def load_data(path="mnist.npz"):
    """((x_train, y_train), (x_test, y_test))."""
    data = _files.arrays(_files.hosted(path))
    return (data["x_train"], data["y_train"]), (data["x_test"], data["y_test"])
