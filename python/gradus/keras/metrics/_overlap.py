"""F-scores and intersections over unions."""
import gradus as tf

from ..losses._loss import as_dtype
from ._metric import Metric


class FBetaScore(Metric):
    """The mean of precision and recall, in which recall counts beta times as much; by class or averaged."""

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError("Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
                             f"Received: average={average}")
        if not isinstance(beta, float) or beta <= 0:
            raise ValueError(f"Invalid `beta` argument value. It should be a Python float, > 0. Received: beta={beta}")
        if threshold is not None and (not isinstance(threshold, float) or not 0 < threshold <= 1):
            raise ValueError("Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
                             f"threshold={threshold}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self.axis = None if average == "micro" else 0
        self._built = False

    def _build(self, classes):
        shape = () if self.average == "micro" else (classes,)
        for name in ("true_positives", "false_positives", "false_negatives", "intermediate_weights"):
            setattr(self, name, self.add_variable(shape, "zeros", name=name))
        self._built = True

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = as_dtype(y_true, self._dtype), as_dtype(y_pred, self._dtype)
        if len(y_pred.shape) != 2 or len(y_true.shape) != 2:
            raise ValueError("FBetaScore expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined. "
                             f"Received input shapes: y_pred.shape={tuple(y_pred.shape)} and "
                             f"y_true.shape={tuple(y_true.shape)}.")
        if not self._built:
            self._build(y_pred.shape[-1])
        if self.threshold is None:
            best = tf.reduce_max(y_pred, -1, True)
            y_pred = tf.cast((y_pred >= best) & (abs(y_pred) > 1e-9), self._dtype)
        else:
            y_pred = tf.cast(y_pred > self.threshold, self._dtype)

        def total(values):
            if sample_weight is not None:
                weight = as_dtype(sample_weight, self._dtype)
                values = values * (tf.expand_dims(weight, 1) if len(weight.shape) == 1 else weight)
            return tf.reduce_sum(values, self.axis)
        self.true_positives.assign_add(total(y_pred * y_true))
        self.false_positives.assign_add(total(y_pred * (1.0 - y_true)))
        self.false_negatives.assign_add(total((1.0 - y_pred) * y_true))
        self.intermediate_weights.assign_add(total(y_true))

    def result(self):
        ratio, squared = tf.math.divide_no_nan, self.beta ** 2
        precision = ratio(self.true_positives, self.true_positives + self.false_positives)
        recall = ratio(self.true_positives, self.true_positives + self.false_negatives)
        score = ratio(precision * recall, squared * precision + recall) * (1.0 + squared)
        if self.average == "weighted":
            return tf.reduce_sum(score * ratio(self.intermediate_weights, tf.reduce_sum(self.intermediate_weights)))
        return score if self.average is None else tf.reduce_mean(score)

    def reset_state(self):
        if self._built:
            super().reset_state()

    def get_config(self):
        return {**super().get_config(), "average": self.average, "beta": self.beta, "threshold": self.threshold}


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average, 1.0, threshold, name, dtype)

    def get_config(self):
        config = super().get_config()
        del config["beta"]
        return config


class IoU(Metric):
    """Intersection over union of predicted and true classes, averaged over some classes."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_true=True,
                 sparse_y_pred=True, axis=-1):
        super().__init__(name=name, dtype=dtype or "int64")
        self.num_classes, self.ignore_class = num_classes, ignore_class
        self.target_class_ids = list(target_class_ids)
        if max(self.target_class_ids) >= num_classes:
            raise ValueError(f"Target class id {max(self.target_class_ids)} is out of range, which is [0, {num_classes}).")
        self.sparse_y_true, self.sparse_y_pred, self.axis = sparse_y_true, sparse_y_pred, axis
        self.total_cm = self.add_variable((num_classes, num_classes), "zeros", name="total_confusion_matrix")

    def _classes(self, y, sparse):
        y = tf.convert_to_tensor(y)
        return tf.reshape(tf.cast(y if sparse else tf.argmax(y, self.axis), tf.int64), [-1])

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = self._classes(y_true, self.sparse_y_true)
        y_pred = self._classes(y_pred, self.sparse_y_pred)
        kind = tf.as_dtype(self._dtype)
        weight = tf.constant(1, kind) if sample_weight is None else tf.cast(sample_weight, kind)
        if len(weight.shape) > 1:
            weight = tf.reshape(weight, [-1])
        weight = tf.broadcast_to(weight, tf.shape(y_true))
        if self.ignore_class is not None:
            counts = tf.not_equal(y_true, self.ignore_class)
            weight = tf.where(counts, weight, tf.zeros_like(weight))
            y_true = tf.where(counts, y_true, tf.zeros_like(y_true))
            y_pred = tf.where(counts, y_pred, tf.zeros_like(y_pred))
        cells = tf.math.unsorted_segment_sum(weight, y_true * self.num_classes + y_pred, self.num_classes ** 2)
        self.total_cm.assign_add(tf.reshape(cells, [self.num_classes, self.num_classes]))

    def result(self):
        counts = tf.cast(self.total_cm, "float32")
        both = tf.linalg.diag_part(counts)
        union = tf.reduce_sum(counts, 0) + tf.reduce_sum(counts, 1) - both
        both, union = tf.gather(both, self.target_class_ids), tf.gather(union, self.target_class_ids)
        present = tf.reduce_sum(tf.cast(union > 1e-9, "float32"))
        return tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(both, union)), present)

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes, "target_class_ids": self.target_class_ids,
                "ignore_class": self.ignore_class, "sparse_y_true": self.sparse_y_true,
                "sparse_y_pred": self.sparse_y_pred, "axis": self.axis}


class MeanIoU(IoU):
    """Intersection over union, averaged over all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, sparse_y_pred=True,
                 axis=-1):
        super().__init__(num_classes, list(range(num_classes)), name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["target_class_ids"]
        return config


class BinaryIoU(IoU):
    """Intersection over union of two classes that a threshold separates."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = tf.convert_to_tensor(y_pred)
        super().update_state(y_true, tf.cast(y_pred >= tf.cast(self.threshold, y_pred.dtype), tf.int64), sample_weight)

    def get_config(self):
        return {"target_class_ids": self.target_class_ids, "threshold": self.threshold, "name": self.name,
                "dtype": self._dtype_policy.name}


class OneHotIoU(IoU):
    """Intersection over union of one-hot targets."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False,
                 axis=-1):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config


class OneHotMeanIoU(MeanIoU):
    """Intersection over union of one-hot targets, averaged over all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config
