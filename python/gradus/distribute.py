"""tf.distribute on one machine: every strategy has one replica, so programs written for several run unchanged."""
import contextlib
import enum

import gradus as tf

__all__ = ["CentralStorageStrategy", "DistributedValues", "InputContext", "MirroredStrategy", "MultiWorkerMirroredStrategy",
           "OneDeviceStrategy", "ReduceOp", "ReplicaContext", "Strategy", "experimental", "get_replica_context",
           "get_strategy", "has_strategy", "in_cross_replica_context"]

_active = []


class ReduceOp(enum.Enum):
    """How values of replicas become one."""
    SUM = "SUM"
    MEAN = "MEAN"


class InputContext:
    """Which part of the input a pipeline reads: all of it."""

    num_input_pipelines, input_pipeline_id, num_replicas_in_sync = 1, 0, 1

    def get_per_replica_batch_size(self, global_batch_size):
        return global_batch_size


class DistributedValues:
    """Values of replicas; with one replica they are plain values."""


class ReplicaContext:
    """What a function knows of its replica while strategy.run calls it."""

    replica_id_in_sync_group, num_replicas_in_sync = 0, 1

    def __init__(self, strategy):
        self.strategy = strategy

    def all_reduce(self, reduce_op, value, options=None):
        return value

    def merge_call(self, merge_fn, args=(), kwargs=None):
        return merge_fn(self.strategy, *args, **(kwargs or {}))


class _Extended:
    """strategy.extended, of which programs use little."""

    worker_devices = parameter_devices = ("/device:CPU:0",)

    def variable_created_in_scope(self, v):
        return isinstance(v, tf.Variable)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        return fn(var, *args, **(kwargs or {}))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        return value


class Strategy:
    """One replica on this machine's processors."""

    num_replicas_in_sync = 1

    def __init__(self, *args, **kwargs):
        self.extended = _Extended()

    @contextlib.contextmanager
    def scope(self):
        """Variables made inside belong to the strategy: they are plain variables."""
        _active.append(self)
        try:
            yield self
        finally:
            _active.pop()

    def run(self, fn, args=(), kwargs=None, options=None):
        """fn on every replica: once."""
        with self.scope():
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis=None):
        """One value of those of the replicas, also over `axis` if it is given."""
        operation = getattr(reduce_op, "value", reduce_op)
        if str(operation).upper() not in ("SUM", "MEAN"):
            raise ValueError(f"reduce_op is tf.distribute.ReduceOp.SUM or MEAN, got {reduce_op!r}")
        value = tf.nest.map_structure(tf.convert_to_tensor, value)
        if axis is None:
            return value
        over = tf.reduce_sum if str(operation).upper() == "SUM" else tf.reduce_mean
        return tf.nest.map_structure(lambda v: over(v, axis), value)

    def gather(self, value, axis):
        return tf.convert_to_tensor(value)

    def experimental_distribute_dataset(self, dataset, options=None):
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        return dataset_fn(InputContext())

    def experimental_local_results(self, value):
        return (value,)

    def make_dataset_iterator(self, dataset):
        return iter(dataset)


class MirroredStrategy(Strategy):
    """Variables on all devices of a machine; here there is one device."""

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__()


class OneDeviceStrategy(Strategy):
    """All on one device."""

    def __init__(self, device="/device:CPU:0"):
        super().__init__()


class CentralStorageStrategy(Strategy):
    """Variables in one place, work on all devices."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__()


class MultiWorkerMirroredStrategy(Strategy):
    """Several machines; Gradus works on one, so a cluster of more is refused."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        import json
        import os
        workers = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {}).get("worker", [])
        if len(workers) > 1:
            raise NotImplementedError(f"TF_CONFIG names {len(workers)} workers; Gradus runs on one machine")
        super().__init__()


class HierarchicalCopyAllReduce:
    """A way to sum over devices; nothing is to be summed here."""

    def __init__(self, num_packs=1):
        pass


class NcclAllReduce(HierarchicalCopyAllReduce):
    """As above."""


class ReductionToOneDevice(HierarchicalCopyAllReduce):
    """As above."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        pass


class experimental:  # noqa: N801  (a namespace)
    """tf.distribute.experimental."""
    CentralStorageStrategy = CentralStorageStrategy
    MultiWorkerMirroredStrategy = MultiWorkerMirroredStrategy


_default = Strategy()


def get_strategy():
    """The strategy whose scope this is, else the one that everything has."""
    return _active[-1] if _active else _default


def has_strategy():
    """Whether this is in the scope of a strategy."""
    return bool(_active)


def in_cross_replica_context():
    return bool(_active)


def get_replica_context():
    return ReplicaContext(get_strategy())
