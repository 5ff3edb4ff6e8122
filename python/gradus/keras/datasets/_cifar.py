"""What cifar10 and cifar100 share: batches of 32 x 32 x 3 bytes."""
import numpy as np

from . import _files


def folder(name, what):
    return _files.found(f"{name}-target/{name}", name, what=what)


def load_batch(path, key):
    with open(path, "rb") as file:
        batch = {k.decode(): v for k, v in _files.unpickled(file, path, encoding="bytes").items()}
    images = np.asarray(batch["data"]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, np.reshape(np.asarray(batch[key]), (-1, 1))
