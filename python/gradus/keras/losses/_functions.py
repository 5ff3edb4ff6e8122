"""Losses as functions of targets and predictions: one value per sample, the last axis being reduced."""
import warnings

import gradus as tf

from ... import _core
from .. import _logits, _state
from ._loss import same_rank

_Tensor = tf.Tensor


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


def mean_squared_error(y_true, y_pred):
    """The mean of (y_true - y_pred)^2."""
    return _core._mean_squared_error(*_pair(y_true, y_pred))


def mean_absolute_error(y_true, y_pred):
    """The mean of |y_true - y_pred|."""
    return _core._mean_absolute_error(*_pair(y_true, y_pred))


def mean_absolute_percentage_error(y_true, y_pred):
    """100 times the mean of |(y_true - y_pred) / y_true|."""
    return _core._mean_absolute_percentage_error(*_pair(y_true, y_pred))


def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean squared difference of log(1 + y)."""
    return _core._mean_squared_logarithmic_error(*_pair(y_true, y_pred))


def cosine_similarity(y_true, y_pred, axis=-1):
    """Minus the cosine between y_true and y_pred: -1 is the same direction."""
    return _core._cosine_similarity(*_pair(y_true, y_pred), axis)


def huber(y_true, y_pred, delta=1.0):
    """Half the squared error up to delta, growing with the error beyond."""
    return _core._huber(*_pair(y_true, y_pred), delta)


def log_cosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true))."""
    return _core._log_cosh(*_pair(y_true, y_pred))


def kl_divergence(y_true, y_pred):
    """The sum of y_true * log(y_true / y_pred)."""
    return _core._kl_divergence(*_pair(y_true, y_pred))


def poisson(y_true, y_pred):
    """The mean of y_pred - y_true * log(y_pred)."""
    return _core._poisson(*_pair(y_true, y_pred))


def hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0); labels 0 and 1 are taken for -1 and 1."""
    return _core._hinge(*_pair(y_true, y_pred))


def squared_hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0)^2."""
    return _core._squared_hinge(*_pair(y_true, y_pred))


def categorical_hinge(y_true, y_pred):
    """How far the right class is from being 1 better than the best wrong one."""
    return _core._categorical_hinge(*_pair(y_true, y_pred))


def _or_logits(y_pred, from_logits, kind):
    """The predictions or, where they are known, the logits that they were made from; and which of them."""
    logits = y_pred if from_logits else _logits.logits_of(y_pred, kind)
    return (y_pred, False) if logits is None else (logits, True)


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """The mean over the axis of the cross entropies of independent labels."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _core._binary_crossentropy(y_true, *_or_logits(y_pred, from_logits, "sigmoid"), label_smoothing or 0.0, axis)


def binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False,
                              label_smoothing=0.0, axis=-1):
    """Binary cross entropy with examples that are easy, being right already, counting little."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_pred, from_logits = _or_logits(y_pred, from_logits, "sigmoid")
    return _core._binary_focal_crossentropy(y_true, y_pred, alpha, gamma, from_logits, label_smoothing or 0.0, axis,
                                            apply_class_balancing)


def _warn_of_one_class(y_pred, name):
    if y_pred.shape[-1] == 1:
        warnings.warn(f"In loss {name}, expected y_pred.shape to be (batch_size, num_classes) with num_classes > 1. "
                      f"Received: y_pred.shape={tuple(y_pred.shape)}. Consider using 'binary_crossentropy' if you only "
                      "have 2 classes.", SyntaxWarning, stacklevel=3)


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Cross entropy of one-hot labels and probabilities or logits."""
    y_true, y_pred = _pair(y_true, y_pred)
    _check_shapes(y_true, y_pred)
    _warn_of_one_class(y_pred, "categorical_crossentropy")
    return _core._categorical_crossentropy(y_true, *_or_logits(y_pred, from_logits, "softmax"), label_smoothing or 0.0,
                                           axis)


def _check_shapes(y_true, y_pred):
    if y_true.shape == y_pred.shape:
        return
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
    if not isinstance(alpha, (int, float)):
        return _focal_by_class(y_true, y_pred, alpha, gamma, from_logits, label_smoothing or 0.0, axis)
    return _core._categorical_focal_crossentropy(y_true, y_pred, alpha, gamma, from_logits, label_smoothing or 0.0, axis)


def _focal_by_class(y_true, y_pred, alpha, gamma, from_logits, label_smoothing, axis):
    """The same with one alpha for each class."""
    y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_pred.shape[-1]
    p = tf.nn.softmax(y_pred, axis) if from_logits else y_pred
    p = p / tf.reduce_sum(p, axis, keepdims=True)
    p = tf.clip_by_value(p, _state.epsilon(), 1.0 - _state.epsilon())
    focal = tf.cast(alpha, p.dtype) * tf.pow(1.0 - p, gamma) * -y_true * tf.math.log(p)
    return tf.reduce_sum(focal, axis)


def _check_class_numbers(labels, y_pred):
    sizes = list(y_pred.shape)[:-1]
    if labels.ndim != len(sizes) or any(a != b for a, b in zip(labels.shape, sizes) if a is not None and b is not None):
        raise ValueError("Arguments `target` and `output` must have the same shape up until the last dimension: "
                         f"target.shape={tuple(labels.shape)}, output.shape={tuple(y_pred.shape)}")


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """Cross entropy of class numbers and probabilities or logits; samples of ignore_class have the loss 0."""
    if type(y_pred) is not _Tensor:
        y_pred = tf.convert_to_tensor(y_pred)
    labels = y_true if type(y_true) is _Tensor else tf.convert_to_tensor(y_true)
    rank = y_pred.ndim
    if axis not in (-1, rank - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    if labels.ndim == rank and rank > 1 and labels.shape[-1] == 1:
        labels = tf.squeeze(labels, [-1])
    known, from_logits = _or_logits(y_pred, from_logits, "softmax")
    if ignore_class is None:
        try:
            return _core._sparse_categorical_crossentropy(labels, known, from_logits, axis)
        except (ValueError, tf.errors.InvalidArgumentError):
            _check_class_numbers(labels, y_pred)
            raise
    _check_class_numbers(labels, y_pred)
    counts = labels != tf.cast(ignore_class, labels.dtype)
    values = _core._sparse_categorical_crossentropy(tf.where(counts, labels, tf.zeros_like(labels)), known, from_logits,
                                                    axis)
    values = tf.where(counts, values, tf.zeros_like(values))
    _state.set_mask(values, counts)
    return values


sparse_categorical_crossentropy._casts_targets = False  # class numbers stay what they are


def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """(1 - p^q) / q of the probability p of the right class: between cross entropy and absolute error."""
    if not 0 < q < 1:
        raise ValueError("q must be in the interval (0, 1)")
    return _core._categorical_generalized_cross_entropy(y_true, y_pred, q)


def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """1 minus the overlap of two sets, where false negatives count alpha and false positives beta."""
    return _core._tversky(*_pair(y_true, y_pred), alpha, beta, axis)


def dice(y_true, y_pred, axis=None):
    """1 minus twice the overlap of two sets divided by the sum of their sizes."""
    return _core._dice(*_pair(y_true, y_pred), axis)


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """How much nearer embeddings of other labels are than those of the same; pairs count by how far off they are."""
    values = _core._circle(y_true, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin)
    _state.set_mask(values, values > 0)  # rows without a pair do not count
    return values
