"""How often predictions are right."""
import gradus as tf

from .. import _state
from ..losses._loss import same_rank
from ._metric import MeanMetricWrapper


def _right(a, b):
    return tf.cast(tf.equal(a, b), _state.floatx())


def _tensors(y_true, y_pred):
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.convert_to_tensor(y_true), y_pred


def accuracy(y_true, y_pred):
    """1 where both are equal, else 0."""
    y_true, y_pred = _tensors(y_true, y_pred)
    if y_true.dtype != y_pred.dtype:
        y_true = tf.cast(y_true, y_pred.dtype)
    y_true, y_pred = same_rank(y_true, y_pred)
    return _right(y_true, y_pred)


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """1 where the prediction is on the right side of the threshold."""
    y_true, y_pred = same_rank(*_tensors(y_true, y_pred))
    return _right(tf.cast(y_true, _state.floatx()), tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), _state.floatx()))


def categorical_accuracy(y_true, y_pred):
    """1 where the highest prediction is that of the one-hot label."""
    y_true, y_pred = _tensors(y_true, y_pred)
    return _right(tf.argmax(y_true, -1), tf.argmax(y_pred, -1))


def _class_numbers(y_true, y_pred):
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1 and len(y_true.shape) > 1:
        y_true = tf.squeeze(y_true, [-1])
    return y_true if y_true.dtype == tf.int64 else tf.cast(y_true, tf.int64)


def sparse_categorical_accuracy(y_true, y_pred):
    """1 where the highest prediction is that of the class number."""
    y_true, y_pred = _tensors(y_true, y_pred)
    return _right(_class_numbers(y_true, y_pred), tf.argmax(y_pred, -1))


def _in_top_k(labels, y_pred, k):
    shape = tf.shape(labels)
    classes = y_pred.shape[-1]
    found = tf.math.in_top_k(tf.cast(tf.reshape(labels, [-1]), tf.int32), tf.reshape(y_pred, [-1, classes]), k)
    return tf.reshape(tf.cast(found, _state.floatx()), shape)


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the one-hot label is among the k highest predictions."""
    y_true, y_pred = _tensors(y_true, y_pred)
    return _in_top_k(tf.argmax(y_true, -1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """1 where the class number is among the k highest predictions, or among the first k of sorted class numbers."""
    y_true, y_pred = _tensors(y_true, y_pred)
    labels = _class_numbers(y_true, y_pred)
    if from_sorted_ids:
        first = tf.cast(y_pred[..., :k], labels.dtype)
        return tf.cast(tf.reduce_any(tf.equal(first, tf.expand_dims(labels, -1)), -1), _state.floatx())
    return _in_top_k(labels, y_pred, k)


class Accuracy(MeanMetricWrapper):
    """How often predictions equal targets."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the right side of a threshold."""

    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        if threshold is not None and not 0 < threshold < 1:
            raise ValueError(f"Invalid value for argument `threshold`. Expected a value in interval (0, 1). Received: "
                             f"threshold={threshold}")
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the highest prediction is that of a one-hot label."""

    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the highest prediction is that of a class number."""

    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often a one-hot label is among the k highest predictions."""

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)
        self.k = k


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often a class number is among the k highest predictions."""

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None, from_sorted_ids=False):
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k, from_sorted_ids=from_sorted_ids)
        self.k, self.from_sorted_ids = k, from_sorted_ids

    def get_config(self):
        config = super().get_config()
        if not self.from_sorted_ids:
            del config["from_sorted_ids"]
        return config
