"""tf.sets: the rows of matrices as sets; results are sparse."""
import numpy as np

__all__ = ["difference", "intersection", "size", "union"]


def _rows(x):
    """The set of each row (along the last axis)."""
    import gradus as tf
    if isinstance(x, tf.SparseTensor):
        rows = {at: [] for at in np.ndindex(*x.shape.as_list()[:-1])}
        for index, value in zip(x.indices.numpy().tolist(), x.values.numpy().tolist()):
            rows[tuple(index[:-1])].append(value)
        return rows, x.values.dtype
    x = tf.convert_to_tensor(x)
    array = np.asarray(x.numpy(), object if x.dtype.name == "string" else None)
    return {at: array[at].tolist() for at in np.ndindex(*array.shape[:-1])}, x.dtype


def _combined(a, b, choose):
    import gradus as tf
    (first, dtype), (second, _) = _rows(a), _rows(b)
    found = {at: sorted(choose(set(row), set(second[at]))) for at, row in first.items()}
    outer = [max(sizes) + 1 for sizes in zip(*found)]
    indices = [[*at, i] for at, row in found.items() for i in range(len(row))]
    values = tf.constant([v for row in found.values() for v in row], dtype)
    return tf.SparseTensor(tf.reshape(tf.constant(indices, tf.int64), [-1, len(outer) + 1]), values,
                           [*outer, max(map(len, found.values()), default=0)])


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
    import gradus as tf
    rows, _ = _rows(a)
    outer = [max(sizes) + 1 for sizes in zip(*rows)]
    return tf.constant(np.array([len(set(row)) for row in rows.values()], np.int32).reshape(outer))
