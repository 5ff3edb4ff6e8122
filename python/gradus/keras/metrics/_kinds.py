"""What metrics compute of values that are not dense tensors of numbers: strings, and rows of different lengths."""
import gradus as tf

from ... import _core
from ..._ragged import RaggedTensor
from ..._strings import StringTensor


@RaggedTensor.does("_metric_add_to_mean")
def _add_to_mean(metric, values, sample_weight=None):
    return _core._metric_add_to_mean(metric, tf.reduce_mean(values, list(range(1, values.shape.rank))), sample_weight)


@RaggedTensor.does("_metric_add_to_sum")
def _add_to_sum(metric, values, sample_weight=None):
    return _core._metric_add_to_sum(metric, tf.reduce_sum(values, list(range(1, values.shape.rank))), sample_weight)


@RaggedTensor.does("_metric_values")
def _values_of_rows(y_true, y_pred, function, dtype, epsilon, setting=None, second=None):
    if function == "binary_accuracy":
        y_true, y_pred = tf.cast(y_true, dtype), tf.cast(y_pred > tf.cast(setting, y_pred.dtype), dtype)
    elif function != "accuracy":
        return NotImplemented
    return tf.cast(tf.equal(y_true, y_pred), dtype)


@StringTensor.does("_metric_values")
def _values_of_strings(y_true, y_pred, function, dtype, epsilon, setting=None, second=None):
    return tf.cast(tf.equal(y_true, y_pred), dtype) if function == "accuracy" else NotImplemented
