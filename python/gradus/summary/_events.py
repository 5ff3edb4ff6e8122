"""TensorBoard's event files: records (TFRecord) that are protocol buffers of type Event, written by hand."""
import os
import socket
import threading
import time

import numpy as np

from .._protobuf import double, integer, message
from .._records import framed

DT_FLOAT, DT_DOUBLE, DT_STRING = 1, 2, 7
SCALAR, TENSOR, BLOBS = 1, 2, 3  # SummaryMetadata.data_class


def tensor(array):
    """A TensorProto."""
    array = np.asarray(array)
    shape = b"".join(message(2, integer(1, n)) for n in array.shape)
    if array.dtype.kind in "SOU":
        strings = [v if isinstance(v, bytes) else str(v).encode() for v in array.ravel().tolist()]
        return integer(1, DT_STRING) + message(2, shape) + b"".join(message(8, s) for s in strings)
    kind = DT_DOUBLE if array.dtype == np.float64 else DT_FLOAT
    array = array.astype(np.float64 if kind == DT_DOUBLE else np.float32)
    return integer(1, kind) + message(2, shape) + message(4, array.tobytes())


def value(tag, array, plugin, data_class, description=None):
    """One Summary.Value with its metadata."""
    described = message(3, description) if description else b""
    metadata = message(1, message(1, plugin)) + described + integer(4, data_class)
    return message(1, message(1, tag) + message(8, tensor(array)) + message(9, metadata))


def event(step, content=b"", wall_time=None):
    return double(1, time.time() if wall_time is None else wall_time) + integer(2, step) + content


class EventFile:
    """Appends events to a new file of a folder; they are on their way to the disk after flush()."""

    _count = 0
    _lock = threading.Lock()

    def __init__(self, folder, suffix=""):
        os.makedirs(folder, exist_ok=True)
        with EventFile._lock:
            number, EventFile._count = EventFile._count, EventFile._count + 1
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{number}.v2{suffix}"
        self.path = os.path.join(folder, name)
        self._file = open(self.path, "ab")
        self._writing = threading.Lock()
        self.write(event(0, message(3, "brain.Event:2")))
        self.flush()

    def write(self, content):
        record = framed(content)
        with self._writing:
            self._file.write(record)

    def flush(self):
        with self._writing:
            self._file.flush()

    def close(self):
        with self._writing:
            self._file.close()

    closed = property(lambda self: self._file.closed)
