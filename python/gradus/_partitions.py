"""tf.dynamic_partition and tf.dynamic_stitch: rows sorted into groups, and put together again.

How many rows a group has depends on values: a program finds that when it runs.
"""
import sys

import numpy as np

from . import errors
from ._kinds import is_traced

__all__ = ["dynamic_partition", "dynamic_stitch"]


def _tf():
    return sys.modules["gradus"]


def _known(indices):
    """(the indices, their values or None if only the program will know them)."""
    indices = _tf().convert_to_tensor(indices, _tf().int32)
    if is_traced(indices):
        value = _tf().get_static_value(indices)
        return indices, None if value is None else np.asarray(value)
    return indices, indices.numpy()


def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of num_partitions tensors: the i-th has the elements of data where partitions is i."""
    tf = _tf()
    data = tf.convert_to_tensor(data)
    partitions, groups = _known(partitions)
    if num_partitions < 1:
        raise errors.InvalidArgumentError(None, None, f"[dynamic_partition] num_partitions must be at least 1, got "
                                          f"{num_partitions}")
    if groups is None:
        flat = tf.reshape(partitions, [-1])
        flat = tf.gather(tf.range(num_partitions), flat)  # which complains of groups that there are not
        rows = tf.reshape(data, tf.concat([tf.shape(flat), tf.shape(data)[partitions.shape.rank:]], 0))
        return [tf.boolean_mask(rows, tf.equal(flat, i)) for i in range(num_partitions)]
    if tuple(data.shape[:groups.ndim]) != groups.shape:
        raise errors.InvalidArgumentError(
            None, None, f"[dynamic_partition] data.shape must start with partitions.shape, got data.shape = "
            f"{list(data.shape)}, partitions.shape = {list(groups.shape)}")
    flat = groups.reshape(-1)
    wrong = np.flatnonzero((flat < 0) | (flat >= num_partitions))
    if len(wrong):
        raise errors.InvalidArgumentError(None, None, f"[dynamic_partition] partitions[{wrong[0]}] = {flat[wrong[0]]} is "
                                          f"not in [0, {num_partitions})")
    rows = tf.reshape(data, [flat.size, *data.shape[groups.ndim:]])
    return [tf.gather(rows, np.flatnonzero(flat == i)) for i in range(num_partitions)]


def dynamic_stitch(indices, data, name=None):
    """The tensor whose row indices[i][j] is data[i][j].

    Where an index is repeated the last row counts, and only it has a gradient; rows that no index names are zeros.
    """
    tf = _tf()
    known = [_known(i) for i in indices]
    data = [tf.convert_to_tensor(d) for d in data]
    if len(indices) != len(data) or not indices:
        raise ValueError(f"[dynamic_stitch] as many lists of indices as of data are wanted, got {len(indices)} and "
                         f"{len(data)}")
    if any(values is None for _, values in known):
        return _stitch_found([i for i, _ in known], data)
    indices = [values for _, values in known]
    rows = []
    for k, (places, values) in enumerate(zip(indices, data)):
        if tuple(values.shape[:places.ndim]) != places.shape:
            raise errors.InvalidArgumentError(
                None, None, f"[dynamic_stitch] data[{k}].shape = {list(values.shape)} does not start with "
                f"indices[{k}].shape = {list(places.shape)}")
        if (places < 0).any():
            raise errors.InvalidArgumentError(None, None, f"[dynamic_stitch] indices[{k}] is out of range: no index may be "
                                              "negative")
        rows.append(tf.reshape(values, [places.size, *values.shape[places.ndim:]]))
    places = np.concatenate([i.reshape(-1) for i in indices])
    size = int(places.max()) + 1 if places.size else 0
    source = np.full(size, places.size)
    source[places] = np.arange(places.size)  # the last one stays
    rows.append(tf.zeros([1, *rows[0].shape[1:]], rows[0].dtype))
    return tf.gather(tf.concat(rows, 0), source)


def _stitch_found(indices, data):
    """The same of indices that only the program will know."""
    tf = _tf()
    rows, rest = [], tf.shape(data[0])[indices[0].shape.rank:]
    for values in data:
        rows.append(tf.reshape(values, tf.concat([[-1], rest], 0)) if rest.shape[0] else tf.reshape(values, [-1]))
    places = tf.concat([tf.reshape(i, [-1]) for i in indices], 0)
    size = tf.maximum(tf.reduce_max(places), -1) + 1
    source = tf.math.unsorted_segment_max(tf.range(tf.size(places)), places, size)  # the last one stays
    rows.append(tf.zeros(tf.concat([[1], rest], 0), rows[0].dtype))
    return tf.gather(tf.concat(rows, 0), tf.where(source < 0, tf.size(places), source))
