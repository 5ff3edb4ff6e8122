"""Losses as functions of targets and predictions: one value per sample, the last axis being reduced."""
import warnings

import gradus as tf

from .. import _logits, _state
from ._loss import same_rank

_nn, _math, _Tensor = tf.nn, tf.math, tf.Tensor


def _pair(y_true, y_pred):
    """Both as tensors of the dtype of the predictions."""
    if type(y_true) is _Tensor and type(y_pred) is _Tensor and y_true.dtype is y_pred.dtype and y_true.ndim == y_pred.ndim:
        return y_true, y_pred
    if not tf.is_tensor(y_pred):
        y_pred = tf.convert_to_tensor(y_pred)
        if not y_pred.dtype.is_floating:
            y_pred = tf.cast(y_pred, _state.floatx())
    if not tf.is_tensor(y_true) or y_true.dtype != y_pred.dtype:
        y_true = tf.cast(y_true, y_pred.dtype)
    return same_rank(y_true, y_pred)


def _mean(values, axis=-1):
    return tf.reduce_mean(values, axis)


def mean_squared_error(y_true, y_pred):
    """The mean of (y_true - y_pred)^2."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.squared_difference(y_pred, y_true))


def mean_absolute_error(y_true, y_pred):
    """The mean of |y_true - y_pred|."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true, y_pred):
    """100 times the mean of |(y_true - y_pred) / y_true|."""
    y_true, y_pred = _pair(y_true, y_pred)
    return 100.0 * _mean(abs((y_true - y_pred) / tf.maximum(abs(y_true), _state.epsilon())))


def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean squared difference of log(1 + y)."""
    y_true, y_pred = _pair(y_true, y_pred)
    least = _state.epsilon()
    return _mean(_math.squared_difference(tf.math.log(tf.maximum(y_pred, least) + 1.0),
                                          tf.math.log(tf.maximum(y_true, least) + 1.0)))


def cosine_similarity(y_true, y_pred, axis=-1):
    """Minus the cosine between y_true and y_pred: -1 is the same direction."""
    y_true, y_pred = _pair(y_true, y_pred)
    return -tf.reduce_sum(_unit(y_pred, axis) * _unit(y_true, axis), axis)


def _unit(x, axis):
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    return x * _math.rsqrt(tf.maximum(tf.reduce_sum(x * x, axes, True), 1e-12))


def huber(y_true, y_pred, delta=1.0):
    """Half the squared error up to delta, growing with the error beyond."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = abs(y_pred - y_true)
    return _mean(tf.where(error <= delta, 0.5 * error * error, delta * error - 0.5 * delta * delta))


def log_cosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true))."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = y_pred - y_true
    return _mean(abs(error) + _math.log1p(tf.exp(-2.0 * abs(error))) - 0.6931471805599453)


def kl_divergence(y_true, y_pred):
    """The sum of y_true * log(y_true / y_pred)."""
    y_true, y_pred = _pair(y_true, y_pred)
    least = _state.epsilon()
    y_true, y_pred = tf.clip_by_value(y_true, least, 1.0), tf.clip_by_value(y_pred, least, 1.0)
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), -1)


def poisson(y_true, y_pred):
    """The mean of y_pred - y_true * log(y_pred)."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(y_pred - y_true * tf.math.log(y_pred + _state.epsilon()))


def _signs(y_true):
    """Labels -1 and 1; 0 and 1 are converted, which Keras decides for the whole batch."""
    is_binary = tf.reduce_all((y_true == 0.0) | (y_true == 1.0))
    return tf.where(is_binary, 2.0 * y_true - 1.0, y_true)


def hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0)."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0))


def squared_hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0)^2."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true, y_pred):
    """How far the right class is from being 1 better than the best wrong one."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, -1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, -1)
    return tf.maximum(wrong - right + 1.0, 0.0)


def _smoothed(y_true, label_smoothing, classes):
    return y_true if not label_smoothing else y_true * (1.0 - label_smoothing) + label_smoothing / classes


def _inside(probabilities):
    least = _state.epsilon()
    return tf.clip_by_value(probabilities, least, 1.0 - least)


def _binary_values(y_true, y_pred, from_logits):
    logits = y_pred if from_logits else _logits.logits_of(y_pred, "sigmoid")
    if logits is not None:
        return _nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=logits)
    p = _inside(y_pred)
    return -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """The mean over the axis of the cross entropies of independent labels."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_binary_values(_smoothed(y_true, label_smoothing, 2), y_pred, from_logits), axis)


def binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False,
                              label_smoothing=0.0, axis=-1):
    """Binary cross entropy with examples that are easy, being right already, counting little."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, 2)
    if from_logits:
        y_pred = tf.sigmoid(y_pred)
    values = _binary_values(y_true, y_pred, False)
    right = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
    values = tf.pow(1.0 - right, gamma) * values
    if apply_class_balancing:
        values = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * values
    return _mean(values, axis)


def _warn_of_one_class(y_pred, name):
    if y_pred.shape[-1] == 1:
        warnings.warn(f"In loss {name}, expected y_pred.shape to be (batch_size, num_classes) with num_classes > 1. "
                      f"Received: y_pred.shape={tuple(y_pred.shape)}. Consider using 'binary_crossentropy' if you only "
                      "have 2 classes.", SyntaxWarning, stacklevel=3)


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Cross entropy of one-hot labels and probabilities or logits."""
    y_true, y_pred = _pair(y_true, y_pred)
    _check_ranks(y_true, y_pred)
    _warn_of_one_class(y_pred, "categorical_crossentropy")
    y_true = _smoothed(y_true, label_smoothing, y_pred.shape[-1])
    logits = y_pred if from_logits else _logits.logits_of(y_pred, "softmax")
    if logits is not None:
        return _nn.softmax_cross_entropy_with_logits(y_true, logits, axis)
    p = _inside(y_pred / tf.reduce_sum(y_pred, axis, True))
    return -tf.reduce_sum(y_true * tf.math.log(p), axis)


def _check_ranks(y_true, y_pred):
    if len(y_true.shape) != len(y_pred.shape):
        raise ValueError("Arguments `target` and `output` must have the same rank (ndim). Received: "
                         f"target.shape={tuple(y_true.shape)}, output.shape={tuple(y_pred.shape)}")
    for a, b in zip(y_true.shape, y_pred.shape):
        if a is not None and b is not None and a != b:
            raise ValueError("Arguments `target` and `output` must have the same shape. Received: "
                             f"target.shape={tuple(y_true.shape)}, output.shape={tuple(y_pred.shape)}")


def categorical_focal_crossentropy(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0,
                                   axis=-1):
    """Categorical cross entropy with examples that are easy counting little."""
    y_true, y_pred = _pair(y_true, y_pred)
    _warn_of_one_class(y_pred, "categorical_focal_crossentropy")
    y_true = _smoothed(y_true, label_smoothing, y_pred.shape[-1])
    p = tf.nn.softmax(y_pred, axis) if from_logits else y_pred / tf.reduce_sum(y_pred, axis, True)
    p = _inside(p)
    return tf.reduce_sum(tf.pow(1.0 - p, gamma) * alpha * (-y_true * tf.math.log(p)), axis)


def _check_class_numbers(labels, logits, y_pred):
    sizes = zip(labels.shape, logits.shape[:-1])
    if labels.ndim != logits.ndim - 1 or any(a != b for a, b in sizes if a is not None and b is not None):
        raise ValueError("Arguments `target` and `output` must have the same shape up until the last dimension: "
                         f"target.shape={tuple(labels.shape)}, output.shape={tuple(y_pred.shape)}")


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """Cross entropy of class numbers and probabilities or logits; samples of ignore_class have the loss 0."""
    if type(y_pred) is not _Tensor:
        y_pred = tf.convert_to_tensor(y_pred)
    labels = y_true if type(y_true) is _Tensor else tf.convert_to_tensor(y_true)
    rank = y_pred.ndim
    if labels.ndim == rank and rank > 1 and labels.shape[-1] == 1:
        labels = tf.squeeze(labels, [-1])
    logits = y_pred if from_logits else _logits.logits_of(y_pred, "softmax")
    if logits is None:
        logits = tf.math.log(_inside(y_pred))
    if axis != -1 and axis != rank - 1:
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        logits = tf.transpose(logits, order)
    if labels.dtype not in (tf.int32, tf.int64):
        labels = tf.cast(labels, tf.int64)
    if ignore_class is None:
        try:
            return _nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        except (ValueError, tf.errors.InvalidArgumentError):
            _check_class_numbers(labels, logits, y_pred)
            raise
    _check_class_numbers(labels, logits, y_pred)
    counts = labels != tf.cast(ignore_class, labels.dtype)
    values = _nn.sparse_softmax_cross_entropy_with_logits(tf.where(counts, labels, tf.zeros_like(labels)), logits)
    values = tf.where(counts, values, tf.zeros_like(values))
    _state.set_mask(values, counts)
    return values


sparse_categorical_crossentropy._casts_targets = False  # class numbers stay what they are


def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """(1 - p^q) / q of the probability p of the right class: between cross entropy and absolute error."""
    if not 0 < q < 1:
        raise ValueError("q must be in the interval (0, 1)")
    y_pred = tf.convert_to_tensor(y_pred)
    labels = tf.one_hot(tf.cast(y_true, tf.int32), y_pred.shape[-1], dtype=y_pred.dtype)
    right = tf.reduce_sum(labels * y_pred, -1)
    return (1.0 - tf.pow(right, q)) / q


def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """1 minus the overlap of two sets, where false negatives count alpha and false positives beta."""
    y_true, y_pred = _pair(y_true, y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis)
    false_positives = tf.reduce_sum((1.0 - y_true) * y_pred, axis)
    false_negatives = tf.reduce_sum(y_true * (1.0 - y_pred), axis)
    return 1.0 - both / (both + alpha * false_negatives + beta * false_positives + _state.epsilon())


def dice(y_true, y_pred, axis=None):
    """1 minus twice the overlap of two sets divided by the sum of their sizes."""
    y_true, y_pred = _pair(y_true, y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis)
    sizes = tf.reduce_sum(y_true, axis) + tf.reduce_sum(y_pred, axis)
    return 1.0 - _math.divide_no_nan(2.0 * both, sizes + _state.epsilon())


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """How much nearer embeddings of other labels are than those of the same; pairs count by how far off they are."""
    y_pred = tf.convert_to_tensor(y_pred)
    labels = tf.reshape(tf.cast(y_true, "int32"), [-1, 1])
    others = labels if ref_labels is None else tf.reshape(tf.cast(ref_labels, "int32"), [-1, 1])
    references = y_pred if ref_embeddings is None else tf.cast(ref_embeddings, y_pred.dtype)
    distances = tf.maximum(1.0 - tf.matmul(y_pred, references, transpose_b=True), 0.0)
    same = tf.equal(labels, tf.transpose(others))
    different = tf.logical_not(same)
    if remove_diagonal:
        same = tf.logical_and(same, tf.logical_not(tf.eye(labels.shape[0], dtype="bool")))
    near = gamma * tf.maximum(margin + distances, 0.0) * (distances - margin)
    far = gamma * tf.maximum(1.0 + margin - distances, 0.0) * (1.0 - margin - distances)
    return tf.nn.softplus(_log_sum(near, same) + _log_sum(far, different))


def _log_sum(values, counts):
    return tf.reduce_logsumexp(tf.where(counts, values, tf.cast(-float("inf"), values.dtype)), 1)
