"""Sums over segments, special functions and what NumPy has not."""
import gradus as tf

from ._op import floating as _floating
from ._op import op as _op
from ._op import publish as _publish
from ._op import tensor as _tensor
from ._op import unary as _unary

_publish(globals(), [_unary(*pair, _floating) for pair in {"erf": tf.math.erf, "erfc": tf.math.erfc,
                                                          "erfinv": tf.math.erfinv, "rsqrt": tf.math.rsqrt}.items()])


def _complex(x):
    """A pair of real and imaginary parts, as one tensor."""
    return tf.complex(*map(_floating, x))


def _parts(z):
    return tf.math.real(z), tf.math.imag(z)


@_op
def fft(x):
    """The Fourier transform along the last axis; real and imaginary parts in and out."""
    return _parts(tf.signal.fft(_complex(x)))


@_op
def fft2(x):
    """The same over the last two axes."""
    return _parts(tf.signal.fft2d(_complex(x)))


@_op
def ifft2(x):
    """The inverse of fft2."""
    return _parts(tf.signal.ifft2d(_complex(x)))


@_op
def rfft(x, fft_length=None):
    """The transform of real numbers: the parts of the first half."""
    return _parts(tf.signal.rfft(_floating(x), None if fft_length is None else [fft_length]))


@_op
def irfft(x, fft_length=None):
    """The inverse of rfft."""
    return tf.signal.irfft(_complex(x), None if fft_length is None else [fft_length])


@_op
def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x))) over axes."""
    return tf.reduce_logsumexp(_floating(x), axis, keepdims=keepdims)


@_op
def top_k(x, k, sorted=True):  # noqa: A002
    """The k largest along the last axis, and where they are."""
    return tf.math.top_k(_tensor(x), k, sorted)


@_op
def in_top_k(targets, predictions, k):
    """Whether the target is among the k largest."""
    return tf.math.in_top_k(targets, predictions, k)


def _segmented(function, data, segment_ids, num_segments):
    ids = tf.cast(segment_ids, "int32")
    count = num_segments if num_segments is not None else int(tf.reduce_max(ids)) + 1
    return function(_tensor(data), ids, count)


@_op
def segment_sum(data, segment_ids, num_segments=None, sorted=False):  # noqa: A002
    """Sums of the rows of each segment."""
    return _segmented(tf.math.unsorted_segment_sum, data, segment_ids, num_segments)


@_op
def segment_max(data, segment_ids, num_segments=None, sorted=False):  # noqa: A002
    """The largest of the rows of each segment."""
    return _segmented(tf.math.unsorted_segment_max, data, segment_ids, num_segments)


@_op
def segment_min(data, segment_ids, num_segments=None, sorted=False):  # noqa: A002
    """The smallest of the rows of each segment."""
    return _segmented(tf.math.unsorted_segment_min, data, segment_ids, num_segments)


@_op
def segment_prod(data, segment_ids, num_segments=None, sorted=False):  # noqa: A002
    """Products of the rows of each segment."""
    return _segmented(tf.math.unsorted_segment_prod, data, segment_ids, num_segments)
