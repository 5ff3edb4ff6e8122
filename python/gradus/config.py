"""Threads and devices."""
import types as _types
from collections import namedtuple as _namedtuple

from . import _core
from ._function import functions_run_eagerly, run_functions_eagerly  # noqa: F401

PhysicalDevice = _namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = _namedtuple("LogicalDevice", ["name", "device_type"])


class LogicalDeviceConfiguration:
    """Accepted for TensorFlow's sake."""

    def __init__(self, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        self.memory_limit = memory_limit


def list_physical_devices(device_type=None):
    """The CPU."""
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def list_logical_devices(device_type=None):
    """The CPU."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type=None):
    return list_physical_devices(device_type)


def set_visible_devices(devices, device_type=None):
    """Accepted; there is one device."""


def get_logical_device_configuration(device):
    return None


def set_logical_device_configuration(device, logical_devices):
    """Accepted; there is one device."""


def set_soft_device_placement(enabled):
    """Accepted; there is one device."""


def get_soft_device_placement():
    return True


_intra, _inter = 0, 0


def _set_intra(num_threads):
    """How many threads one operation may use; 0 lets the machine decide."""
    global _intra
    if num_threads < 0:
        raise ValueError("The number of threads must not be negative")
    if num_threads:
        _core._set_thread_count(num_threads)
    _intra = num_threads


def _set_inter(num_threads):
    """Accepted; operations run one after the other."""
    global _inter
    _inter = num_threads


threading = _types.SimpleNamespace(
    set_intra_op_parallelism_threads=_set_intra, get_intra_op_parallelism_threads=lambda: _intra,
    set_inter_op_parallelism_threads=_set_inter, get_inter_op_parallelism_threads=lambda: _inter)
optimizer = _types.SimpleNamespace(
    get_jit=lambda: "", set_jit=lambda enabled: None, set_experimental_options=lambda options: None,
    get_experimental_options=lambda: {})
experimental = _types.SimpleNamespace(
    list_physical_devices=list_physical_devices, list_logical_devices=list_logical_devices,
    set_memory_growth=lambda device, enable: None, get_memory_growth=lambda device: False,
    get_memory_info=lambda device: _core._memory(), get_memory_usage=lambda device: _core._memory()["current"],
    reset_memory_stats=lambda device: _core._reset_peak_memory(),
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    set_virtual_device_configuration=set_logical_device_configuration,
    get_virtual_device_configuration=get_logical_device_configuration,
    set_visible_devices=set_visible_devices, get_visible_devices=get_visible_devices,
    enable_op_determinism=lambda: None, enable_tensor_float_32_execution=lambda enabled: None)
