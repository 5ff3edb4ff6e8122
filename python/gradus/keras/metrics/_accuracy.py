"""How often predictions are right."""
import gradus as tf

from ... import _core
from .. import _state
from ._metric import MeanMetricWrapper, in_engine


def _values(y_true, y_pred, name, *settings):
    return _core._metric_values(y_true, y_pred, name, _state.floatx(), _state.epsilon(), *settings)


@in_engine()
def accuracy(y_true, y_pred):
    """1 where both are equal, else 0."""
    return _values(y_true, y_pred, "accuracy")


@in_engine(threshold=0.5)
def binary_accuracy(y_true, y_pred, threshold=0.5):
    """1 where the prediction is on the right side of the threshold."""
    return _values(y_true, y_pred, "binary_accuracy", threshold)


@in_engine()
def categorical_accuracy(y_true, y_pred):
    """1 where the highest prediction is that of the one-hot label."""
    return _values(y_true, y_pred, "categorical_accuracy")


@in_engine()
def sparse_categorical_accuracy(y_true, y_pred):
    """1 where the highest prediction is that of the class number."""
    return _values(y_true, y_pred, "sparse_categorical_accuracy")


@in_engine(k=5)
def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the one-hot label is among the k highest predictions."""
    return _values(y_true, y_pred, "top_k_categorical_accuracy", k)


@in_engine(k=5, from_sorted_ids=False)
def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """1 where the class number is among the k highest predictions, or among the first k of sorted class numbers."""
    return _values(y_true, y_pred, "sparse_top_k_categorical_accuracy", k, from_sorted_ids)


class Accuracy(MeanMetricWrapper):
    """How often predictions equal targets."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(accuracy, name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(y_true, tf.convert_to_tensor(y_pred), sample_weight)  # which may be of strings


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
