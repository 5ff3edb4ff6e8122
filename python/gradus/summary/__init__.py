"""tf.summary: numbers, texts, histograms and images for TensorBoard.

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=step)
"""
import contextlib
import threading
import types
import weakref

import numpy as np

from .. import _core
from .._effects import at_each_run
from .._files import text_of
from .._protobuf import message
from ._events import BLOBS, SCALAR, TENSOR, EventFile, event, value
from ._png import as_bytes, png

__all__ = ["SummaryWriter", "create_file_writer", "create_noop_writer", "experimental", "flush", "histogram", "image",
           "record_if", "scalar", "should_record_summaries", "text", "write", "graph", "trace_on", "trace_off",
           "trace_export"]


class _State(threading.local):
    writer, step, record = None, None, True


_state = _State()


class SummaryWriter:
    """Writes to one event file. The file is made with the first summary or flush."""

    def __init__(self, logdir, max_queue=10, flush_millis=120000, filename_suffix=""):
        self._logdir, self._max_queue, self._suffix = logdir, max_queue, filename_suffix
        self._events, self._unflushed, self._closed = None, 0, False
        self.init()

    def init(self):
        """Makes the file."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._events is None and self._logdir is not None:
            self._events = EventFile(self._logdir, self._suffix)
            weakref.finalize(self, self._events.close)

    def _write(self, content):
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._events is None:
            return False
        self._events.write(content)
        self._unflushed += 1
        if self._unflushed >= self._max_queue:
            self.flush()
        return True

    @contextlib.contextmanager
    def as_default(self, step=None):
        """A context in which summaries go to this writer."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        before = _state.writer, _state.step
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
            self.flush()
        finally:
            _state.writer = before[0]
            if step is not None:
                _state.step = before[1]

    def set_as_default(self, step=None):
        """From now on summaries go to this writer."""
        self.as_default(step).__enter__()

    def flush(self):
        """Hands everything to the operating system."""
        if self._events is not None and not self._events.closed:
            self._events.flush()
        self._unflushed = 0

    def close(self):
        """Flushes; nothing can be written afterwards."""
        if not self._closed:
            self.flush()
            if self._events is not None:
                self._events.close()
            self._closed = True


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):
    """A writer to a new event file in a folder; None for logdir drops everything."""
    if logdir is None:
        return create_noop_writer()
    return SummaryWriter(text_of(logdir), 10 if max_queue is None else max_queue, flush_millis, filename_suffix or "")


def create_noop_writer():
    """A writer that drops everything."""
    return SummaryWriter(None)


def flush(writer=None, name=None):
    """Flushes the writer, or the default one."""
    writer = writer or _state.writer
    if writer is not None:
        writer.flush()


@contextlib.contextmanager
def record_if(condition):
    """A context in which summaries are written only if the condition (a bool or a function) is true."""
    before, _state.record = _state.record, condition
    try:
        yield
    finally:
        _state.record = before


def _recording():
    condition = _state.record
    return bool(condition() if callable(condition) else condition)


def should_record_summaries():
    """Whether summaries are written now."""
    import gradus
    return gradus.constant(_state.writer is not None and _recording())


def _step(step):
    step = _state.step if step is None else step
    if step is None:
        raise ValueError("No step set. Please specify one either through the `step` argument or through "
                         "tf.summary.experimental.set_step()")
    return step


def _put(make, data, step):
    """Writes the event of make(array), now or, while a function is traced, each time it runs."""
    import gradus
    writer = _state.writer
    if writer is None:
        return gradus.constant(False)
    step = _step(step)

    def put(tensor, number):
        array = tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)
        return writer._write(event(int(number), message(5, make(array))))

    if not _core._is_tracing():
        return gradus.constant(_recording() and put(data, step))
    number = step if isinstance(step, (_core.Tensor, _core.Variable)) else gradus.constant(int(step), gradus.int64)
    at_each_run("summary", lambda tensor, n: _recording() and put(tensor, n),
                [gradus.convert_to_tensor(data), gradus.convert_to_tensor(number)])
    return gradus.constant(True)


def scalar(name, data, step=None, description=None):
    """A number."""
    def make(array):
        if array.size != 1:
            raise ValueError(f"a scalar summary takes one number, got an array of shape {array.shape} for '{name}'")
        return value(name, array.reshape(()).astype(np.float32), "scalars", SCALAR, description)
    return _put(make, data, step)


def text(name, data, step=None, description=None):
    """A text, or an array of texts, in Markdown."""
    return _put(lambda array: value(name, np.asarray(array, object), "text", TENSOR, description), data, step)


def histogram(name, data, step=None, buckets=30, description=None):
    """How often which values occur."""
    def make(array):
        return value(name, _buckets(array.ravel().astype(np.float64), buckets), "histograms", TENSOR, description)
    return _put(make, data, step)


def _buckets(values, count):
    """Rows of left edge, right edge and number."""
    values = values[np.isfinite(values)]
    if values.size == 0 or count == 0:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    if low == high:
        rows = np.zeros((count, 3))
        rows[:, 0] = rows[:, 1] = low
        rows[-1] = [low - 0.5, high + 0.5, values.size]
        return rows
    numbers, edges = np.histogram(values, count)
    return np.stack([edges[:-1], edges[1:], numbers.astype(np.float64)], axis=1)


def image(name, data, step=None, max_outputs=3, description=None):
    """Images: number x height x width x channels, floats from 0 to 1 or bytes."""
    def make(array):
        if array.ndim != 4:
            raise ValueError(f"an image summary takes an array of 4 axes, got shape {array.shape} for '{name}'")
        files = [png(as_bytes(one)) for one in array[:max_outputs]]
        sizes = [str(array.shape[2]).encode(), str(array.shape[1]).encode()]
        return value(name, np.array(sizes + files, object), "images", BLOBS, description)
    return _put(make, data, step)


def write(tag, tensor, step=None, metadata=None, name=None):
    """Any tensor, under a tag."""
    return _put(lambda array: value(tag, array, "tensor", TENSOR), tensor, step)


def graph(graph_data):
    """Accepted; programs are described by function.explain()."""


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Accepted; gradus.Profile and function.explain() say more."""


def trace_off():
    """Accepted."""


def trace_export(name, step=None, profiler_outdir=None):
    """Accepted."""


def _set_step(step):
    """The step of summaries that name none."""
    _state.step = step


experimental = types.SimpleNamespace(set_step=_set_step, get_step=lambda: _state.step)
