"""Sums over segments, special functions and what NumPy has not."""
import gradus as tf

from ._op import floating as _floating
from ._op import op as _op
from ._op import publish as _publish
from ._op import tensor as _tensor
from ._op import unary as _unary

_publish(globals(), [_unary(*pair, _floating) for pair in {"erf": tf.math.erf, "erfc": tf.math.erfc,
                                                          "erfinv": tf.math.erfinv, "rsqrt": tf.math.rsqrt}.items()])


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
