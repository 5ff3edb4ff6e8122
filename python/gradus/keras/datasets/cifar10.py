"""Photographs of 10 kinds of things."""
import numpy as np

from . import _cifar


def load_data():
    """((x_train, y_train), (x_test, y_test)); x has shape (n, 32, 32, 3)."""
    folder = _cifar.folder("cifar-10-batches-py", "the CIFAR-10 archive for Python, unpack it,")
    parts = [_cifar.load_batch(f"{folder}/data_batch_{i}", "labels") for i in range(1, 6)]
    x_test, y_test = _cifar.load_batch(f"{folder}/test_batch", "labels")
    x, y = (np.concatenate(p) for p in zip(*parts))
    return (x, y.astype(np.uint8)), (x_test.astype(x.dtype), y_test.astype(np.uint8))
