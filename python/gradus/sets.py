"""tf.sets: the rows of matrices as sets; results are sparse."""
import sys

import numpy as np

from ._effects import found_rows

__all__ = ["difference", "intersection", "size", "union"]


def _tf():
    return sys.modules["gradus"]


class _Sets:
    """The sets that the rows of a tensor are (along its last axis)."""

    def __init__(self, x):
        tf = _tf()
        self.is_sparse = isinstance(x, tf.SparseTensor)
        self.tensors = [x.indices, x.values, x.dense_shape] if self.is_sparse else [tf.convert_to_tensor(x)]
        self.elements = self.tensors[self.is_sparse]
        self.outer = self.tensors[2][:-1] if self.is_sparse else tf.shape(self.elements, tf.int64)[:-1]
        self.rank = self.tensors[0].shape[1] if self.is_sparse else self.elements.shape.rank

    def rows(self, arrays):
        """By place, of the arrays that its tensors are."""
        if not self.is_sparse:
            return {at: arrays[0][at].tolist() for at in np.ndindex(*arrays[0].shape[:-1])}
        indices, values, shape = arrays
        found = {at: [] for at in np.ndindex(*shape[:-1])}
        for index, value in zip(indices.tolist(), values.tolist()):
            found[tuple(index[:-1])].append(value)
        return found


def _combined(a, b, choose):
    tf = _tf()
    a, b = _Sets(a), _Sets(b)

    def chosen(*arrays):
        count = len(a.tensors)
        first, second = a.rows(arrays[:count]), b.rows(arrays[count:])
        found = {at: sorted(choose(set(row), set(second[at]))) for at, row in first.items()}
        return ([[*at, i] for at, row in found.items() for i in range(len(row))],
                [v for row in found.values() for v in row])
    most = tf.size(a.elements) + tf.size(b.elements)
    kinds = [(tf.int64, [a.rank]), (a.elements.dtype, [])]
    indices, values = found_rows("sets", chosen, a.tensors + b.tensors, most, kinds)
    longest = tf.reduce_max(tf.concat([indices[:, -1] + 1, [0]], 0))
    return tf.SparseTensor(indices, values, tf.concat([a.outer, [longest]], 0))


def intersection(a, b, validate_indices=True):
    """What both sets have."""
    return _combined(a, b, lambda x, y: x & y)


def union(a, b, validate_indices=True):
    """What one of the sets has."""
    return _combined(a, b, lambda x, y: x | y)


def difference(a, b, aminusb=True, validate_indices=True):
    """What the first set has and the second has not."""
    return _combined(a, b, lambda x, y: x - y if aminusb else y - x)


def size(a, validate_indices=True):
    """The number of different elements of each row."""
    tf = _tf()
    a = _Sets(a)
    counts, = found_rows("sets", lambda *arrays: [[len(set(row)) for row in a.rows(arrays).values()]], a.tensors,
                         tf.reduce_prod(a.outer), [(tf.int32, [])])
    return tf.reshape(counts, a.outer)
