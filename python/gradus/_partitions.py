"""tf.dynamic_partition and tf.dynamic_stitch: rows sorted into groups, and put together again.

How many rows a group has depends on values, so a tf.function in which the groups are not constant runs as plain Python.
"""
import sys

import numpy as np

from . import errors
from ._kinds import is_traced

__all__ = ["dynamic_partition", "dynamic_stitch"]


def _tf():
    return sys.modules["gradus"]


def _known(indices, op):
    indices = _tf().convert_to_tensor(indices, _tf().int32)
    if is_traced(indices):
        value = _tf().get_static_value(indices)
        if value is None:
            from ._function import MustRunEagerly
            raise MustRunEagerly(f"{op} makes sizes of values")
        return np.asarray(value)
    return indices.numpy()


def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of num_partitions tensors: the i-th has the elements of data where partitions is i."""
    tf = _tf()
    data = tf.convert_to_tensor(data)
    groups = _known(partitions, "tf.dynamic_partition")
    if num_partitions < 1:
        raise errors.InvalidArgumentError(None, None, f"[dynamic_partition] num_partitions must be at least 1, got "
                                          f"{num_partitions}")
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
    indices = [_known(i, "tf.dynamic_stitch") for i in indices]
    data = [tf.convert_to_tensor(d) for d in data]
    if len(indices) != len(data) or not indices:
        raise ValueError(f"[dynamic_stitch] as many lists of indices as of data are wanted, got {len(indices)} and "
                         f"{len(data)}")
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
