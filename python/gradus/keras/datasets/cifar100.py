"""Photographs of 100 kinds of things in 20 groups."""
from . import _cifar


def load_data(label_mode="fine"):
    """((x_train, y_train), (x_test, y_test)); x has shape (n, 32, 32, 3)."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f"`label_mode` must be one of `\"fine\"`, `\"coarse\"`. Received: label_mode={label_mode}.")
    folder = _cifar.folder("cifar-100-python", "the CIFAR-100 archive for Python, unpack it,")
    return tuple(_cifar.load_batch(f"{folder}/{part}", label_mode + "_labels") for part in ("train", "test"))
