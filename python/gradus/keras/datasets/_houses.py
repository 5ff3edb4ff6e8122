"""What boston_housing and california_housing share: a table and a price, shuffled and split."""
import numpy as np

from . import _files


def load(path, test_split, seed, rows=None):
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be at least 0 and less than 1, got {test_split}")
    data = _files.arrays(_files.hosted(path))
    x, y = data["x"][:rows], data["y"][:rows]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    count = int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])
